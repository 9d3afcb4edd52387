"""What the tests of collecting share: shells that are here, a machine of our own making, a script that is run."""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from loopback_ssh import program
from rigup.machine.file_names import plain

SHELLS = {"dash": ["dash"], "bash": ["bash"], "busybox ash": ["busybox", "sh"], "zsh": ["zsh"]}
APPLETS = [
    "awk",
    "cat",
    "date",
    "dd",
    "echo",
    "env",
    "grep",
    "head",
    "id",
    "kill",
    "ls",
    "mkdir",
    "od",
    "printf",
    "ps",
    "read",
    "readlink",
    "sed",
    "sh",
    "sleep",
    "sort",
    "tail",
    "test",
    "timeout",
    "tr",
    "true",
    "uname",
    "uniq",
    "xargs",
]


def need(program):
    """The path of a program; without it the test is skipped, and says for what."""
    return shutil.which(program) or pytest.skip(program + " is not installed here")


def shell(name):
    """The command of a shell that is here."""
    need(SHELLS[name][0])
    return SHELLS[name]


def ran(script, root="", programs="", environment=(), by=("sh",), path="/usr/bin:/bin", cwd=None, seconds=60):
    """What a script prints that is run over standard input, as ssh does."""
    told = {"PATH": path, "RIGUP_ROOT": str(root), "RIGUP_PATH": str(programs), **dict(environment)}
    told = {name: value for name, value in told.items() if value}
    done = subprocess.run([*by, "-s"], input=script.encode(), capture_output=True, env=told, timeout=seconds, cwd=cwd, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def programs_of(root, folder):
    """Programs that print what was recorded in a tree."""
    folder.mkdir()
    told = json.loads((root / "commands.json").read_text()) if (root / "commands.json").exists() else []
    bodies = {}
    for number, said in enumerate(told):
        (folder / f"{number}.txt").write_text((said.get("stdout") or "") + (said.get("stderr") or ""))
        words = shlex.quote(" ".join(said["argv"][1:]))
        line = f'if [ "$*" = {words} ]; then /bin/cat {folder}/{number}.txt; exit {said.get("exit") or 0}; fi'
        bodies.setdefault(os.path.basename(said["argv"][0]), []).append(line)
    for name, lines in bodies.items():
        program(folder, name, "\n".join([*lines, "exit 1"]))
    return folder


def write(root, path, body):
    """One file below a root."""
    target = Path(root, path.lstrip("/"))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(body if isinstance(body, bytes) else body.encode())


CARD = "sys/bus/pci/devices/0000:03:00.0/"


def small_machine(tmp_path):
    """A small machine: one AMD card that is awake, one environment, a notebook's kernel."""
    root = tmp_path / "root"
    for name, body in {"class": "0x030000", "vendor": "0x1002", "device": "0x744c", "revision": "0xc8"}.items():
        write(root, CARD + name, body + "\n")
    write(root, CARD + "uevent", "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SLOT_NAME=0000:03:00.0\n")
    write(root, CARD + "power/runtime_status", "active\n")
    write(root, CARD + "mem_info_vram_total", "25753026560\n")
    write(root, "sys/bus/pci/devices/0000:00:00.0/class", "0x060000\n")
    write(root, "etc/os-release", "ID=debian\nVERSION_ID=12\n")
    write(root, "proc/version", "Linux version 6.1.0-18-amd64 (debian) #1 SMP\n")
    write(root, "proc/sys/kernel/osrelease", "6.1.0-18-amd64\n")
    write(root, "lib/modules/6.1.0-18-amd64/modules.builtin", "kernel/drivers/gpu/drm/drm.ko\n")
    write(root, "home/ada/venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.4\n")
    write(root, "home/ada/venv/lib/python3.11/site-packages/torch/version.py", "__version__ = '2.6.0+rocm6.2'\n")
    (root / "home/ada/venv/lib/python3.11/site-packages/torch-2.6.0+rocm6.2.dist-info").mkdir()
    write(root, "etc/systemd/system/llm.service", "[Service]\nEnvironmentFile=-/srv/llm.env\nExecStart=/usr/bin/ollama\n")
    write(root, "srv/llm.env", "HSA_OVERRIDE_GFX_VERSION=11.0.0\n")
    os.symlink("../drivers/amdgpu", root / CARD / "driver")
    return root


def lifelike(tree, target):
    """A tree as a file system: names unescaped, links as links, those from the root on led into it."""
    escaped = (tree / "names.json").exists()
    for folder, folders, files in os.walk(tree):
        inner = str(Path(folder).relative_to(tree))
        spot = target / (plain(inner) if escaped else inner)
        spot.mkdir(parents=True, exist_ok=True)
        for name in [*files, *(name for name in folders if Path(folder, name).is_symlink())]:
            shutil.copy(Path(folder, name), spot / (plain(name) if escaped else name), follow_symlinks=False)
    told = json.loads((tree / "links.json").read_text()) if (tree / "links.json").exists() else {}
    for path, where in told.items():
        (target / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        os.symlink(str(target) + where if where.startswith("/") else where, target / path.lstrip("/"))
    return target
