"""Counts a step a second over numbers in a shuffled order; at the signal it writes where it is, and goes on from there in the next attempt, at once."""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

out, rank, signals = Path(sys.argv[1]), int(os.environ["RANK"]), []
signal.signal(getattr(signal, os.environ["RIGUP_CHECKPOINT_SIGNAL"]), lambda number, _frame: signals.append(number))
checkpoint = Path(os.environ["RIGUP_RUN_FOLDER"]) / f"checkpoint{rank}.json"
state = json.loads(checkpoint.read_text()) if checkpoint.exists() else {"step": 0, "seen": []}
order = random.Random(7).sample(range(400), 400)[rank :: int(os.environ["WORLD_SIZE"])]
for number in order[state["step"] :]:
    if signals:
        checkpoint.write_text(json.dumps(state))
        Path(os.environ["RIGUP_REQUEUE_FILE"]).touch()
        print("rank", rank, "is at step", state["step"], flush=True)
        sys.exit(0)
    state = {"step": state["step"] + 1, "seen": [*state["seen"], number]}
    time.sleep(1.0 if os.environ["RIGUP_ATTEMPT"] == "1" else 0.0)
(out / f"seen{rank}.json").write_text(json.dumps(state["seen"]))
