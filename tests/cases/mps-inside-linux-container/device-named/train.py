device = torch.device("mps")
model.to(device)
