trainer = L.Trainer(devices=2, num_nodes=1, accelerator='gpu', strategy='ddp', max_epochs=3)
