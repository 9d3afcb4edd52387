"""Training scripts and batch scripts of tests, made of parts."""

from rigup.train.check.check import Files, judged
from rigup.train.check.cluster import partitions_of

DDP = """
import os, argparse
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler
from torch.nn.parallel import DistributedDataParallel as DDP


class Numbers(Dataset):
    def __len__(self): return 10
    def __getitem__(self, i): return torch.tensor([float(i)])


def main():
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    train = Numbers()
    sampler = DistributedSampler(train)
    loader = DataLoader(train, batch_size=4, sampler=sampler, num_workers=2)
    model = DDP(torch.nn.Linear(1, 1).cuda(), device_ids=[local])
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        for x in loader:
            loss = model(x.cuda()).sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            torch.save(model.module.state_dict(), "last.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
"""

BY_SLURM = DDP.replace(
    'dist.init_process_group("nccl")',
    'dist.init_process_group("nccl", rank=int(os.environ["SLURM_PROCID"]), world_size=int(os.environ["SLURM_NTASKS"]))',
).replace("LOCAL_RANK", "SLURM_LOCALID")

LIGHTNING = """
import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset
from lightning.pytorch.callbacks import ModelCheckpoint


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, _):
        loss = self.layer(batch[0]).sum()
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("val", self.layer(batch[0]).sum(), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def main():
    data = TensorDataset(torch.zeros(8, 1))
    trainer = L.Trainer(accelerator="gpu", devices=4, num_nodes=1, strategy="ddp", callbacks=[ModelCheckpoint(monitor="val")])
    trainer.fit(Net(), DataLoader(data, 4, shuffle=True, num_workers=2), DataLoader(data, 4))


if __name__ == "__main__":
    main()
"""

ONE = """
import torch


def main():
    model = torch.nn.Linear(1, 1).cuda()
    opt = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(5):
        loss = model(torch.zeros(4, 1).cuda()).sum()
        loss.backward()
        opt.step()
        torch.save(model.state_dict(), "last.pt")


if __name__ == "__main__":
    main()
"""

CLUSTER = """{"partitions": {"old": {"nodes": 4, "gpus_per_node": 4, "gpu": "v100", "cpus_per_node": 40, "memory_gb": 180, "max_time": "1-00:00:00"},
"amd": {"nodes": 4, "gpus_per_node": 8, "gpu": "mi50", "cpus_per_node": 64, "memory_gb": 250, "max_time": "2-00:00:00"},
"new": {"nodes": 4, "gpus_per_node": 4, "gpu": "a100", "cpus_per_node": 64, "memory_gb": 500, "max_time": "2-00:00:00"},
"plain": {"nodes": 9, "gpus_per_node": 0, "gpu": null, "cpus_per_node": 128, "memory_gb": 250, "max_time": "2-00:00:00"}}}"""

TORCHRUN = "torchrun --standalone --nproc_per_node=4 train.py"
JOB = ("--nodes=1", "--ntasks-per-node=1", "--gpus-per-node=4", "--cpus-per-task=16", "--time=01:00:00")
TASKS = ("--nodes=1", "--ntasks-per-node=4", "--gpus-per-node=4", "--cpus-per-task=4", "--time=01:00:00")


def batch(*lines: str, options: tuple[str, ...] = JOB, first: str = "#!/bin/bash") -> str:
    """A batch script: directives, then an activated environment, then lines."""
    head = [first, *(f"#SBATCH {option}" for option in options)]
    return "\n".join([*head, "source /envs/torch/bin/activate", *lines, ""])


def found(
    script: str, job: str = "", cluster: str = "", beside: dict[str, str] | None = None, folders: tuple[str, ...] = (), pins: str = ""
):
    """The findings of a pair, notes left out."""
    files = Files(
        script="train.py",
        text=script,
        beside=(beside or {}).get,
        batch="job.sbatch" if job else "",
        batch_text=job,
        beside_batch=(beside or {}).get,
        folders=frozenset(folders),
        pins=lambda: pins,
    )
    return [each for each in judged(files, partitions_of(cluster) if cluster else {}).findings if each.severity != "note"]


def causes(*arguments, **words) -> set[str]:
    """Their ids."""
    return {each.cause for each in found(*arguments, **words)}
