"""The facts of this machine that its containers need, read through the one seam to the outside."""

import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from rigup.container.host import Engine, Folder, Host, Instance, Node, Spec
from rigup.knowledge.container_images import caches
from rigup.machine.host import Host as Seam
from rigup.machine.local import Local
from rigup.stack.site import Site

_SPECS = "/{etc,run,var/run}/cdi/*.{yaml,yml,json}"
_BOOLEANS = ("container_use_devices", "container_use_xserver_devices", "container_use_dri_devices")
_ROOMY = ("/scratch", "/work", "/data", "/project", "/lustre")
_DESKTOPS = {"Docker Desktop": "desktop", "colima": "colima"}
_SLOW = 4.0  # seconds for an engine whose daemon has to answer


def host_here(site: Site, seam: Seam | None = None, engines: Sequence[Engine] | None = None) -> Host:
    """What is there now; what could not be asked is left out. Engines that were asked before are not asked again."""
    seam = seam or Local()
    environment = dict(line.split("=", 1) for line in (seam.variables().body or "").splitlines() if "=" in line)
    account = seam.account().body or ""
    home, cwd = environment.get("HOME", "/root"), (seam.run(("pwd",)).body or "/").strip()
    nodes = _nodes(seam, site)
    return Host(
        user=_first_group(r"uid=\d+\(([^)]{1,60})\)", account), uid=int(_first_group(r"uid=(\d+)", account) or 0),
        gid=int(_first_group(r"gid=(\d+)", account) or 0), home=home, cwd=cwd,
        groups={name: int(number) for number, name in re.findall(r"(\d{1,10})\(([^)]{1,60})\)", account.partition("groups=")[2])},
        environment=environment, engines=tuple(engines_here(seam) if engines is None else engines), nvidia_toolkit=_toolkit(seam), cdi=tuple(_specs(seam)), nodes=nodes,
        mig=tuple(_parts(seam)) if any(device.vendor == "nvidia" for device in site.gpus) else (), selinux=_selinux(seam),
        container_selinux=_policy(seam), selinux_booleans=dict(_booleans(seam)), folders=_folders(seam, home, cwd),
        docker_config_proxies='"proxies"' in (seam.read(home + "/.docker/config.json", 100_000).body or ""),
    )  # fmt: skip


