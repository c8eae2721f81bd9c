"""Tensors, and sums for torch.distributed, by workers within this process."""

import contextlib
import gc
import os
import threading
import unittest
from datetime import timedelta
from unittest import mock

import torch
from ranks_in_threads import close, right, run

import inart
import inart.torch
from inart.torch import _completer
from inart.torch._backend import Work
from inart.torch._completer import completer_of


class Tensors(unittest.TestCase):
    def test_tensors_are_summed_in_place(self):
        workers = inart.local(2)

        def work(worker):
            x = torch.arange(6.0).reshape(2, 3)
            y = x[1]
            worker.all_reduce(y)
            return x

        for x in right(run(workers, work)):
            self.assertEqual(x.tolist(), [[0, 1, 2], [6, 8, 10]])

    def test_what_cannot_be_summed_is_refused(self):
        (worker,) = inart.local(1)
        cases = [
            (torch.ones(3, dtype=torch.float64), "torch.float64.*float()"),
            (torch.ones(3, dtype=torch.int64), "torch.int64"),
            (torch.ones(3, dtype=torch.bfloat16), "torch.bfloat16"),
            (torch.ones(4, 4)[:, 1], "not contiguous.*contiguous()"),
            (torch.ones(3).to_sparse(), "torch.sparse_coo.*to_dense"),
            (torch.ones(3, device="meta"), "on meta.*cpu()"),
            (torch.ones(0), "empty"),
            (torch.frombuffer(bytearray(21), dtype=torch.float32, offset=1, count=5), r"not aligned.*clone\(\)"),
            (freed(torch.ones(3)), "needs 12 bytes of memory and has 0"),
            (torch._efficientzerotensor(3), "no memory"),
            (torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8), "torch.quint8"),
            (torch.ones(3, dtype=torch.complex64), "torch.complex64"),
            (torch.ones(3, dtype=torch.bool), "torch.bool"),
        ]
        for x, message in cases:
            with self.assertRaisesRegex(inart.TensorError, message):
                worker.start(x)
        for x, message in cases:
            # Narrower or non-contiguous tensors are summed through float32.
            if message not in ("torch.bfloat16", "not contiguous.*contiguous()"):
                with self.assertRaises(inart.TensorError):
                    completer_of(worker).start(x)
        worker.all_reduce(torch.ones(3))
        worker.shutdown()


    def test_a_tensor_whose_memory_is_freed_or_moved_meanwhile_gets_no_sum(self):
        moves = [
            lambda x: x.resize_(1_000_000),
            freed,
            lambda x: x.set_(torch.zeros(3).storage()),
        ]
        for move in moves:
            for start in (lambda worker, x: worker.start(x), lambda worker, x: completer_of(worker).start(x)):
                workers = inart.local(2)
                x = torch.ones(5000)
                pending = start(workers[0], x)
                move(x)
                others = [torch.full((5000,), 7.0) for _ in range(20)]  # They may get the memory that was freed.
                workers[1].all_reduce(torch.ones(5000))
                with self.assertRaisesRegex(inart.TensorError, "freed or moved while it was summed"):
                    pending.wait(60)
                self.assertTrue(all(bool((other == 7.0).all()) for other in others))
                close(workers)

    def test_a_tensor_that_is_dropped_meanwhile_lives_until_its_sum_is_there(self):
        workers = inart.local(2)
        handle = workers[0].start(torch.ones(5000))
        gc.collect()
        workers[1].all_reduce(torch.ones(5000))
        handle.wait(60)
        close(workers)


def freed(x):
    """The tensor without its memory, as FSDP frees it."""
    x.storage().resize_(0)
    return x


