"""Plain DDP: trains a little net on its share of the data; each rank writes its gradients and what it saw."""

import json
import os
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

out, steps = Path(sys.argv[1]), int(sys.argv[2])
torch.set_num_threads(1)
torch.manual_seed(0)
if int(os.environ.get("WORLD_SIZE", "1")) > 1:
    dist.init_process_group("gloo")
rank, world = (dist.get_rank(), dist.get_world_size()) if dist.is_initialized() else (0, 1)
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).double()
model = DistributedDataParallel(net) if world > 1 else net
numbers = torch.randn(64, 8, generator=torch.Generator().manual_seed(1), dtype=torch.double)
data = TensorDataset(torch.arange(64), numbers, numbers.sum(1, keepdim=True).sin())
sampler = DistributedSampler(data, num_replicas=world, rank=rank, shuffle=False)
loader = DataLoader(data, batch_size=16 // world, sampler=sampler)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
seen = []
for step, (index, x, y) in enumerate(loader):
    if step == steps:
        break
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    seen += index.tolist()
flat = torch.cat([parameter.grad.flatten() for parameter in net.parameters()])
weights = torch.cat([parameter.detach().flatten() for parameter in net.parameters()])
told = {
    "rank": rank,
    "world": world,
    "node": os.environ.get("SLURMD_NODENAME"),
    "seen": seen,
    "gradient": flat.tolist(),
    "weights": weights.tolist(),
}
(out / f"rank{rank}.json").write_text(json.dumps(told))
print("rank", rank, "of", world, "is done", flush=True)
if dist.is_initialized():
    dist.destroy_process_group()
    time.sleep(0.2)  # until gloo's threads let go of the last tensors: see rigup.train.runtime.ranks
