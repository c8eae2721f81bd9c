"""Hooks of DDP: timeouts, skipped sums, gradients and states, by workers within this process."""

import gc
import os
import re
import signal
import tempfile
import threading
import unittest
from datetime import timedelta
from unittest import mock

import torch
import torch.distributed as dist
from ranks_in_threads import close, right, run

import inart
import inart.torch
from inart.torch import _completer, _elastic, _models
from inart.torch._completer import completer_of


class Timeouts(unittest.TestCase):
    def test_a_sum_that_is_late_fails_with_the_rank_that_has_not_started_it_and_so_do_later_ones(self):
        workers = inart.local(2)
        completer = completer_of(workers[0])
        pending = completer.start(torch.ones(700), timeout=1.0)
        named = "not ready 1 s after its start (tensor 0: worker 1 (w1) has not started it)"
        with self.assertRaisesRegex(RuntimeError, re.escape(named)):
            pending.future(None).wait()
        with self.assertRaises(inart.TimeoutError):
            completer.start(torch.ones(3))
        close(workers)

    def test_a_hooks_timeout_is_half_an_hour_unless_given(self):
        (worker,) = inart.local(1)
        state = inart.torch.HookState(worker=worker)
        self.assertEqual(state.timeout, 1800.0)
        self.assertEqual(inart.torch.HookState(worker=worker, timeout=timedelta(minutes=2)).timeout, 120.0)
        for timeout in (0, -1.0, timedelta(0), float("nan")):
            with self.assertRaisesRegex(ValueError, "give seconds above 0"):
                inart.torch.HookState(worker=worker, timeout=timeout)
        close([worker])

    def test_a_completer_in_a_forked_process_says_so(self):
        workers = inart.local(2)
        completer = completer_of(workers[0])
        pending = completer.start(torch.ones(3))
        holds, go_on = threading.Event(), threading.Event()

        def hold():
            with completer._order:
                holds.set()
                go_on.wait(60)

        # It starts a sum at the fork, and is missing in the child.
        thread = threading.Thread(target=hold)
        thread.start()
        holds.wait(60)
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # It ends a hang only.
            try:
                completer.start(torch.ones(3))
            except inart.Error as error:
                workers[0].shutdown()
                os._exit(7 if "forked" in str(error) else 1)
            os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 7 << 8)
        go_on.set()
        thread.join()
        completer_of(workers[1]).start(torch.ones(3)).wait(60)
        pending.wait(60)
        close(workers)


class Skips(unittest.TestCase):
    """Ranks that start different sums of one length."""

    def aborted(self, start):
        """Both ranks start sums until the job ends by the name of rank 1. ``start(completer, rank, step)``"""
        workers = inart.local(2)

        def work(worker):
            completer = completer_of(worker)
            with self.assertRaises(inart.AbortedError) as raised:
                for step in range(1_000_000):
                    for pending in start(completer, worker.rank, step):
                        pending.wait(60)
            return str(raised.exception)

        errors = right(run(workers, work))
        close(workers)
        for error in errors:
            self.assertIn("worker 1 (w1) and its peers started different tensors as ", error)
        return errors

    def test_another_type_shape_or_divisor_ends_the_job_by_the_ranks_name(self):
        flat = [torch.ones(700), 1]
        for other in (
            [torch.ones(700, dtype=torch.bfloat16), 1],
            [torch.ones(20, 35), 1],
            [torch.ones(700), 2],
        ):

            def start(completer, rank, step):
                tensor, divisor = other if (rank, step) == (1, 3) else flat
                return [completer.start(tensor.clone(), divisor)]

            self.aborted(start)

    def buckets(self, rank_1):
        """Ranks run the hook with two buckets of one length in each step; ``rank_1(state, step)`` gives the indices at
        rank 1, and sets the label there."""
        workers = inart.local(2)

        def work(worker):
            state = inart.torch.HookState(worker=worker)
            try:
                for step in range(1_000_000):
                    state.label = step
                    for index in rank_1(state, step) if worker.rank == 1 else (0, 1):
                        buffer = torch.ones(700)
                        bucket = mock.Mock(index=lambda: index, buffer=lambda: buffer, parameters=lambda: [buffer])
                        inart.torch.all_reduce_hook(state, bucket).wait()
            except (inart.AbortedError, RuntimeError) as error:
                return str(error)

        with mock.patch.object(inart.torch.HookState, "check_model"):
            errors = right(run(workers, work))
        close(workers)
        for error in errors:
            self.assertIn("worker 1 (w1) and its peers started different tensors as ", error)
            self.assertRegex(error, r'label \\?"bucket [01] of \d+')

    def test_a_rank_that_leaves_a_backward_pass_half_way_ends_the_job_by_its_name(self):
        self.buckets(lambda _, step: (0,) if step == 5 else (0, 1))

    def test_a_rank_that_skips_a_step_ends_the_job_by_its_name_if_the_state_has_the_step(self):
        def one_ahead(state, step):
            state.label = step + (step >= 5)
            return 0, 1

        self.buckets(one_ahead)


