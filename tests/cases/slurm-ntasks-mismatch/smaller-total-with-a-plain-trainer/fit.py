from lightning import Trainer
trainer = Trainer(max_epochs=3)