def _first_group(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else ""


def _json(text: str | None) -> dict[str, Any]:
    start = (text or "").find("{")
    try:
        document = json.JSONDecoder().raw_decode((text or "")[start:])[0] if start >= 0 else {}
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


# -- engines -------------------------------------------------------------------------------------------


def engines_here(seam: Seam) -> list[Engine]:
    """Engines that answer; they are asked beside each other."""
    asked: tuple[Callable[[], Engine | None], ...] = (
        partial(_docker, seam), partial(_podman, seam), partial(_hpc, seam, "apptainer"), partial(_hpc, seam, "singularity"),
    )  # fmt: skip
    with ThreadPoolExecutor(len(asked)) as pool:
        return [engine for engine in pool.map(lambda ask: ask(), asked) if engine is not None]


def _docker(seam: Seam) -> Engine | None:
    """Docker as its daemon tells; what podman puts under that name is podman."""
    answer = seam.run(("docker", "info", "--format", "{{json .}}"), _SLOW)
    info = _json(answer.body)
    if answer.state != "known" or "ServerVersion" not in info or not info["ServerVersion"]:
        return None
    system = str(info.get("OperatingSystem", "")) + " " + str(info.get("Name", ""))
    security = " ".join(map(str, info.get("SecurityOptions") or ()))
    return Engine(
        name="docker", version=str(info["ServerVersion"]), flavour=next((flavour for word, flavour in _DESKTOPS.items() if word in system), "engine"),
        rootless="rootless" in security, runtimes=tuple(info.get("Runtimes") or ()), default_runtime=str(info.get("DefaultRuntime") or ""),
        cdi=bool(info.get("CDISpecDirs")) if "CDISpecDirs" in info else None, cgroup_driver=str(info.get("CgroupDriver") or ""),
        no_cgroups="no-cgroups = true" in (seam.read("/etc/nvidia-container-runtime/config.toml", 50_000).body or ""),
    )  # fmt: skip


def _podman(seam: Seam) -> Engine | None:
    info = _json(seam.run(("podman", "info", "--format", "json"), _SLOW).body)
    host = info.get("host") or {}
    if not host:
        return None
    runtime = str((host.get("ociRuntime") or {}).get("name") or "")
    others = tuple(name for name in ("crun", "runc") if seam.find(f"/usr/bin/{name}"))
    remote = bool(host.get("serviceIsRemote"))
    maps = (host.get("idMappings") or {}).get("uidmap")
    return Engine(
        name="podman", version=str((info.get("version") or {}).get("Version") or ""), flavour="podman-machine" if remote else "engine",
        rootless=bool((host.get("security") or {}).get("rootless")), oci_runtime=runtime, oci_runtimes=others,
        more_ids=len(maps) > 1 if isinstance(maps, list) else None,
    )  # fmt: skip


def _hpc(seam: Seam, name: str) -> Engine | None:
    text = seam.run((name, "--version")).body or ""
    version = _first_group(r"version (\d[\w.+-]{0,30})", text)
    own = name == "apptainer" or "apptainer" not in text  # Apptainer puts itself under the older name too
    return Engine(name=name, version=version) if version and own else None


def _toolkit(seam: Seam) -> str | bool:
    version = _first_group(r"version (\d[\w.~-]{0,30})", seam.run(("nvidia-ctk", "--version")).body or "")
    whole = seam.find("/usr/bin/{nvidia-container-runtime,nvidia-container-runtime-hook}")
    return f"{version} (base package)" if version and not whole else version or bool(whole)


def _specs(seam: Seam) -> list[Spec]:
    """Descriptions of devices: each with the driver that its paths name."""
    found = []
    for path in seam.find(_SPECS):
        text = seam.read(path, 400_000).body or ""
        kind = _first_group(r"\"?kind\"?: {0,4}\"?([\w.-]{2,60}/[\w-]{1,40})", text)
        start = max(text.find("devices"), 0)
        names = re.findall(r"^ {0,8}(?:- )?\"?name\"?: {0,4}\"?([\w.:-]{1,80})", text[start:], re.MULTILINE)
        driver = _first_group(r"lib(?:cuda|nvidia-ml)\.so\.(\d{3}[\d.]{0,12})", text)
        version = _first_group(r"cdiVersion\"?: {0,4}\"?([\d.]{1,10})", text)
        if kind:
            devices = tuple(f"{kind}={name}" for name in dict.fromkeys(names))
            found.append(Spec(file=path, cdi_version=version, kind=kind, devices=devices, driver=driver))
    return found


# -- devices -------------------------------------------------------------------------------------------


def _nodes(seam: Seam, site: Site) -> dict[str, Node]:
    """Nodes with their groups by number, and whose GPU each is, by its address on the bus."""
    paths = seam.find("/dev/{kfd,dxg,dri/card*,dri/renderD*}")
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
    return _first_group(
        r"^(\d[\d.]{0,20})$", (seam.run(("rpm", "-q", "--qf", "%{VERSION}", "container-selinux")).body or "").strip()
    )


def _booleans(seam: Seam) -> list[tuple[str, bool]]:
    bodies = ((name, seam.read(f"/sys/fs/selinux/booleans/{name}", 10).body) for name in _BOOLEANS)
    return [(name, body.strip().startswith("1")) for name, body in bodies if body]


def _folders(seam: Seam, home: str, cwd: str) -> dict[str, Folder]:
    """Folders that matter, each with its file system and the room on it."""
    wanted = [
        home,
        "/tmp",
        cwd,
        *_ROOMY,
        *(f"{home}/{cache.folder}" for cache in caches()),
        "/opt/rocm/lib/librocdxg.so",
    ]
    present = [path for path in dict.fromkeys(wanted) if seam.find(path)]
    text = seam.run(("df", "--output=fstype,avail,target", "-B1", *present)).body or "" if present else ""
    lines = [line.split() for line in text.splitlines()[1:]]
    rooms = [Folder(fs=line[0], free=line[1]) for line in lines if len(line) > 2 and line[1].isdigit()]
    return (
        dict(zip(present, rooms, strict=True)) if len(rooms) == len(present) else {path: Folder() for path in present}
    )
