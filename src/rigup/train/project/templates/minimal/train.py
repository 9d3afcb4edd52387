"""Train: `python train.py` on what is here, `sbatch job.sbatch` on many."""

import argparse

import lightning.pytorch as pl
from data import pictures
from model import Network, Training
from torch.utils.data import DataLoader

from rigup.train import ResumableLoader, recorder, requeue, trainer_args


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """What may be said on the command line."""
    parser = argparse.ArgumentParser(description="Train a classifier of pictures.")
    parser.add_argument("--data", help="a folder with a folder of pictures for each class; else shapes are drawn")
    parser.add_argument("--folder", default="run", help="the folder for checkpoints and figures; all nodes see it")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=32, help="of each process")
    parser.add_argument("--rate", type=float, default=2e-3, help="learning rate")
    parser.add_argument("--workers", type=int, default=0, help="processes that read data, for each GPU")
    parser.add_argument("--accelerator", default="auto", choices=["auto", "gpu", "mps", "cpu"])
    parser.add_argument("--devices", type=int, help="processes on each node; else what the job gives")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> float:
    """Train, and return the accuracy on pictures that were not trained on."""
    given = arguments(words)
    pl.seed_everything(0, workers=True)
    training, judged, names = pictures(given.data)
    loader = ResumableLoader(training, given.batch_size, shuffle=True, num_workers=given.workers)
    model = Training(Network(len(names)), given.rate)
    again = requeue(given.folder)
    trainer = pl.Trainer(
        **trainer_args(accelerator=given.accelerator, devices=given.devices),
        max_epochs=given.epochs,
        default_root_dir=given.folder,
        callbacks=[recorder(), again],
    )
    trainer.fit(model, loader, DataLoader(judged, 256), ckpt_path=again.ckpt_path)
    accuracy = float(trainer.callback_metrics["accuracy"])
    trainer.print(f"accuracy {accuracy:.3f}")
    return accuracy


if __name__ == "__main__":
    main()
