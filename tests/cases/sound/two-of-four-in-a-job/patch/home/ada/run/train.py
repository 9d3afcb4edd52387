import lightning as L
from model import Net, data

trainer = L.Trainer(accelerator="gpu", devices=2, strategy="ddp", num_nodes=1)
trainer.fit(Net(), data())
