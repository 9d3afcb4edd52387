import os
import torch
import torch.distributed as dist

rank, world = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
print(f"rank {rank} of {world} on {os.environ['SLURMD_NODENAME']}", flush=True)
dist.init_process_group("nccl", rank=rank, world_size=world)
