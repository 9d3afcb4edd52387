"""The facts of this machine that its containers need, read through the one seam to the outside."""

import re
from collections.abc import Iterable

import msgspec

from rigup.container.engines import first_group
from rigup.container.host import Engine, Folder, Host, Instance, Node, Spec
from rigup.knowledge.container_images import caches
from rigup.machine.feed import named
from rigup.machine.host import Host as Seam
from rigup.stack.site import Site

_SPECS = "/{etc,run,var/run}/cdi/*.{yaml,yml,json}"
_BOOLEANS = ("container_use_devices", "container_use_xserver_devices", "container_use_dri_devices")
_ROOMY = ("/scratch", "/work", "/data", "/project", "/lustre")


class _Device(msgspec.Struct):
    name: str = ""


class _Described(msgspec.Struct):
    version: str = msgspec.field(name="cdiVersion", default="")
    kind: str = ""
    devices: list[_Device] = []


def host_here(site: Site, seam: Seam, engines: Iterable[Engine]) -> Host:
    """What is there now, beside the engines that answered; what could not be asked is left out."""
    environment = dict(line.split("=", 1) for line in (seam.variables().body or "").splitlines() if "=" in line)
    account = seam.account().body or ""
    home, cwd = environment.get("HOME", "/root"), (seam.link(".").body or "/")
    nodes = _nodes(seam, site)
    return Host(
        user=first_group(r"uid=\d+\(([^)]{1,60})\)", account),
        uid=int(first_group(r"uid=(\d+)", account) or 0),
        gid=int(first_group(r"gid=(\d+)", account) or 0),
        home=home,
        cwd=cwd,
        groups={name: int(number) for number, name in re.findall(r"(\d{1,10})\(([^)]{1,60})\)", account.partition("groups=")[2])},
        environment=environment,
        engines=tuple(engines),
        nvidia_toolkit=_toolkit(seam),
        cdi=tuple(_specs(seam)),
        nodes=nodes,
        mig=tuple(_parts(seam)) if any(device.vendor == "nvidia" for device in site.gpus) else (),
        selinux=_selinux(seam),
        container_selinux=_policy(seam),
        selinux_booleans=dict(_booleans(seam)),
        folders=_folders(seam, home, cwd),
        docker_config_proxies='"proxies"' in (seam.read(home + "/.docker/config.json", 100_000).body or ""),
    )


# -- NVIDIA's toolkit ----------------------------------------------------------------------------------


def _toolkit(seam: Seam) -> str | bool:
    version = first_group(r"version (\d[\w.~-]{0,30})", seam.run(("nvidia-ctk", "--version")).body or "")
    whole = named(seam, "/usr/bin/{nvidia-container-runtime,nvidia-container-runtime-hook}")
    return f"{version} (base package)" if version and not whole else version or bool(whole)


def _specs(seam: Seam) -> list[Spec]:
    """Descriptions of devices: each with the driver that its paths name."""
    paths = {seam.link(path).body or path: path for path in reversed(named(seam, _SPECS))}  # /var/run is /run
    found = []
    for path in sorted(paths.values()):
        text = seam.read(path, 400_000).body or ""
        version, kind, names = _in_json(text) if path.endswith(".json") else _in_yaml(text)
        driver = first_group(r"lib(?:cuda|nvidia-ml)\.so\.(\d{3}[\d.]{0,12})", text)
        if kind:
            devices = tuple(f"{kind}={name}" for name in dict.fromkeys(names))
            found.append(Spec(file=path, cdi_version=version, kind=kind, devices=devices, driver=driver))
    return found


