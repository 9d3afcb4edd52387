import os
import torch
from fastapi import FastAPI

DEVICE = os.environ.get("DEVICE") or ("mps" if torch.backends.mps.is_available() else "cpu")
model = torch.nn.Linear(8, 8).to(DEVICE)
app = FastAPI()
