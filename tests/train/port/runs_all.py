"""Runs every script of a folder, each in a folder of its own below another: runs_all.py SCRIPTS FOLDER."""

import os
import random
import runpy
import sys
from pathlib import Path

scripts, folder = map(Path, sys.argv[1:3])
for script in sorted(scripts.glob("*.py")):
    here = folder / script.stem
    here.mkdir(exist_ok=True, parents=True)
    os.chdir(here)
    sys.argv = [str(script)]
    random.seed(0)
    try:
        runpy.run_path(str(script), run_name="__main__")
    except Exception as error:
        raise RuntimeError(f"{script.stem} does not run") from error
