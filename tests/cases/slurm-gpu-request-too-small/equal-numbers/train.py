trainer = Trainer(devices=4, num_nodes=2, accelerator='gpu', strategy='ddp')
