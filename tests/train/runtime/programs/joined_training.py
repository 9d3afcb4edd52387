"""A plain torch training by rigup.train.join; prints its weights and losses. joined_training.py FOLDER"""

import json
import sys

import torch
from torch import nn

from rigup.train import AllocationError, ResumableLoader, join
from rigup.train.runtime.ranks import first_node

ranks = join("cpu")
torch.manual_seed(ranks.rank)  # the first process's weights are everybody's
data = torch.utils.data.TensorDataset(torch.arange(480.0).reshape(60, 8) / 480)
refused = ""
try:
    ranks.share(7)
except AllocationError as error:
    refused = str(error)
assert ("multiple of 2" in refused) == (ranks.world_size == 2)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
model.note = "kept"
model = ranks.parallel(model)
assert model.note == "kept"
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
loader = ResumableLoader(data, ranks.share(12), shuffle=True, seed=5)
losses = []
for _epoch in range(3):
    for (x,) in loader:
        loss = (model(x) - x.mean(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(ranks.mean(loss).item())
ranks.save(model.state_dict(), sys.argv[1] + "/model.pt")
state = torch.load(sys.argv[1] + "/model.pt", weights_only=True)  # there for all, as nobody comes here before
ranks.bare(model).load_state_dict(state)
try:
    ranks.save(state, sys.argv[1] + "/no/model.pt")
except OSError:
    failed = True
else:
    failed = False
assert failed, "a folder that is not there was written into"
assert first_node("gpu[03-05,9],x") == "gpu03"
ranks.print(json.dumps({"losses": losses, "weights": {k: v.flatten().tolist() for k, v in state.items()}}))
