#!/usr/bin/env python3
"""Real `rigup apply` runs, each held against its plan: to the last version, and within a tenth of its size.

    benchmarks/applies.py [--rigup COMMAND] [--only WORD]

Each row of WISHES is applied in a fresh environment of a fresh folder, its later parts to what the earlier ones made, and
then taken back. It asks the indexes that this machine is set up to ask, and needs some gigabytes of disk while it runs.
A wish that cannot be resolved here is right if nothing is changed and the plan says why. Exit status 0 when all are right.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TORCH = "torch==2.13.0"  # of which many machines that build have a file
WISHES = [
    ["numpy"],
    ["scikit-learn"],
    ["pandas", "matplotlib"],
    ["onnxruntime"],
    ["jax"],
    ["jax flax"],
    ["tensorflow"],
    ["sentencepiece"],
    ["faster-whisper"],
    ["openvino"],
    ["llama-cpp-python"],
    ["paddlepaddle"],
    ["spacy"],
    ["opencv-python"],
    ["onnxruntime transformers"],
    [TORCH],
    [f"{TORCH} einops", "transformers"],
    [f"{TORCH} accelerate"],
    [f"{TORCH} lightning", "pandas"],
    [f"{TORCH} timm"],
    [f"{TORCH} peft", "datasets"],
    [f"{TORCH} diffusers"],
    [f"{TORCH} sentence-transformers"],
    [f"{TORCH} torchmetrics", "einops", "numpy<2"],
    [f"{TORCH} gpytorch"],
    [f"{TORCH} --with-rigup", "safetensors"],
    [f"{TORCH} captum", "ipykernel"],
    ["no-such-package-of-anybody"],
    [f"{TORCH} tokenizers sentencepiece"],
    [f"{TORCH} torch-scatter"],
    ["xgboost", "scikit-learn"],
    ["keras jax"],
    ["statsmodels", "numpy<2"],
    ["lightgbm pyarrow"],
    [f"{TORCH} ultralytics"],
    ["scipy==1.11.4", "numpy==2.2.0"],
    ["numpy==2.1.3", "numpy==1.26.4"],
    ["'httpx[http2]'"],
    ["--python 3.13 einops"],
    ["docopt==0.6.2"],
]


def frozen(python: Path) -> dict[str, str]:
    """What pip says is installed, by canonical name; what comes with the environment itself is left out."""
    said = subprocess.run([python, "-m", "pip", "list", "--format", "json"], capture_output=True, text=True, check=True)
    rows = {row["name"].lower().replace("_", "-").replace(".", "-"): row["version"] for row in json.loads(said.stdout)}
    return {name: version for name, version in rows.items() if name not in ("pip", "setuptools", "wheel")}


def size(folder: Path) -> int:
    """Bytes on the disk."""
    seen = {}
    for path in folder.rglob("*"):
        told = path.lstat()
        seen[told.st_ino] = told.st_blocks * 512
    return sum(seen.values())


def run(command: list[str], words: str, folder: Path, *more: str) -> tuple[int, str]:
    """A command of rigup in a folder."""
    env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "VIRTUAL_ENV": ""}
    done = subprocess.run([*command, *shlex.split(words), *more], cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout if "--json" in more else done.stdout + done.stderr


def one(command: list[str], wish: str, folder: Path) -> list[str]:
    """What is wrong with one apply; nothing where all is as it should be."""
    env = folder / "env"
    before, weighed = (frozen(env / "bin/python"), size(env)) if env.is_dir() else ({}, 0)
    plan = json.loads(run(command, "plan " + wish, folder, "--env", str(env), "--json")[1])
    status, said = run(command, "apply " + wish, folder, "--env", str(env), "--yes")
    told = plan["resolution"] or {}
    if status and not told.get("whole"):
        changed = before != (frozen(env / "bin/python") if env.is_dir() else {})
        said_why = bool(told.get("because") or told.get("refused"))
        return ["it failed, and changed something"] * changed + ["nobody says why"] * (not said_why)
    if status:
        return [said[-600:]]
    extra = {"rigup-torch": plan["packages"]["rigup-torch"]} if "rigup-torch" in plan["packages"] else {}
    wanted = before | {row["name"]: row["version"] for row in told["packages"]} | extra
    have = frozen(env / "bin/python")
    wrong = [
        f"{name}: planned {wanted.get(name)}, there {have.get(name)}"
        for name in {*wanted, *have} - {"setuptools", "wheel"}
        if wanted.get(name) != have.get(name)
    ]
    grown, planned = size(env) - weighed, plan["cost"]["disk_bytes"]
    off = abs(grown - planned) / max(grown, 1)
    unknown = bool(plan["cost"]["not_counted"]) or any(before.get(name, version) != version for name, version in wanted.items())
    small = abs(grown - planned) < 3_000_000
    print(f"    {wish}: planned {planned / 1e6:.0f} MB, there {grown / 1e6:.0f} MB ({off:.0%})", flush=True)
    return wrong + ([f"planned {planned} bytes, there {grown}"] if off > 0.1 and not small and not unknown else [])


def main() -> int:
    """Run them."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--rigup", default=f"{sys.executable} -m rigup")
    ask.add_argument("--only", default="")
    args = ask.parse_args()
    command, bad, count = shlex.split(args.rigup), 0, 0
    for wishes in (row for row in WISHES if args.only in " ".join(row)):
        folder = Path(tempfile.mkdtemp(prefix="rigup-applies-"))
        applied = 0
        try:
            for wish in wishes:
                began = time.monotonic()
                count += 1
                found = one(command, wish, folder)
                applied += (folder / "env").is_dir()
                bad += bool(found)
                print(f"{'WRONG' if found else 'right'}  {wish}  {time.monotonic() - began:.0f} s  {'; '.join(found)}", flush=True)
            while run(command, "undo", folder, "--yes")[0] == 0:
                pass
            left = [path.name for path in folder.iterdir() if path.name != "state"]
            bad += bool(left)
            print(f"{'WRONG' if left else 'right'}  undo of {len(wishes)}  {left or ''}", flush=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{count} runs over {len(WISHES)} wishes, {bad} wrong")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
