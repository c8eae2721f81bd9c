"""Sums of NumPy arrays, by workers within this process."""

import array
import contextlib
import io
import re
import signal
import threading
import time
import unittest
import warnings

import numpy
from ranks_in_threads import right, run

import inart


def integers(rank: int, length: int, seed: int = 0) -> numpy.ndarray:
    """Whole numbers, whose sums are exact in float32 whatever their order."""
    random = numpy.random.default_rng([seed, rank, length])
    return random.integers(-100, 100, length).astype(numpy.float32)


def total(ranks: int, length: int, seed: int = 0) -> numpy.ndarray:
    return numpy.sum([integers(rank, length, seed) for rank in range(ranks)], axis=0)


class Sums(unittest.TestCase):
    def test_whole_numbers_are_summed_as_numpy_does(self):
        for ranks, servers, length in [(1, 1, 1), (2, 1, 257), (3, 2, 10_000)]:
            workers = inart.local(ranks, servers)

            def work(worker):
                x = integers(worker.rank, length)
                worker.all_reduce(x)
                return x

            for x in right(run(workers, work)):
                numpy.testing.assert_array_equal(x, total(ranks, length))

    def test_any_floats_are_the_same_bits_at_all_ranks(self):
        workers = inart.local(3, 2)

        def work(worker):
            x = numpy.random.default_rng(worker.rank).normal(size=(50, 41)).astype(numpy.float32)
            worker.all_reduce(x)
            return x

        first, *others = right(run(workers, work))
        self.assertEqual(first.shape, (50, 41))
        self.assertTrue(all(first.tobytes() == other.tobytes() for other in others))
        exact = sum(
            numpy.random.default_rng(rank).normal(size=(50, 41)).astype(numpy.float32).astype(float)
            for rank in range(3)
        )
        # No value is above 2^3, so 3 workers' step is 2^-26 at most (protocol/aggregation/src/scale.rs), half of it for each.
        numpy.testing.assert_allclose(first, exact, rtol=1e-7, atol=3 * 2.0**-27)

    def test_metrics_of_different_magnitudes_keep_their_digits(self):
        ranks, steps = 4, 3
        workers = inart.local(ranks)

        def work(worker):
            steps_seen = []
            for _ in range(steps):
                correct, total, loss = (
                    numpy.array([value], numpy.float32) for value in (2_000_000 + worker.rank, 10_000, 0.0123)
                )
                for x in (correct, total, loss):
                    worker.all_reduce(x)
                steps_seen.append([float(x[0]) for x in (correct, total, loss)])
            return steps_seen

        exact = [8_000_006.0, 40_000.0, 4 * float(numpy.float32(0.0123))]
        for steps_seen in right(run(workers, work)):
            self.assertEqual(steps_seen, [exact] * steps)

    def test_tensors_of_one_length_are_scaled_independently(self):
        ranks, length, sizes = 4, 4096, [1.0, 1e-6, 1e-20]
        gradients = [
            [
                (numpy.random.default_rng([bucket, rank]).normal(size=length) * size).astype(numpy.float32)
                for bucket, size in enumerate(sizes)
            ]
            for rank in range(ranks)
        ]
        workers = inart.local(ranks)

        def work(worker):
            iterations = []
            for _ in range(3):
                buckets = [bucket.copy() for bucket in gradients[worker.rank]]
                for handle in [worker.start(bucket) for bucket in buckets]:
                    handle.wait()
                iterations.append(buckets)
            return iterations

        for iterations in right(run(workers, work)):
            for buckets in iterations:
                for place, bucket in enumerate(buckets):
                    exact = sum(gradients[rank][place].astype(float) for rank in range(ranks))
                    error = numpy.linalg.norm(bucket - exact) / numpy.linalg.norm(exact)
                    self.assertLess(error, 1e-7, f"bucket {place}")

    def test_an_exact_job_rounds_the_sum_once(self):
        workers = inart.local(3, exact=True)
        values = [numpy.float32(v) for v in (1e8, 1.25, -1e8)]

        def work(worker):
            x = numpy.array([values[worker.rank]])
            worker.all_reduce(x)
            return x[0]

        self.assertEqual(right(run(workers, work)), [numpy.float32(1.25)] * 3)

    def test_several_are_under_way_and_waited_for_in_any_order(self):
        lengths = [5, 3000, 1, 700]
        workers = inart.local(2)

        def work(worker):
            arrays = [integers(worker.rank, length, seed) for seed, length in enumerate(lengths)]
            handles = [worker.start(x) for x in arrays]
            for place in (2, 0, 3, 1) if worker.rank else (3, 2, 1, 0):
                handles[place].wait()
            return arrays

        for arrays in right(run(workers, work)):
            for seed, (x, length) in enumerate(zip(arrays, lengths)):
                numpy.testing.assert_array_equal(x, total(2, length, seed))

    def test_two_jobs_at_once(self):
        first, second = inart.local(2), inart.local(2)

        def work(worker):
            other = second[worker.rank]
            mine, more = integers(worker.rank, 999, 1), integers(worker.rank, 555, 2)
            # Each rank in an order of its own: jobs know nothing of each other.
            pairs = [(worker, mine), (other, more)]
            started = [one.start(x) for one, x in (pairs if worker.rank else reversed(pairs))]
            for handle in started:
                handle.wait()
            return mine, more

        for mine, more in right(run(first, work)):
            numpy.testing.assert_array_equal(mine, total(2, 999, 1))
            numpy.testing.assert_array_equal(more, total(2, 555, 2))

    def test_other_buffers_of_floats(self):
        (worker,) = inart.local(1)
        x = array.array("f", [1.0, 2.5])
        handle = worker.start(x)
        with self.assertRaises(BufferError, msg="its memory stays where it is"):
            x.append(1.0)
        handle.wait()
        self.assertEqual(list(x), [1.0, 2.5])

    def test_floats_that_are_not_aligned_are_refused(self):
        (worker,) = inart.local(1)
        x = numpy.frombuffer(bytearray(21), numpy.float32, offset=1)
        with self.assertRaisesRegex(inart.TensorError, r"not aligned.*copy\(\)"):
            worker.all_reduce(x)
        y = x.copy() + 3.0
        worker.all_reduce(y)
        self.assertEqual(y.tolist(), [3.0] * 5)

    def test_an_array_that_is_being_summed_is_refused_until_its_sum_is_over(self):
        workers = inart.local(2)
        whole = numpy.ones(10, numpy.float32)
        handle = workers[0].start(whole[2:6])
        for part in (whole, whole[:3], whole[5:], whole[3:4], whole[2:6]):
            with self.assertRaisesRegex(inart.TensorError, "being summed already.*wait for that sum"):
                workers[0].start(part)
        beside = [workers[0].start(part) for part in (whole[:2], whole[6:])]
        for part in (whole[2:6], whole[:2], whole[6:]):
            workers[1].all_reduce(numpy.ones(len(part), numpy.float32))
        for each in [handle, *beside]:
            each.wait(60)
        self.assertEqual(whole.tolist(), [2.0] * 10)
        # A sum that was given up holds nothing.
        workers[0].start(whole)
        dropped = workers[0].start(whole)
        for _ in range(2):
            workers[1].all_reduce(numpy.ones(10, numpy.float32))
        dropped.wait(60)
        self.assertEqual(whole.tolist(), [3.0] * 10)

    def test_memory_is_used_in_place(self):
        (worker,) = inart.local(1)
        whole = numpy.arange(10, dtype=numpy.float32)
        part = whole[3:6]
        worker.all_reduce(part)
        numpy.testing.assert_array_equal(whole, numpy.arange(10))
        handle = worker.start(numpy.ones(1000, numpy.float32))  # No other reference to the array exists.
        handle.wait()
        self.assertGreater(handle.seconds, 0.0)


