"""A plain torch training that sends itself a signal at a step, on one rank; prints what it read and its weights.

plain_training.py FOLDER STEP_OF_SIGNAL RANK_OF_SIGNAL WORKERS
"""

import json
import os
import random
import signal
import sys
import time

import torch
from torch import distributed, nn

from rigup.train import Checkpoints, Recording, ResumableLoader

FOLDER, AT, RANK, WORKERS = sys.argv[1], *map(int, sys.argv[2:])


class Numbers(torch.utils.data.Dataset):
    """Samples with a random part, as images are turned and cut."""

    def __len__(self):
        return 61

    def __getitem__(self, index):
        return index, torch.full((8,), index / 61) + torch.rand(8) + random.random()


def main():
    if "RANK" in os.environ:
        distributed.init_process_group("gloo")
    torch.manual_seed(0)
    random.seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.2), nn.Linear(16, 1))
    rank = distributed.get_rank() if distributed.is_initialized() else 0
    whole = nn.parallel.DistributedDataParallel(model) if distributed.is_initialized() else model
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    loader = ResumableLoader(Numbers(), 4, shuffle=True, seed=3, num_workers=WORKERS)
    read = []
    with (
        Checkpoints(FOLDER, model=whole, optimizer=optimizer, loader=loader) as checkpoints,
        Recording(os.path.join(FOLDER, "history"), model=whole) as recording,
    ):
        try:
            while loader.epoch < 3:
                for index, x in recording.steps(loader):
                    read.append([loader.epoch, *index.tolist()])
                    whole(x).square().mean().backward()
                    optimizer.step()
                    optimizer.zero_grad()
                    if checkpoints.count == AT and rank == RANK:
                        os.kill(os.getpid(), signal.SIGUSR1)
                    checkpoints.step()
        finally:
            weights = [round(float(w.detach().double().sum()), 12) for w in model.parameters()]
            with open(os.path.join(FOLDER, f"told-{rank}.json"), "w") as file:
                json.dump({"read": read, "weights": weights, "count": checkpoints.count, "resumed": checkpoints.resumed}, file)
            if distributed.is_initialized():
                distributed.destroy_process_group()
                time.sleep(0.2)  # until gloo's threads let go of the last tensors: see rigup.train.runtime.ranks


if __name__ == "__main__":
    main()
