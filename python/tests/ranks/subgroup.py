"""A rank whose DDP model has a process group of fewer ranks than the job."""

import gc

import torch
import torch.distributed as dist
from report import tell

import inart.torch


def gradient(process_group: dist.ProcessGroup, state: inart.torch.HookState) -> float:
    model = torch.nn.Linear(1, 1, bias=False)
    ddp = torch.nn.parallel.DistributedDataParallel(model, process_group=process_group)
    ddp.register_comm_hook(state, inart.torch.all_reduce_hook)
    # Programs do that before they fork.
    gc.freeze()
    try:
        ddp(torch.full((1, 1), 5.0)).sum().backward()
    finally:
        gc.unfreeze()
    return model.weight.grad.item()


dist.init_process_group("gloo")
groups = [dist.new_group([0, 1]), dist.new_group([2])]
own = groups[dist.get_rank() // 2]
refused = None
try:
    gradient(own, inart.torch.HookState())
except RuntimeError as error:
    refused = str(error)
alone = None
if dist.get_world_size(own) == 1:
    (worker,) = inart.local(1)
    alone = gradient(own, inart.torch.HookState(worker, own))
dist.barrier()
tell(refused=refused, alone=alone)