class Completers(unittest.TestCase):
    def test_tensors_whose_elements_share_memory_are_refused_before_they_are_sent(self):
        (worker,) = inart.local(1)
        for x in (torch.ones(1).expand(5), torch.ones(2, 1, dtype=torch.bfloat16).expand(2, 3)):
            with self.assertRaisesRegex(inart.TensorError, "share memory"):
                completer_of(worker).start(x)
        x = torch.ones(1).expand(1, 1)
        completer_of(worker).start(x).wait(60)
        close([worker])

    def test_a_tensor_that_is_being_summed_is_refused_whatever_its_type(self):
        square = torch.ones(4, 4)
        for x in (torch.ones(3), torch.ones(3, dtype=torch.bfloat16), square[:, 1]):
            workers = inart.local(2)
            completer, other = completer_of(workers[0]), completer_of(workers[1])
            # A worker that leaves before it has joined would be waited for as one that starts late.
            joined = completer.start(torch.ones(1))
            other.start(torch.ones(1)).wait(60)
            joined.wait(60)
            completer.start(x)
            with self.assertRaisesRegex(inart.Error, "being summed already.*has left its job"):
                completer.start(x)
            with self.assertRaisesRegex(inart.Error, "has left its job"):
                completer.start(torch.ones(3))
            with contextlib.suppress(inart.Error):
                other.start(torch.ones(3)).wait(60)
            # Where the first sum has ended, the second one was started, and must not become that of another tensor.
            with self.assertRaises(inart.Error):
                other.start(torch.ones(3)).wait(60)
            close(workers)

    def test_parts_of_a_tensor_are_summed_at_the_same_time(self):
        square = torch.ones(4, 4)
        workers = inart.local(2)
        completer, other = completer_of(workers[0]), completer_of(workers[1])
        columns = [completer.start(square[:, column]) for column in (0, 2)]
        for pending in columns:
            other.start(torch.ones(4)).wait(60)
            pending.wait(60)
        self.assertEqual(square[0].tolist(), [2.0, 1.0, 2.0, 1.0])
        close(workers)

    def test_a_narrow_tensor_whose_memory_is_freed_meanwhile_gets_no_sum(self):
        workers = inart.local(2)
        x = torch.ones(5000, dtype=torch.bfloat16)
        pending = completer_of(workers[0]).start(x)
        freed(x)
        completer_of(workers[1]).start(torch.ones(5000, dtype=torch.bfloat16)).wait(60)
        with self.assertRaisesRegex(inart.TensorError, "freed or moved"):
            pending.wait(60)
        close(workers)

    def test_a_finalizer_or_signal_handler_that_starts_a_sum_within_another_start_is_refused(self):
        (worker,) = inart.local(1)
        completer, said = completer_of(worker), []

        class Finalizer:
            def __del__(self):
                try:
                    completer.start(torch.ones(1))
                except inart.Error as error:
                    said.append(str(error))

        class Hooked(torch.Tensor):
            """Its finalizer runs while its sum is being started."""

            def numel(self):
                if completer._is_starting:
                    Finalizer()
                return super().numel()

        hang = threading.Timer(30, os._exit, (3,))  # It ends a hang only.
        hang.start()
        completer.start(torch.ones(2).as_subclass(Hooked)).wait(60)
        hang.cancel()
        self.assertTrue(said and all("finalizer starts a sum" in line for line in said), said)
        completer.start(torch.ones(1)).wait(60)
        close([worker])

    def test_a_worker_that_was_shut_down_gets_no_threads(self):
        (worker,) = inart.local(1)
        worker.shutdown()
        with self.assertRaisesRegex(inart.Error, "was shut down"):
            inart.torch.HookState(worker=worker)
        self.assertNotIn("inart-completer", [thread.name for thread in threading.enumerate()])

    def test_narrow_floats_go_through_float32_and_are_rounded_once(self):
        values = [1.0, 1 / 256, 2.0**-9]  # As bfloat16, their sum in any order of narrow sums is 1.
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            workers = inart.local(3)

            def work(worker):
                x = torch.full((5,), values[worker.rank], dtype=dtype)
                pending = completer_of(worker).start(x)
                self.assertTrue(pending.future(x).wait() is x)
                return x

            exact = torch.tensor(sum(values), dtype=torch.float64).to(dtype)
            for x in right(run(workers, work)):
                self.assertEqual(x.dtype, dtype)
                self.assertTrue(torch.equal(x, exact.expand(5)), f"{x} for {exact}")
            close(workers)

    def test_tensors_of_inference_mode_are_summed(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float32):
            workers = inart.local(2)

            def work(worker):
                with torch.inference_mode():
                    x = torch.full((3,), 2.0 * worker.rank, dtype=dtype)
                    completer_of(worker).start(x, 2).wait(60)
                return x

            for x in right(run(workers, work)):
                self.assertEqual(x.tolist(), [1.0] * 3)
            close(workers)

    def test_negative_views_are_summed_with_their_signs(self):
        (worker,) = inart.local(1)
        x = torch.tensor([1.0 + 2.0j]).conj().imag
        self.assertTrue(x.is_neg())
        with self.assertRaisesRegex(inart.TensorError, "other sign.*resolve_neg"):
            worker.start(x)
        completer_of(worker).start(x).wait(60)
        self.assertEqual(x.tolist(), [-2.0])
        close([worker])

    def test_callbacks_may_wait_for_other_sums(self):
        workers = inart.local(2)
        registered = threading.Event()

        def work(worker):
            completer = completer_of(worker)
            x, y = torch.ones(5), torch.full((7,), 3.0)
            if worker.rank == 1:
                # No sum is complete before rank 0 has added its callback.
                registered.wait(60)
                for pending in [completer.start(x), completer.start(y)]:
                    pending.wait(60)
                return None
            first, second = completer.start(x), completer.start(y)

            def both(_):
                second.wait(10)
                return x[0].item() + y[0].item()

            future = first.future(x).then(both)
            registered.set()
            return future.wait()

        self.assertEqual(right(run(workers, work)), [8.0, None])
        close(workers)

    def test_a_callback_that_starts_a_sum_ends_the_job_with_an_error(self):
        workers = inart.local(2)
        registered = threading.Event()

        def work(worker):
            completer = completer_of(worker)
            if worker.rank == 1:
                # The sum is not complete before rank 0 has added its callback.
                registered.wait(60)
                completer.start(torch.ones(1)).wait(60)
                return
            future = completer.start(torch.ones(1)).future(None)
            future = future.then(lambda _: completer.start(torch.ones(1)))
            registered.set()
            with self.assertRaisesRegex(RuntimeError, "callback of a sum's future starts a sum"):
                future.wait()
            with self.assertRaisesRegex(inart.Error, "callback"):
                completer.start(torch.ones(1))

        right(run(workers, work))
        close(workers)

    def test_shutdown_does_not_wait_for_ever_for_a_callback(self):
        worker, other = inart.local(2)
        go_on = threading.Event()
        pending = completer_of(worker).start(torch.ones(1))
        waits = pending.future(None).then(lambda _: go_on.wait(60))
        completer_of(other).start(torch.ones(1)).wait(60)
        pending.wait(60)
        with mock.patch.object(_completer, "CALLBACKS_S", 0.1), self.assertWarnsRegex(RuntimeWarning, "still running"):
            worker.shutdown()
        go_on.set()
        self.assertTrue(waits.wait())
        close([other])

    def test_means_are_the_sums_divided(self):
        workers = inart.local(3)

        def work(worker):
            x = torch.tensor([1.0 + worker.rank, 2.0, -7.0])
            completer_of(worker).start(x, 3).wait(60)
            return x

        for x in right(run(workers, work)):
            self.assertTrue(torch.equal(x, torch.tensor([6.0, 6.0, -21.0]) / 3))
        close(workers)

    def test_means_of_narrow_floats_are_rounded_once(self):
        values = [1000.0, 1000.0, 49.0]  # Of the sum 2049, float16 makes 2048, whose third is 682.5.
        workers = inart.local(3)

        def work(worker):
            x = torch.tensor([values[worker.rank]], dtype=torch.float16)
            completer_of(worker).start(x, 3).wait(60)
            return x.item()

        self.assertEqual(right(run(workers, work)), [683.0] * 3)
        close(workers)

    def test_a_panic_of_the_native_part_reaches_waits_and_futures(self):
        class Panic(BaseException):
            pass

        (worker,) = inart.local(1)
        completer = completer_of(worker)
        handle = mock.Mock(wait=mock.Mock(side_effect=Panic("no room")))
        with mock.patch.object(worker, "_start_for", lambda *_: handle):
            pending = completer.start(torch.ones(1))
        with self.assertRaisesRegex(RuntimeError, "Panic: no room"):
            pending.future(None).wait()
        with self.assertRaisesRegex(inart.Error, "Panic: no room"):
            pending.wait(60)
        completer.start(torch.ones(1)).wait(60)
        close([worker])

    def test_tensors_that_are_not_contiguous_are_summed_where_they_are(self):
        workers = inart.local(2)

        def work(worker):
            x = torch.arange(6.0).reshape(2, 3)
            completer_of(worker).start(x.t()[1:]).wait(60)
            return x

        for x in right(run(workers, work)):
            self.assertEqual(x.tolist(), [[0, 2, 4], [3, 8, 10]])
        close(workers)

    def test_more_sums_than_there_is_room_for_are_waited_for(self):
        workers = inart.local(2)
        count = _completer.MOST_SUMS + 100

        def work(worker):
            tensors = [torch.full((2,), float(index)) for index in range(count)]
            for pending in [completer_of(worker).start(x) for x in tensors]:
                pending.wait(60)
            return tensors

        for tensors in right(run(workers, work)):
            self.assertEqual([x[0].item() for x in tensors], [2.0 * index for index in range(count)])
        close(workers)

    def test_an_error_reaches_futures_and_waits(self):
        workers = inart.local(2, peer_timeout=0.3)

        def once(worker):
            worker.all_reduce(torch.ones(1))

        right(run(workers, once))
        x = torch.ones(4)
        pending = completer_of(workers[0]).start(x)
        workers[1].shutdown()
        with self.assertRaisesRegex(RuntimeError, r"AbortedError: .*worker 1 \(w1\) is silent"):
            pending.future(x).wait()
        with self.assertRaises(inart.AbortedError):
            pending.wait(60)
        close(workers)

    def test_a_shutdown_ends_what_is_under_way(self):
        workers = inart.local(2)
        pending = completer_of(workers[0]).start(torch.ones(4))
        workers[0].shutdown()
        with self.assertRaisesRegex(inart.Error, "was shut down"):
            pending.wait(60)
        self.assertNotIn("inart-completer", [thread.name for thread in threading.enumerate()])
        close(workers)

    def test_work_heeds_its_timeout_and_the_groups(self):
        workers = inart.local(2)
        x = torch.ones(4)
        pending = completer_of(workers[0]).start(x)
        work = Work(pending, [x], timedelta(seconds=0.1))
        with self.assertRaisesRegex(inart.TimeoutError, "after 0.2 s"):
            work.wait(timedelta(seconds=0.2))
        with self.assertRaisesRegex(inart.TimeoutError, "after 0.1 s", msg="the group's"):
            work.wait()
        self.assertFalse(work.is_completed() or work.is_success())
        workers[1].all_reduce(torch.ones(4))
        self.assertTrue(work.wait(timedelta(seconds=60)))
        self.assertTrue(work.is_success())
        self.assertEqual(work.result()[0].tolist(), [2.0] * 4)
        close(workers)


if __name__ == "__main__":
    unittest.main()
