"""The network, its training, its figures and its schedule, as a LightningModule that a checkpoint can make again."""

import lightning.pytorch as pl
import torch
from torch import nn


class Classifier(pl.LightningModule):
    """Classes of pictures (batch, 1, 16, 16).

    Args:
        classes: how many there are.
        width: channels of the first layer.
        rate: the highest learning rate.

    """

    def __init__(self, classes: int = 4, width: int = 16, rate: float = 2e-3) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layers = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(32 * width, classes),
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits (batch, classes)."""
        return self.layers(images)

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], _number: int) -> torch.Tensor:
        images, classes = batch
        loss = nn.functional.cross_entropy(self(images), classes)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: tuple[torch.Tensor, torch.Tensor], _number: int) -> None:
        self._judge(batch, "val")

    def test_step(self, batch: tuple[torch.Tensor, torch.Tensor], _number: int) -> None:
        self._judge(batch, "test")

    def _judge(self, batch: tuple[torch.Tensor, torch.Tensor], stage: str) -> None:
        """Figures of all processes together: sync_dist."""
        images, classes = batch
        logits = self(images)
        right = (logits.argmax(1) == classes).float().mean()
        loss = nn.functional.cross_entropy(logits, classes)
        self.log(f"{stage}_loss", loss, sync_dist=True, batch_size=len(classes))
        self.log(f"{stage}_accuracy", right, prog_bar=True, sync_dist=True, batch_size=len(classes))

    def predict_step(self, batch: tuple[torch.Tensor, torch.Tensor], _number: int) -> torch.Tensor:
        return self(batch[0]).argmax(1)

    def configure_optimizers(self) -> dict:
        optimizer = torch.optim.AdamW(self.parameters(), self.hparams.rate)
        steps = self.trainer.estimated_stepping_batches
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, self.hparams.rate, total_steps=steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}
