from lightning.pytorch import Trainer
trainer = Trainer(accelerator="gpu", devices=1, max_epochs=10)
