"""The greatest difference of weights that two folders hold for each script, as JSON: compares.py FOLDER FOLDER."""

import json
import sys
from pathlib import Path

import torch


def flat(state):
    for value in state.values():
        yield from flat(value) if isinstance(value, dict) else [value]


found = {}
for path in sorted(Path(sys.argv[1]).glob("*/weights.pt")):
    pairs = list(zip(flat(torch.load(path)), flat(torch.load(Path(sys.argv[2]) / path.parent.name / path.name)), strict=True))
    found[path.parent.name] = max(float((own - other).abs().max()) for own, other in pairs)
print(json.dumps(found))
