"""Joining a job: arguments, environment, and their errors."""

import json
import os
import signal
import tempfile
import threading
import unittest
from unittest import mock

import inart
from inart._settings import settings

BASE = {"RANK": "1", "WORLD_SIZE": "2", "INART_INTERFACE": "eth7", "INART_ASSIGNMENT": "job.json"}


class Settings(unittest.TestCase):
    def test_the_environment_says_what_no_argument_does(self):
        more = {"INART_JOB": "digits", "INART_REPORT": "socket", "INART_STATUS": "status"}
        read = settings(environment={**BASE, **more})
        self.assertEqual((read["rank"], read["world_size"], read["interface"]), (1, 2, "eth7"))
        self.assertEqual((read["assignment"], read["controller"]), ("job.json", None))
        self.assertEqual((read["job"], read["report"], read["status"]), ("digits", "socket", "status"))

    def test_arguments_override_it(self):
        read = settings(controller="unix:/c", rank=3, interface="eth1", job="x", environment=BASE)
        self.assertEqual((read["assignment"], read["controller"], read["job"]), (None, "unix:/c", "x"))
        other = settings(assignment="a.json", environment={**BASE, "INART_JOB": "digits"})
        self.assertEqual((other["assignment"], other["job"]), ("a.json", None))
        # The environment's world is not that of a rank which was given.
        self.assertEqual((read["rank"], read["world_size"], read["interface"]), (3, None, "eth1"))

    def test_what_is_missing_is_named(self):
        for name, kind in [("RANK", inart.AssignmentError), ("INART_INTERFACE", inart.InterfaceError)]:
            with self.assertRaisesRegex(kind, name):
                settings(environment={key: value for key, value in BASE.items() if key != name})
        with self.assertRaisesRegex(inart.AssignmentError, "RANK is 'first'"):
            settings(environment={**BASE, "RANK": "first"})


