"""The data as a LightningDataModule: what is read once, what each process has, and the loaders."""

import lightning.pytorch as pl
from data import pictures
from torch.utils.data import DataLoader, random_split

from rigup.train import ResumableLoader


class Pictures(pl.LightningDataModule):
    """Pictures to train on, to judge by while training, and to test with at the end.

    Args:
        folder: with a folder of pictures for each class; without it shapes are drawn.
        batch_size: of each process.
        workers: processes that read data, for each process that trains.

    """

    def __init__(self, folder: str | None = None, batch_size: int = 32, workers: int = 0) -> None:
        super().__init__()
        self.folder, self.batch_size, self.workers = folder, batch_size, workers
        training, held_out, self.names = pictures(folder)
        self.training = training
        self.judged, self.tested = random_split(held_out, [len(held_out) - len(held_out) // 2, len(held_out) // 2])

    def train_dataloader(self) -> ResumableLoader:
        """A part of the epoch for each process, which goes on at the very batch after a resume."""
        return ResumableLoader(self.training, self.batch_size, shuffle=True, num_workers=self.workers)

    def val_dataloader(self) -> DataLoader:
        return DataLoader(self.judged, 256, num_workers=self.workers)

    def test_dataloader(self) -> DataLoader:
        return DataLoader(self.tested, 256, num_workers=self.workers)

    def predict_dataloader(self) -> DataLoader:
        return self.test_dataloader()