class Refused(unittest.TestCase):
    """Tensors that cannot be summed are rejected before anything is sent: the job continues."""

    def test_arrays_that_cannot_be_summed(self):
        readonly = numpy.ones(3, numpy.float32)
        readonly.flags.writeable = False
        cases = [
            (numpy.ones(3), "float64.*astype"),
            (numpy.ones(3, numpy.int64), "int64"),
            (numpy.ones(3, ">f4"), ">f4"),
            (numpy.ones((4, 4), numpy.float32)[:, 1], "not contiguous.*ascontiguousarray"),
            (numpy.ones((4, 5), numpy.float32).T, "not contiguous"),
            (readonly, "read-only.*copy"),
            (numpy.ones(0, numpy.float32), "empty"),
            (numpy.ma.masked_array(numpy.ones(3, numpy.float32), mask=[0, 1, 0]), "has a mask.*filled"),
            (numpy.ones(3, numpy.float16), "float16.*astype"),
            (numpy.ones(3, numpy.float32)[::-1], "not contiguous"),
            (numpy.broadcast_to(numpy.float32(1), 5), "not contiguous"),
            (numpy.zeros(3, [("x", "f4")]), "astype"),
            (memoryview(b"1234").cast("f"), "read-only"),
            ([1.0], "list has no floats"),
            (3.0, "float has no floats"),
        ]
        (worker,) = inart.local(1)
        for x, message in cases:
            with self.assertRaisesRegex(inart.TensorError, message):
                worker.start(x)
        worker.all_reduce(numpy.ones(3, numpy.float32))

    def test_a_nan_passes_to_all_workers_and_spoils_its_block(self):
        workers = inart.local(2)

        def work(worker):
            sums = []
            for value in (1, numpy.inf, numpy.nan, 1):
                x = numpy.ones(700, numpy.float32)
                if worker.rank == 1:
                    x[256 + 5] = value
                worker.all_reduce(x)
                sums.append(x)
            return sums

        for sums in right(run(workers, work)):
            for x, spoilt in zip(sums, (False, True, True, False)):
                self.assertEqual(numpy.isnan(x[256:512]).all(), spoilt)
                rest = numpy.delete(x, slice(256, 512)) if spoilt else x
                self.assertTrue((rest == 2).all())

    def test_what_becomes_of_a_nan_is_said_by_a_word_that_is_known(self):
        with self.assertRaisesRegex(ValueError, '"ignore".*"pass" or "abort"'):
            inart.local(2, non_finite="ignore")

    def test_a_nan_ends_the_job_at_all_workers_with_the_culprits_name_if_requested(self):
        workers = inart.local(2, non_finite="abort")

        def work(worker):
            x = numpy.ones(700, numpy.float32)
            if worker.rank == 1:
                x[5] = numpy.nan
            worker.all_reduce(x)

        other, culprit = run(workers, work)
        self.assertIsInstance(culprit, inart.AbortedError)
        self.assertRegex(str(culprit), "value 5 of this worker's gradient is NaN")
        self.assertIsInstance(other, inart.AbortedError)
        self.assertRegex(str(other), r"worker 1 \(w1\) has a gradient with a NaN")
        self.assertEqual((other.culprit, other.rank, other.shard), ("w1", 1, None))

    def test_a_size_that_differs_is_reported_to_all(self):
        workers = inart.local(2)

        def work(worker):
            worker.all_reduce(numpy.ones(1000 if worker.rank else 2000, numpy.float32))

        for error in run(workers, work):
            self.assertIsInstance(error, inart.AbortedError)
            self.assertRegex(str(error), r"worker [01] \(w[01]\) has a gradient of [12]000 values")

    def test_a_failed_worker_is_named(self):
        workers = inart.local(2, peer_timeout=0.3)
        for worker in workers:
            worker.start(numpy.ones(1, numpy.float32))
        workers[1].shutdown()
        x = numpy.ones(10, numpy.float32)
        with self.assertRaisesRegex(inart.AbortedError, r"worker 1 \(w1\) is silent") as caught:
            workers[0].all_reduce(x)
        self.assertEqual(caught.exception.culprit, "w1")
        numpy.testing.assert_array_equal(x, numpy.ones(10))
        with self.assertRaises(inart.AbortedError, msg="and again"):
            workers[0].start(x)


