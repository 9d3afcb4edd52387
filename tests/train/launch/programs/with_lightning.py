"""Lightning: the net and the data of plain_ddp.py, all of it a step, for Lightning shuffles; each rank writes its gradients and what it saw."""

import json
import os
import sys
from pathlib import Path

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

out, epochs, devices, nodes = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
torch.set_num_threads(1)
torch.manual_seed(0)


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1)).double()
        self.seen, self.gradient = [], []

    def training_step(self, batch, _number):
        index, x, y = batch
        self.seen = index.tolist()
        return torch.nn.functional.mse_loss(self.net(x), y)

    def on_after_backward(self):
        self.gradient = torch.cat([parameter.grad.flatten() for parameter in self.parameters()]).tolist()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


numbers = torch.randn(64, 8, generator=torch.Generator().manual_seed(1), dtype=torch.double)
data = TensorDataset(torch.arange(64), numbers, numbers.sum(1, keepdim=True).sin())
module = Module()
trainer = lightning.Trainer(
    accelerator="cpu",
    devices=devices,
    num_nodes=nodes,
    strategy="ddp" if devices * nodes > 1 else "auto",
    max_epochs=epochs,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(module, DataLoader(data, batch_size=64 // (devices * nodes)))
weights = torch.cat([parameter.detach().flatten() for parameter in module.parameters()])
environment = type(getattr(trainer.strategy, "cluster_environment", None)).__name__
told = {
    "rank": trainer.global_rank,
    "world": trainer.world_size,
    "node": os.environ.get("SLURMD_NODENAME"),
    "seen": module.seen,
    "gradient": module.gradient,
    "weights": weights.tolist(),
    "environment": environment,
}
(out / f"rank{trainer.global_rank}.json").write_text(json.dumps(told))