class Joining(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = os.path.join(self.folder.name, "job.json")
        self.write({})

    def write(self, changes):
        def worker(rank):
            return {"name": f"w{rank}", "mac": f"02:00:00:00:00:0{rank}"}

        shard = {"server": "s0", "mac": "02:00:00:00:00:09", "share": 1.0, "rate_bps": 1e8}
        document = {
            "job": 1,
            "name": "pair",
            "plan_version": 1,
            "values_per_frame": 64,
            "window_chunks": 16,
            "workers": [worker(0), worker(1)],
            "shards": [shard],
        }
        with open(self.file, "w") as file:
            json.dump({**document, **changes}, file)

    def refused(self, kind, message, **arguments):
        given = {"assignment": self.file, "rank": 0, "interface": "nowhere0", **arguments}
        with mock.patch.dict(os.environ, clear=False):
            for name in ("INART_REPORT", "INART_STATUS", "INART_CONTROLLER", "INART_ASSIGNMENT"):
                os.environ.pop(name, None)
            with self.assertRaisesRegex(kind, message):
                inart.init(**given)
        self.assertFalse(inart.is_initialized())

    def test_bad_input_names_place_and_fix(self):
        missing = os.path.join(self.folder.name, "missing.json")
        self.refused(inart.AssignmentError, f"assignment {missing}: No such file", assignment=missing)
        self.refused(inart.AssignmentError, "rank 2: the job pair has ranks 0 to 1.*RANK", rank=2)
        self.refused(inart.AssignmentError, "rank -1", rank=-1)
        self.refused(inart.AssignmentError, "give one of them", controller="127.0.0.1:1")
        self.refused(inart.AssignmentError, "is of the job pair, not of other", job="other")
        self.refused(inart.AssignmentError, "INART_ASSIGNMENT or INART_CONTROLLER", assignment=None)
        self.refused(inart.InterfaceError, "interface nowhere0 does not exist")
        self.refused(ValueError, "peer_timeout 0: give seconds above 0", peer_timeout=0.0)
        self.refused(inart.ControllerError, "192.0.2.1:1 is another machine", assignment=None, controller="192.0.2.1:1")
        self.write({"window_chunks": 3})
        self.refused(inart.AssignmentError, "window_chunks: 3")
        with open(self.file, "w") as file:
            file.write("{")
        self.refused(inart.AssignmentError, "job.json: EOF.*an assignment file of the job's plan")
        self.assertEqual(os.listdir(self.folder.name), ["job.json"], "no note that a rank ran")

    def test_the_world_of_torchrun_has_to_be_the_jobs(self):
        world = {"RANK": "0", "WORLD_SIZE": "3"}
        with (
            mock.patch.dict(os.environ, world),
            self.assertRaisesRegex(inart.AssignmentError, "the job pair has 2 workers, but WORLD_SIZE is 3"),
        ):
            inart.init(assignment=self.file, interface="nowhere0")

    def test_without_a_job_calls_say_so(self):
        for call in (lambda: inart.all_reduce(None), lambda: inart.start(None), inart.worker):
            with self.assertRaisesRegex(inart.Error, "call inart.init"):
                call()
        inart.shutdown()

    def test_a_job_whose_workers_stay_has_no_state_to_load(self):
        (worker,) = inart.local(1)
        with mock.patch("inart._default._default", worker):
            with self.assertRaisesRegex(inart.Error, "only elastic jobs have that"):
                inart.load_state()

    def test_a_process_that_was_forked_says_so(self):
        (worker,) = inart.local(1)
        import numpy

        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                worker.all_reduce(numpy.ones(3, numpy.float32))
            except inart.Error as error:
                os.write(write, str(error).encode())
            worker.shutdown()
            del worker  # Ends nothing that is the parent's.
            os._exit(0)
        os.close(write)
        self.assertRegex(os.read(read, 1000).decode(), "forked")
        os.close(read)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        worker.all_reduce(numpy.ones(3, numpy.float32))

    def test_a_forked_process_may_join_by_itself(self):
        import numpy

        def join(*_, **__):
            return inart.local(1)[0]

        with mock.patch("inart._default.join", join):
            inart.init()
            with self.assertRaisesRegex(inart.Error, r"this process is <inart.Worker w0: .*> already"):
                inart.init()
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                signal.alarm(30)  # It ends a hang only.
                said = [inart.is_initialized()]
                try:
                    inart.init()
                    x = numpy.full(3, 2.0, numpy.float32)
                    inart.all_reduce(x)
                    said.append(x.tolist())
                    inart.shutdown()
                    said.append(inart.is_initialized())
                except inart.Error as error:
                    said.append(str(error))
                os.write(write, json.dumps(said).encode())
                os._exit(0)
            os.close(write)
            self.assertEqual(json.loads(os.read(read, 1000)), [False, [2.0] * 3, False])
            os.close(read)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            inart.all_reduce(numpy.ones(3, numpy.float32))
            inart.shutdown()

    def test_of_two_threads_that_join_at_a_time_one_is_refused(self):
        joins, go_on = threading.Event(), threading.Event()

        def join(*_, **__):
            joins.set()
            go_on.wait(60)
            return inart.local(1)[0]

        with mock.patch("inart._default.join", join):
            thread = threading.Thread(target=inart.init)
            thread.start()
            joins.wait(60)
            with self.assertRaisesRegex(inart.Error, "has not returned: call it once"):
                inart.init()
            go_on.set()
            thread.join()
            self.assertTrue(inart.is_initialized())
            inart.shutdown()

    def test_the_order_and_sizes_of_a_state_are_compared(self):
        import numpy

        seen = []

        class Inner:
            def load_state(self, floats, layout):
                seen.append(layout)

        worker = inart.ElasticWorker.__new__(inart.ElasticWorker)
        worker._inner = Inner()
        states = [(3, 5), (3, 5), (5, 3), (4, 4), (8,)]
        for sizes in states:
            worker.load_state(*(numpy.ones(size, numpy.float32) for size in sizes))
        self.assertEqual(len(set(seen)), 4)
        self.assertEqual(seen[0], seen[1])

    def test_a_forked_process_drops_handles_and_asks_without_waiting_for_the_parents_threads(self):
        import numpy

        workers = inart.local(2)

        def start():
            arrays = [numpy.ones(500_000, numpy.float32) for _ in workers]
            return [worker.start(x) for worker, x in zip(workers, arrays)]

        handles = start()
        for _ in range(10):
            read, write = os.pipe()
            child = os.fork()
            if child == 0:
                # It ends a hang only, with a status of its own.
                signal.alarm(30)
                said = []
                for use in (
                    lambda: handles[0].wait(0),
                    handles[0].done,
                    lambda: handles[0].seconds,
                    lambda: handles[0].waiting,
                    lambda: workers[0].start(numpy.ones(3, numpy.float32)),
                ):
                    try:
                        use()
                    except inart.Error as error:
                        said.append(str(error))
                said.append(repr(workers[0]))
                workers[0].shutdown()
                handles.clear()
                os.write(write, "\n".join(said).encode())
                os._exit(0)
            os.close(write)
            said = os.read(read, 10_000).decode().splitlines()
            os.close(read)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual([line for line in said if "was forked from the one that joined" in line], said[:5])
            self.assertEqual(said[5:], ["<inart.Worker of another process>"])
            if all(handle.done() for handle in handles):
                handles = start()
        for handle in handles:
            handle.wait(60)


if __name__ == "__main__":
    unittest.main()