class Waiting(unittest.TestCase):
    def test_a_wait_heeds_its_timeout_and_may_be_repeated(self):
        workers = inart.local(2)
        x, other = numpy.ones(5, numpy.float32), numpy.ones(5, numpy.float32)
        handle = workers[0].start(x)
        with self.assertRaisesRegex(inart.TimeoutError, "not ready after 0.1 s"):
            handle.wait(0.1)
        with self.assertRaises(TimeoutError, msg="Python's own"):
            handle.wait(0)
        self.assertFalse(handle.done())
        self.assertIsNone(handle.seconds)
        with self.assertRaises(ValueError):
            handle.wait(-1.0)
        workers[1].all_reduce(other)
        handle.wait(60)
        handle.wait(0)
        self.assertTrue(handle.done())
        numpy.testing.assert_array_equal(x, 2 * numpy.ones(5))

    def test_other_threads_run_while_one_waits(self):
        # The peer starts only after a Python thread has counted: with the lock held, neither would.
        workers = inart.local(2)
        counted = threading.Event()

        def count():
            for _ in range(100_000):
                pass
            counted.set()
            workers[1].all_reduce(numpy.ones(3, numpy.float32))

        thread = threading.Thread(target=count)
        handle = workers[0].start(numpy.ones(3, numpy.float32))
        thread.start()
        handle.wait()
        self.assertTrue(counted.is_set())
        thread.join()

    def test_two_threads_may_wait_for_one_sum(self):
        workers = inart.local(2)
        x = numpy.ones(3, numpy.float32)
        handle = workers[0].start(x)
        waiting = [threading.Thread(target=handle.wait) for _ in range(2)]
        for thread in waiting:
            thread.start()
        workers[1].all_reduce(numpy.ones(3, numpy.float32))
        for thread in waiting:
            thread.join()
        self.assertEqual(x[0], 2.0)

    def test_ctrl_c_ends_a_wait(self):
        workers = inart.local(2)
        handle = workers[0].start(numpy.ones(3, numpy.float32))

        def interrupt():
            time.sleep(0.2)
            signal.raise_signal(signal.SIGINT)

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            threading.Thread(target=interrupt).start()
            with self.assertRaises(KeyboardInterrupt):
                handle.wait()
        finally:
            signal.signal(signal.SIGINT, before)
        workers[1].all_reduce(numpy.ones(3, numpy.float32))
        handle.wait()

    def test_a_worker_that_was_shut_down_says_so(self):
        workers = inart.local(2)
        with workers[0] as worker:
            handle = worker.start(numpy.ones(3, numpy.float32))
        worker.shutdown()
        for call in (handle.wait, lambda: worker.start(numpy.ones(3, numpy.float32))):
            with self.assertRaisesRegex(inart.Error, "was shut down"):
                call()