def _in_yaml(text: str) -> tuple[str, str, list[str]]:
    """Release of the schema, kind and names of devices, as nvidia-ctk and amd-ctk write them."""
    kind = first_group(r"(?m)^\"?kind\"?: {0,4}\"?([\w.-]{2,60}/[\w-]{1,40})", text)
    start = max(text.find("\ndevices"), 0)
    names = re.findall(r"^ {0,8}(?:- )?\"?name\"?: {0,4}[\"']?([\w.:-]{1,80})", text[start:], re.MULTILINE)
    return first_group(r"(?m)^\"?cdiVersion\"?: {0,4}[\"']?([\d.]{1,10})", text), kind, names


def _in_json(text: str) -> tuple[str, str, list[str]]:
    try:
        described = msgspec.json.decode(text, type=_Described)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return "", "", []
    return described.version, described.kind, [device.name for device in described.devices]


# -- devices -------------------------------------------------------------------------------------------


def _nodes(seam: Seam, site: Site) -> dict[str, Node]:
    """Nodes with their groups by number, and whose GPU each is, by its address on the bus."""
    paths = named(seam, "/dev/{kfd,dxg,dri/card*,dri/renderD*}")
    text = seam.run(("stat", "-L", "-c", "%n|%g|%a", *paths)).body or "" if paths else ""
    by_address = {gpu.pci_address.lower(): gpu.index for gpu in site.gpus if gpu.pci_address}
    found = {}
    for path, group, mode in re.findall(r"^(/dev/[\w/]{1,60})\|(\d{1,10})\|([0-7]{1,4})$", text, re.MULTILINE):
        link = seam.link(f"/sys/class/drm/{path.rpartition('/')[2]}/device").body or ""
        found[path] = Node(gid=int(group), mode=mode, gpu=by_address.get(link.strip().rpartition("/")[2].lower()))
    return found


def _parts(seam: Seam) -> list[Instance]:
    """Parts of GPUs as `nvidia-smi -L` lists them, below the GPU that they are of."""
    found, gpu, number = [], -1, 0
    for line in (seam.run(("nvidia-smi", "-L")).body or "").splitlines():
        if card := re.match(r"GPU (\d{1,3}):", line):
            gpu, number = int(card[1]), 0
        elif part := re.match(r"\s{1,8}MIG (\S{1,20}) +Device +(\d{1,3}): \(UUID: (MIG-[\w-]{8,60})", line):
            found.append(Instance(gpu=gpu, index=f"{gpu}:{number}", uuid=part[3], profile=part[1]))
            number += 1
    return found


# -- the rest ------------------------------------------------------------------------------------------


def _selinux(seam: Seam) -> str:
    mode = (seam.read("/sys/fs/selinux/enforce", 10).body or "").strip()
    return {"1": "enforcing", "0": "permissive"}.get(mode, "absent")


def _policy(seam: Seam) -> str:
    if _selinux(seam) == "absent":
        return ""
    return first_group(r"^(\d[\d.]{0,20})$", (seam.run(("rpm", "-q", "--qf", "%{VERSION}", "container-selinux")).body or "").strip())


def _booleans(seam: Seam) -> list[tuple[str, bool]]:
    bodies = ((name, seam.read(f"/sys/fs/selinux/booleans/{name}", 10).body) for name in _BOOLEANS)
    return [(name, body.strip().startswith("1")) for name, body in bodies if body]


def _folders(seam: Seam, home: str, cwd: str) -> dict[str, Folder]:
    """Folders that matter, each with its file system and the room on it."""
    wanted = [home, "/tmp", cwd, *_ROOMY, *(f"{home}/{cache.folder}" for cache in caches()), "/opt/rocm/lib/librocdxg.so"]
    present = [path for path in dict.fromkeys(wanted) if seam.find(path)]
    text = seam.run(("df", "--output=fstype,avail,target", "-B1", *present)).body or "" if present else ""
    lines = [line.split() for line in text.splitlines()[1:]]
    rooms = [Folder(fs=line[0], free=line[1]) for line in lines if len(line) > 2 and line[1].isdigit()]
    return dict(zip(present, rooms, strict=True)) if len(rooms) == len(present) else {path: Folder() for path in present}
