"""The network as it is written in plain torch, and around it what Lightning asks for."""

import lightning.pytorch as pl
import torch
from torch import nn


class Network(nn.Module):
    """Plain torch: nothing in it knows of Lightning, of devices or of other processes."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(512, classes),
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Logits (batch, classes) of pictures (batch, 1, 16, 16)."""
        return self.layers(images)


class Training(pl.LightningModule):
    """The body of a plain training loop: the loss of a batch, and the optimizer."""

    def __init__(self, network: nn.Module, rate: float = 1e-3) -> None:
        super().__init__()
        self.network, self.rate = network, rate

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], _number: int) -> torch.Tensor:
        images, classes = batch
        loss = nn.functional.cross_entropy(self.network(images), classes)
        self.log("loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: tuple[torch.Tensor, torch.Tensor], _number: int) -> None:
        images, classes = batch
        right = (self.network(images).argmax(1) == classes).float().mean()
        self.log("accuracy", right, prog_bar=True, sync_dist=True, batch_size=len(classes))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), self.rate)
