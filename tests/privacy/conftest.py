"""A machine, a text and a stream in which all that is planted stands."""

import json
import shutil

import pytest
from planted import ALL, DOORS

from packs import machine_folder


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A workstation whose files, variables, kernel's log and programs hold all that is planted."""
    tree = tmp_path_factory.mktemp("planted") / "machine"
    shutil.copytree(machine_folder("nvidia-workstation"), tree, symlinks=True)
    lines = "\n".join(one.line for one in ALL)
    who = json.loads((tree / "who.json").read_text()) if (tree / "who.json").exists() else {}
    variables = dict(who.get("environment") or {})
    variables |= {f"PLANTED_{number}": one.thing for number, one in enumerate(ALL)}
    variables |= {f"PLANTED_{number}_TOKEN": one.thing for number, one in enumerate(DOORS)}
    (tree / "who.json").write_text(json.dumps({**who, "environment": variables}))
    for name in ("etc/environment", "etc/modprobe.d/planted.conf", "etc/os-release", "root/.bashrc", "etc/profile"):
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        body = path.read_text() if path.exists() else ""
        path.unlink(missing_ok=True)
        path.write_text(body + "\n" + lines + "\n")
    commands = json.loads((tree / "commands.json").read_text())
    for told in commands if isinstance(commands, list) else commands.values():
        if isinstance(told, dict) and "dmesg" in json.dumps(told):
            told.update({key: value + "\n" + lines for key, value in told.items() if key in ("output", "stdout", "body")})
    (tree / "commands.json").write_text(json.dumps(commands))
    return tree


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("planted") / "report.txt"
    path.write_text("\n".join([one.line for one in ALL] + ["RuntimeError: CUDA error: out of memory"]))
    return path


@pytest.fixture(scope="module")
def stream(tmp_path_factory):
    """What a script printed on such a machine and somebody pasted: a stream that nobody blanked."""
    lines = ["|" + line for one in ALL for line in one.line.split("\n")]
    told = ["@rigup-stream/1 posix", "@variables"]
    for number, one in enumerate(ALL):
        told += [f"@variable PLANTED_{number}", *("|" + line for line in (one.thing + ".").split("\n")), "@end 0"]
    for path in ("/etc/environment", "/etc/os-release", "/proc/cmdline", "/etc/modprobe.d/planted.conf"):
        told += ["@file " + path, *lines, "|.", "@end 0"]
    for argv in ("dmesg", "nvidia-smi", "id", "lspci -nnk"):
        told += ["@run " + argv, *lines, "|RuntimeError: CUDA error: out of memory.", "@exit 0", "@end 0"]
    path = tmp_path_factory.mktemp("planted") / "stream.txt"
    path.write_text("\n".join([*told, "@done 0", ""]))
    return path
