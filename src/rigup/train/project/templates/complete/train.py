"""Train: `python train.py` on what is here, `sbatch job.sbatch` on many."""

import argparse

import lightning.pytorch as pl
from datamodule import Pictures
from lightning.pytorch.callbacks import ModelCheckpoint
from model import Classifier

from rigup.train import recorder, requeue, trainer_args


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """What may be said on the command line."""
    parser = argparse.ArgumentParser(description="Train a classifier of pictures.")
    parser.add_argument("--data", help="a folder with a folder of pictures for each class; else shapes are drawn")
    parser.add_argument("--folder", default="run", help="the folder for checkpoints and figures; all nodes see it")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=32, help="of each process")
    parser.add_argument("--width", type=int, default=16, help="channels of the first layer")
    parser.add_argument("--rate", type=float, default=5e-3, help="the highest learning rate")
    parser.add_argument("--workers", type=int, default=0, help="processes that read data, for each GPU")
    parser.add_argument("--accelerator", default="auto", choices=["auto", "gpu", "mps", "cpu"])
    parser.add_argument("--devices", type=int, help="processes on each node; else what the job gives")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> float:
    """Train, and return the accuracy of the best checkpoint on pictures that were never looked at before."""
    given = arguments(words)
    pl.seed_everything(0, workers=True)
    data = Pictures(given.data, given.batch_size, given.workers)
    model = Classifier(len(data.names), given.width, given.rate)
    again = requeue(given.folder)
    best = ModelCheckpoint(monitor="val_accuracy", mode="max", filename="best", enable_version_counter=False)
    trainer = pl.Trainer(
        **trainer_args(accelerator=given.accelerator, devices=given.devices),
        max_epochs=given.epochs,
        default_root_dir=given.folder,
        callbacks=[recorder(), again, best],
    )
    trainer.fit(model, datamodule=data, ckpt_path=again.ckpt_path)
    (figures,) = trainer.test(model, datamodule=data, ckpt_path=best.best_model_path)
    trainer.print(f"accuracy {figures['test_accuracy']:.3f}")
    return figures["test_accuracy"]


if __name__ == "__main__":
    main()
