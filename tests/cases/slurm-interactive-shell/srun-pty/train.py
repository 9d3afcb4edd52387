trainer = pl.Trainer(gpus=4, accelerator='ddp')
