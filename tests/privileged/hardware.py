"""The part of a machine that a container has not: its cards, as a captured machine of `tests/machines` shows them.

What the kernel does at its start is played by `boot`, which follows what kmod itself reads out of the configuration
that is really there: which modules exist for the kernel that runs, which are kept out, with which parameters.
"""

import json
import shutil
from pathlib import Path

from packs import machine_folder


def hardware(name: str, folder: Path) -> Path:
    """A folder for `/hw` of a container: the machine's sys and proc, its nodes, and the kernel's part."""
    tree = machine_folder(name)
    (folder / "wheels").mkdir(parents=True)
    shutil.copytree(tree / "sys", folder / "sys", symlinks=True)
    (folder / "sys/fs/cgroup").mkdir(parents=True, exist_ok=True)
    (folder / "proc").mkdir()
    for part in ("cmdline", "meminfo", "cpuinfo", "modules"):
        shutil.copy(tree / "proc" / part, folder / "proc" / part)
    if (tree / "proc/driver").is_dir():
        shutil.copytree(tree / "proc/driver", folder / "card")
    shutil.rmtree(folder / "sys/firmware/efi", ignore_errors=True)  # no key of a firmware signs what a test compiles
    nodes = json.loads((tree / "nodes.json").read_text())
    (folder / "nodes.json").write_text(json.dumps(nodes))
    (folder / "boot").write_text(BOOT)
    (folder / "boot").chmod(0o755)
    (folder / "seen").write_text(SEEN)
    (folder / "seen").chmod(0o755)
    return folder


BOOT = '''#!/usr/bin/python3
"""The kernel's part of a start: modules come up by the configuration that is there, and take their cards."""
import json, os, pathlib, re, shutil, subprocess, sys

HW, SYS = pathlib.Path("/hw"), pathlib.Path("/hw/sys")
RELEASE = os.uname().release


def said(*argv):
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def version(module):
    """Of the module that this kernel would load; empty for none."""
    return said("modinfo", "-k", RELEASE, "-F", "version", module).strip()


config = said("modprobe", "--showconfig").splitlines()
out = {line.split()[1] for line in config if line.startswith("blacklist ")}
options = {}
for line in config:
    if line.startswith("options "):
        module, *words = line.split()[1:]
        options.setdefault(module, {}).update(word.split("=", 1) for word in words if "=" in word)


def comes(module):
    return bool(version(module)) and module not in out


def bind(address, driver):
    link = next(SYS.glob("devices/**/" + address)) / "driver"
    for old in SYS.glob("bus/pci/drivers/*/" + address):
        old.unlink()
    link.unlink(missing_ok=True)
    told = [line for line in (link.parent / "uevent").read_text().splitlines() if not line.startswith("DRIVER=")]
    (link.parent / "uevent").write_text("\\n".join((["DRIVER=" + driver] if driver else []) + told) + "\\n")
    if driver:
        folder = SYS / "bus/pci/drivers" / driver
        folder.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(folder, link.parent))
        (folder / address).symlink_to(os.path.relpath(link.parent, folder))


def module(name, there, told=""):
    folder = SYS / "module" / name
    if not there:
        shutil.rmtree(folder, ignore_errors=True)
        return
    (folder / "parameters").mkdir(parents=True, exist_ok=True)
    (folder / "initstate").write_text("live\\n")
    if told and told != "in-tree":
        (folder / "version").write_text(told + "\\n")
    for parameter, value in options.get(name, {}).items():
        if name != "ttm" or parameter == "pages_limit":
            (folder / "parameters" / parameter).write_text(value + "\\n")


def nodes(names, there):
    told = json.loads((HW / "nodes.json").read_text())
    for path, node in told.items():
        if not any(name in path for name in names) or node.get("type") != "char":
            continue
        pathlib.Path(path).unlink(missing_ok=True)
        if there:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.mknod(path, 0o20000 | int(node["mode"], 8), os.makedev(node.get("major", 1), node.get("minor", 3)))
            os.chmod(path, int(node["mode"], 8))
            shutil.chown(path, node["owner"], node["group"])


def nvidia(address):
    """The kernel's own driver is there first, unless it is kept out."""
    nova = comes("nova_core")
    old = not nova and comes("nouveau")
    told = version("nvidia") if not nova and not old and comes("nvidia") else ""
    bind(address, "NovaCore" if nova else "nouveau" if old else "nvidia" if told else None)
    module("nova_core", nova)
    module("nouveau", old)
    for name in ("nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_drm"):
        module(name, bool(told), told)
    nodes(("nvidia",), bool(told))
    nodes(("/dri/",), bool(nova or old or told))
    shutil.rmtree(HW / "proc/driver", ignore_errors=True)
    (HW / "proc/driver").mkdir()
    if told:
        shutil.copytree(HW / "card/nvidia", HW / "proc/driver/nvidia")
        flavour = "Open Kernel Module for x86_64" if "Dual MIT/GPL" in said("modinfo", "-k", RELEASE, "-F", "license2", "nvidia") else "x86_64 Kernel Module"
        head = "NVRM version: NVIDIA UNIX {}  {}  Fri Sep 13 10:10:01 UTC 2024\\n".format(flavour, told)
        (HW / "proc/driver/nvidia/version").write_text(head + "GCC version:  gcc version 12.2.0\\n")


def amd(address):
    there = comes("amdgpu")
    bind(address, "amdgpu" if there else None)
    module("amdgpu", there)
    module("ttm", there)
    nodes(("/kfd", "/dri/"), there)
    pages = SYS / "module/ttm/parameters/pages_limit"
    if pages.exists():
        card = next(SYS.glob("devices/**/" + address))
        (card / "mem_info_gtt_total").write_text(str(int(pages.read_text()) * 4096) + "\\n")


for device in sorted(SYS.glob("bus/pci/devices/*")):
    told = {name: (device / name).read_text().strip() for name in ("vendor", "class")}
    if told["class"].startswith("0x03"):
        {"0x10de": nvidia, "0x1002": amd}[told["vendor"]](device.name)
loaded = sorted(path.name for path in (SYS / "module").iterdir())
lines = [line for line in (HW / "proc/modules").read_text().splitlines() if not re.match(r"nvidia|nouveau|amdgpu|ttm", line)]
(HW / "proc/modules").write_text("\\n".join(lines + [name + " 49152 0 - Live 0x0000000000000000" for name in loaded]) + "\\n")
'''

# A program that sees the card: the captured sys and proc lie over the kernel's own, in its own view of the mounts alone.
SEEN = """#!/bin/sh
exec unshare --mount sh -ec '
mount --rbind /sys/fs/cgroup /hw/sys/fs/cgroup
mount --rbind /hw/sys /sys
mount -t tmpfs none /proc/driver
[ ! -d /hw/proc/driver ] || cp -r /hw/proc/driver/. /proc/driver/
printf "0::/init.scope\\n" > /hw/proc/cgroup
mount --bind /hw/proc/cgroup /proc/1/cgroup
mount --bind /hw/boot_id /proc/sys/kernel/random/boot_id
for part in cmdline meminfo cpuinfo modules; do [ ! -e /proc/$part ] || mount --bind /hw/proc/$part /proc/$part; done
exec "$@"' sh "$@"
"""
