"""Container engines of this machine, asked beside each other and beside whatever else is done meanwhile."""

import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from rigup.container.host import Engine
from rigup.container.podman_kept import KeptPodman
from rigup.machine.host import Host as Seam
from rigup.machine.worker_pool import WorkerPool

_DESKTOPS = {"Docker Desktop": "desktop", "colima": "colima"}
_SECONDS = 4.0  # for an engine whose daemon has to answer
_SLACK = 1.0


def asking(seam: Seam) -> Callable[[], list[Engine]]:
    """Begin to ask; the function that comes back waits for the answers, and gives the engines that are there."""
    questions: dict[str, Callable[[], Engine | None]] = {
        "docker": partial(_docker, seam),
        "podman": partial(_podman, seam),
        "apptainer": partial(_hpc, seam, "apptainer"),
        "singularity": partial(_hpc, seam, "singularity"),
    }
    pool: WorkerPool[Engine | None] = WorkerPool()
    for name, question in questions.items():
        pool.give(name, question, _SECONDS + _SLACK, alone=True)

    def answered() -> list[Engine]:
        answers: dict[str, Engine | None] = {}
        while pool.busy:
            answers |= {done.name: done.value for done in pool.finished()}
        return [engine for name in questions if (engine := answers.get(name)) is not None]

    return answered


def first_group(pattern: str, text: str) -> str:
    """What the pattern's group has in a text; "" where it is not there."""
    found = re.search(pattern, text)
    return found[1] if found else ""


def _json(text: str | None) -> dict[str, Any]:
    start = (text or "").find("{")
    try:
        document = json.JSONDecoder().raw_decode((text or "")[start:])[0] if start >= 0 else {}
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _docker(seam: Seam) -> Engine | None:
    """Docker as its daemon tells; what podman puts under that name is podman."""
    answer = seam.run(("docker", "info", "--format", "{{json .}}"), _SECONDS)
    info = _json(answer.body)
    if answer.state != "known" or "ServerVersion" not in info or not info["ServerVersion"]:
        return None
    system = str(info.get("OperatingSystem", "")) + " " + str(info.get("Name", ""))
    security = " ".join(map(str, info.get("SecurityOptions") or ()))
    return Engine(
        name="docker",
        version=str(info["ServerVersion"]),
        flavour=next((flavour for word, flavour in _DESKTOPS.items() if word in system), "engine"),
        rootless="rootless" in security,
        runtimes=tuple(info.get("Runtimes") or ()),
        default_runtime=str(info.get("DefaultRuntime") or ""),
        cdi=bool(info.get("CDISpecDirs")) if "CDISpecDirs" in info else None,
        cgroup_driver=str(info.get("CgroupDriver") or ""),
        no_cgroups="no-cgroups = true" in (seam.read("/etc/nvidia-container-runtime/config.toml", 50_000).body or ""),
    )


def _podman(seam: Seam) -> Engine | None:
    """Podman as it tells of itself, now or since nothing has changed on which that depends."""
    kept = KeptPodman(seam)
    return kept.engine or kept.keep(_podman_asked(seam))


def _podman_asked(seam: Seam) -> Engine | None:
    info = _json(seam.run(("podman", "info", "--format", "json"), _SECONDS).body)
    host = info.get("host")
    if not isinstance(host, dict) or not host:
        return None
    maps = (host.get("idMappings") or {}).get("uidmap")
    return Engine(
        name="podman",
        version=str((info.get("version") or {}).get("Version") or ""),
        flavour="podman-machine" if host.get("serviceIsRemote") else "engine",
        rootless=bool((host.get("security") or {}).get("rootless")),
        oci_runtime=str((host.get("ociRuntime") or {}).get("name") or ""),
        oci_runtimes=tuple(name for name in ("crun", "runc") if seam.find(f"/usr/bin/{name}")),
        more_ids=len(maps) > 1 if isinstance(maps, list) else None,
    )


def _hpc(seam: Seam, name: str) -> Engine | None:
    text = seam.run((name, "--version")).body or ""
    version = first_group(r"version (\d[\w.+-]{0,30})", text)
    own = name == "apptainer" or "apptainer" not in text  # Apptainer puts itself under the older name too
    return Engine(name=name, version=version) if version and own else None