class Waits(unittest.TestCase):
    def test_a_timeout_and_a_long_wait_name_the_worker_that_has_not_started(self):
        workers = inart.local(3)
        handle = workers[0].start(numpy.ones(700, numpy.float32))
        named = "tensor 0: worker 1 (w1) and 1 other have not started it"
        while handle.waiting != named:
            time.sleep(0.01)
        with self.assertRaisesRegex(inart.TimeoutError, re.escape(f"after 0 s ({named}); wait again")):
            handle.wait(0)
        said = io.StringIO()
        waiter = threading.Thread(target=handle.wait)
        with contextlib.redirect_stderr(said):
            waiter.start()
            while "waiting" not in said.getvalue():
                time.sleep(0.01)
        self.assertRegex(said.getvalue(), r"^inart: job local, rank 0 \(w0\): waiting for \d+ s: " + re.escape(named))
        others = [worker.start(numpy.ones(700, numpy.float32)) for worker in workers[1:]]
        for other in others:
            other.wait(60)
        waiter.join()
        self.assertIsNone(handle.waiting)

    def test_a_rank_that_skips_a_sum_of_another_length_ends_the_job_at_all_ranks(self):
        cases = [  # Lengths, the one that rank 1 skips, and those that meet first.
            ([700, 800, 900], 0, (800, 700)),
            ([300, 301, 302], 1, (302, 301)),
            ([10, 11, 12], 0, (11, 10)),
            ([10, 700, 12], 0, (700, 10)),
            ([700, 10, 12], 0, (10, 700)),
            ([255, 256, 257, 258], 1, (257, 256)),
            ([100_000, 100_001, 1], 0, (100_001, 100_000)),
        ]
        for ranks, servers in [(2, 1), (3, 2)]:
            for lengths, skipped, (culprits, others) in cases:

                def work(worker):
                    summed = 0
                    with self.assertRaises(inart.AbortedError) as raised:
                        for at, length in enumerate(lengths):
                            if (worker.rank, at) != (1, skipped):
                                worker.all_reduce(numpy.ones(length, numpy.float32))
                                summed += 1
                    return summed, str(raised.exception)

                named = f"worker 1 (w1) has a gradient of {culprits} values, others have {others}"
                for summed, said in right(run(inart.local(ranks, servers), work)):
                    self.assertEqual(summed, skipped)
                    self.assertIn(named, said)

    def test_a_rank_that_skips_a_sum_of_the_same_length_is_named_one_sum_later(self):
        """Without labels nothing shows which array a sum is of: only that a rank has started one less."""
        workers = inart.local(2)

        def work(worker):
            sums = [numpy.full(700, 10.0**step, numpy.float32) for step in range(3)]
            for step, x in enumerate(sums):
                if (worker.rank, step) == (1, 0):
                    continue
                handle = worker.start(x)
                if (worker.rank, step) != (0, 2):
                    handle.wait(60)
            if worker.rank == 0:
                named = "tensor 2: worker 1 (w1) has not started it"
                while handle.waiting != named:
                    time.sleep(0.01)
            return [float(x[0]) for x in sums]

        first, _ = right(run(workers, work))
        self.assertEqual(first[:2], [1 + 10, 10 + 100])

    def test_a_rank_that_skips_a_sum_of_the_same_length_ends_the_job_by_its_label(self):
        for ranks, servers, length, skipped in [(2, 1, 700, 0), (3, 2, 700, 3), (3, 1, 1, 40)]:

            def work(worker):
                with self.assertRaises(inart.AbortedError) as raised:
                    for step in range(1_000_000):
                        if (worker.rank, step) != (1, skipped):
                            worker.all_reduce(numpy.ones(length, numpy.float32), label=f"step {step}")
                return raised.exception.culprit, raised.exception.rank, str(raised.exception)

            for culprit, rank, error in right(run(inart.local(ranks, servers), work)):
                self.assertEqual((culprit, rank), ("w1", 1))
                self.assertRegex(error, "start the same tensors in the same order at all workers")
                place = re.search(r"worker 1 \(w1\) and its peers started different tensors as (.*?) \(here ", error)
                self.assertIsNotNone(place, error)
                numbers = [int(number) for number in re.findall(r"\d+", place.group(1))]
                self.assertLessEqual(numbers[0], skipped)
                self.assertGreaterEqual(numbers[-1], skipped)

    def test_a_rank_that_sums_two_arrays_of_one_length_in_another_order_ends_the_job_by_their_shapes(self):
        def work(worker):
            with self.assertRaises(inart.AbortedError) as raised:
                for step in range(1_000_000):
                    shapes = [(20, 35), (700,)]
                    for shape in reversed(shapes) if (worker.rank, step) == (1, 2) else shapes:
                        worker.all_reduce(numpy.ones(shape, numpy.float32))
            return str(raised.exception)

        for error in right(run(inart.local(2), work)):
            self.assertIn("worker 1 (w1) and its peers started different tensors", error)
            self.assertRegex(error, 'values, (no label|label "shape 20x35")')

    def test_equal_labels_sum_and_dimensions_of_one_value_are_no_difference(self):
        workers = inart.local(2)

        def work(worker):
            shapes = [(700,), (1, 700), (700, 1)] if worker.rank else [(700, 1), (700,), (1, 700, 1)]
            arrays = [numpy.ones(shape, numpy.float32) for shape in shapes]
            for label, x in zip((None, "loss", 7), arrays):
                worker.start(x, label).wait(60)
            time.sleep(0.7)  # Two of the longest intervals between keep-alives.
            last = array.array("f", [1.0])
            worker.all_reduce(last, label="7")
            return [float(x.flat[0]) for x in arrays] + list(last)

        self.assertEqual(right(run(workers, work)), [[2.0] * 4] * 2)

    def test_a_label_that_may_differ_between_ranks_is_refused_before_it_is_sent(self):
        (worker,) = inart.local(1)
        for label in (object(), 1.5, True, ["a"]):
            with self.assertRaisesRegex(TypeError, "a string or a whole number"):
                worker.start(numpy.ones(3, numpy.float32), label)
        worker.all_reduce(numpy.ones(3, numpy.float32))

    def test_a_sum_of_one_value_after_each_step_finds_a_skipped_sum(self):
        """Capabilities that docs/explanation/skipped-sums.md documents."""

        def steps(worker, skip):
            """Returns the steps whose sums were all of one step."""
            done = []
            for step in range(1, 4):
                for tensor in range(2):
                    if not skip(worker.rank, step, tensor):
                        worker.all_reduce(numpy.ones(700, numpy.float32))
                end = numpy.full(1, step, numpy.float32)
                if not skip(worker.rank, step, "end"):
                    worker.all_reduce(end)
                    if end[0] != step * worker.world_size:
                        raise RuntimeError("ranks sum different steps")
                done.append(step)
            return done

        self.assertEqual(right(run(inart.local(2), lambda worker: steps(worker, lambda *_: False))), [[1, 2, 3]] * 2)

        def skips_one(rank, step, tensor):
            return (rank, step, tensor) == (1, 2, 0)

        for result in run(inart.local(2), lambda worker: steps(worker, skips_one)):
            self.assertIsInstance(result, inart.AbortedError)
            self.assertIn("worker 1 (w1) has a gradient of 1 values, others have 700", str(result))

        def skips_a_step(rank, step, tensor):
            return rank == 1 and step == 2

        for result in run(inart.local(2), lambda worker: steps(worker, skips_a_step)):
            self.assertIsInstance(result, RuntimeError)
            self.assertIn("different steps", str(result))

    def test_a_nan_is_warned_of_once_and_with_its_rank_and_tensor(self):
        workers = inart.local(2)

        def work(worker):
            for length in (10, 700, 300):
                x = numpy.ones(length, numpy.float32)
                if worker.rank == 1 and length != 10:
                    x[5] = numpy.nan
                worker.all_reduce(x)

        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            right(run(workers, work))
        said = [str(warning.message) for warning in seen if "NaN" in str(warning.message)]
        self.assertEqual(len(said), 1, said)
        self.assertIn("job local, rank 1 (w1): tensor 1 of this rank has a NaN or an infinity", said[0])


if __name__ == "__main__":
    unittest.main()
