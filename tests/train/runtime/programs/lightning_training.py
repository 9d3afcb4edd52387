"""A Lightning training that sends itself a signal at a step; prints what it read and its weights.

lightning_training.py FOLDER STEP_OF_SIGNAL DEVICES
"""

import json
import os
import signal
import sys
import warnings

import lightning.pytorch as pl
import torch

from rigup.train import ResumableLoader, recorder, requeue, trainer_args

FOLDER, AT, DEVICES = sys.argv[1], *map(int, sys.argv[2:])
warnings.simplefilter("ignore")


class Numbers(torch.utils.data.Dataset):
    def __len__(self):
        return 61

    def __getitem__(self, index):
        return index, torch.full((8,), index / 61) + torch.rand(8)


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Dropout(0.2), torch.nn.Linear(16, 1))
        self.read = []

    def training_step(self, batch, batch_idx):
        self.read.append([self.current_epoch, *batch[0].tolist()])
        if self.global_step == AT and self.global_rank == DEVICES - 1:
            os.kill(os.getpid(), signal.SIGUSR1)
        return self.layers(batch[1]).square().mean()

    def validation_step(self, batch, batch_idx):
        self.log("val", self.layers(batch[1]).square().mean(), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), 0.01)


def main():
    pl.seed_everything(1)
    model, again = Model(), requeue(FOLDER)
    loader = ResumableLoader(Numbers(), 4, shuffle=True, seed=3)
    noted = recorder(os.path.join(FOLDER, "history"))
    trainer = pl.Trainer(
        **trainer_args(accelerator="cpu", devices=DEVICES),
        max_epochs=3,
        callbacks=[noted, again],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    try:
        trainer.fit(model, loader, torch.utils.data.DataLoader(Numbers(), 16), ckpt_path=again.ckpt_path)
    finally:
        weights = [round(float(w.detach().double().sum()), 10) for w in model.parameters()]
        with open(os.path.join(FOLDER, f"told-{model.global_rank}.json"), "w") as file:
            json.dump(
                {"read": model.read, "weights": weights, "count": trainer.global_step, "bottleneck": noted.recording.bottleneck.kind}, file
            )


if __name__ == "__main__":
    main()
