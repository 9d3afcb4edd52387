trainer = pl.Trainer(accelerator='gpu', devices=2, strategy='ddp')