class Hooks(unittest.TestCase):
    """A process group of one rank."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        dist.init_process_group("gloo", init_method=f"file://{folder.name}/store", rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)
        (worker,) = inart.local(1)
        self.addCleanup(worker.shutdown)
        self.state = inart.torch.HookState(worker=worker)

    def model(self):
        return torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1, bias=False))

    def backward(self, model):
        model(torch.full((1, 3), 5.0)).sum().backward()
        return next(model.parameters()).grad.tolist()

    def test_a_model_is_known_by_its_parameters_whatever_the_collector_sees(self):
        model, other = self.model(), self.model()
        model.register_comm_hook(self.state, inart.torch.all_reduce_hook)
        gc.freeze()
        self.addCleanup(gc.unfreeze)
        self.assertEqual(_models.models_of(next(model.parameters())), [model])
        self.assertEqual(_models.models_of(next(other.parameters())), [])

    def test_a_bucket_of_an_unknown_model_is_refused(self):
        model = self.model()
        dist._register_comm_hook(model.reducer, self.state, inart.torch.all_reduce_hook)
        with self.assertRaisesRegex(RuntimeError, "AssignmentError: the DDP model of these gradients is not known"):
            self.backward(model)

    def test_a_bucket_has_the_states_timeout(self):
        model = self.model()
        state = inart.torch.HookState(worker=self.state.worker, timeout=7.0)
        model.register_comm_hook(state, inart.torch.all_reduce_hook)
        start = state._completer.start
        with mock.patch.object(state._completer, "start", side_effect=start) as started:
            self.backward(model)
        self.assertEqual(started.call_args.args[1:], (1, 7.0, "bucket 0"))
        state.label = 3
        with mock.patch.object(state._completer, "start", side_effect=start) as started:
            self.backward(model)
        self.assertEqual(started.call_args.args[1:], (1, 7.0, "bucket 0 of 3"))

    def test_uneven_inputs_are_refused_where_the_mean_would_be_that_of_other_ranks(self):
        model = self.model()
        model.register_comm_hook(self.state, inart.torch.all_reduce_hook)
        with model.join():
            self.assertEqual(self.backward(model), [[5.0] * 3])
        with self.assertRaisesRegex(RuntimeError, "without divide_by_initial_world_size=False"):
            with model.join(divide_by_initial_world_size=False):
                self.backward(model)


class Gradients(unittest.TestCase):
    """Arguments that ``all_reduce_gradients`` rejects before anything is sent."""

    def test_parameters_that_cannot_be_summed_are_named(self):
        sparse = torch.nn.Embedding(4, 2, sparse=True)
        sparse(torch.tensor([1])).sum().backward()
        frozen = torch.nn.Linear(2, 2).requires_grad_(False)
        wide = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2).double())
        with mock.patch.object(_elastic, "_elastic", lambda _: None):
            for model, message in [
                (sparse, "gradient of parameter weight has layout torch.sparse_coo"),
                (frozen, "no parameter of the model requires a gradient"),
                (wide, "parameter 1.weight is of torch.float64"),
            ]:
                with self.assertRaisesRegex(inart.TensorError, message):
                    inart.torch.all_reduce_gradients(model)


class States(unittest.TestCase):
    """Arguments that ``inart.torch.load_state`` passes to the job: another job's words take their place here."""

    def load(self, own, newest):
        """Loads the state of ``newest`` into ``own``."""
        kept = []

        class Job:
            def _load(self, words, layout):
                if kept:
                    for word, new in zip(words, kept):
                        word.copy_(new)
                kept.extend(word.clone() for word in words)

        job = Job()
        with mock.patch.object(_elastic, "_elastic", lambda _: job):
            inart.torch.load_state(*newest)
            inart.torch.load_state(*own)

    def state(self, seed):
        torch.manual_seed(seed)
        model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.BatchNorm1d(7))
        model(torch.randn(4, 5))
        model[1].num_batches_tracked += 3_000_000_000 * seed
        model.register_buffer("mask", torch.rand(3) > 0.5)
        model.register_buffer("mean", torch.randn(3, dtype=torch.float64))
        model.register_buffer("wide", torch.randn(3, 1).expand(3, 4))
        with torch.inference_mode():
            model.register_buffer("inferred", torch.randn(4).to(torch.float16))
            model.register_buffer("complex", torch.randn(2, dtype=torch.complex64).conj())
        others = [
            torch.randn(5).to(torch.bfloat16),
            torch.randn(4, 3).t(),
            torch.randint(-128, 127, (7,), dtype=torch.int8),
            torch.tensor([float("nan"), -0.0]),
            torch.tensor(seed),
            torch.zeros(0),
        ]
        return [model, *others]

    @staticmethod
    def bits(state):
        model, *others = state
        tensors = [*model.parameters(), *model.buffers(), *others]
        plain = [x.detach().resolve_conj().contiguous().view(-1) for x in tensors if x.numel()]
        return [x.view(torch.uint8).tolist() for x in plain]

    def test_all_buffers_and_types_are_loaded_to_the_bit(self):
        own, newest = self.state(1), self.state(2)
        self.assertNotEqual(self.bits(own), self.bits(newest))
        right_bits = self.bits(newest)
        self.load(own, newest)
        self.assertEqual(self.bits(own), right_bits)
        self.assertGreater(own[0][1].num_batches_tracked.item(), 6_000_000_000)

    def test_what_cannot_be_loaded_is_refused_by_name(self):
        model = torch.nn.Linear(2, 2)
        model.register_buffer("far", torch.zeros(2, device="meta"))
        with self.assertRaisesRegex(inart.TensorError, "far of Linear is torch.float32 on meta"):
            self.load([model], [model])


if __name__ == "__main__":
    unittest.main()
