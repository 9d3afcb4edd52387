trainer = Trainer(devices=1, accelerator='gpu')
