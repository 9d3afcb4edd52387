"""A container that is there, as its engine tells of it: judged by the rules of services, and held against the nodes of its host."""

import json
from collections.abc import Iterator
from typing import Any

from rigup.container.host import Host
from rigup.container.lint.case import Found
from rigup.container.lint.check import lint_finding
from rigup.container.lint.judged import Judged
from rigup.container.lint.of_services import rules
from rigup.container.lint.services import compose
from rigup.schemas.container import LintFinding
from rigup.stack.site import Site

_OF_FILES = ("secrets-in-layer", "unpinned-base", "legacy-runtime-key")  # what a file is told, and a container that runs is not
_DEFAULT_MEMORY = 64 * 2**20  # bytes of shared memory that an engine gives by itself
_OWN = ("nvidia", "amd")


def examined(name: str, inspection: dict[str, Any], site: Site, host: Host) -> list[LintFinding]:
    """What is wrong with a container on its host.

    Args:
        name: of the container.
        inspection: what `inspect` prints of it.
        site: the machine that it runs on.
        host: what there is on it.

    Raises:
        KnowledgeError: a table is malformed.

    """
    text = json.dumps({"services": {name: as_service(inspection)}})
    service = compose(text)[1][0]
    found = [finding for finding in rules(Judged(service, None, site)) if finding.cause not in _OF_FILES]
    return [lint_finding(name, finding, text) for finding in (*found, *_groups(inspection, host))]


def as_service(inspection: dict[str, Any]) -> dict[str, Any]:
    """What a compose file would say of it."""
    config, host = inspection.get("Config") or {}, inspection.get("HostConfig") or {}
    memory = int(host.get("ShmSize") or 0)
    ipc = str(host.get("IpcMode") or "")
    service = {
        "image": str(inspection.get("ImageName") or config.get("Image") or "scratch"),
        "command": [*_words(config.get("Entrypoint")), *_words(config.get("Cmd"))],
        "environment": [str(variable) for variable in config.get("Env") or ()],
        "privileged": bool(host.get("Privileged")),
        "devices": [str(device.get("PathOnHost")) for device in host.get("Devices") or ()],
        "gpus": [
            {"count": request.get("Count")} if not request.get("DeviceIDs") else {"device_ids": request["DeviceIDs"]}
            for request in host.get("DeviceRequests") or ()
        ],
        "group_add": [str(group) for group in host.get("GroupAdd") or ()],
        "ipc": ipc if ipc == "host" else None,  # podman calls its own memory shareable
        "shm_size": memory if memory > _DEFAULT_MEMORY else None,
        "runtime": host.get("Runtime") if host.get("Runtime") in _OWN else None,
        "user": str(config.get("User") or "") or None,
        "userns_mode": str(host.get("UsernsMode") or "") or None,
        "cap_add": [str(capability) for capability in host.get("CapAdd") or ()],
        "ports": [
            f"{place.get('HostIp') or '0.0.0.0'}:{place.get('HostPort')}:{port}"  # noqa: S104  (told, not listened on)
            for port, places in (host.get("PortBindings") or {}).items()
            for place in places or ()
        ],
        "volumes": [str(volume) for volume in host.get("Binds") or ()],
    }
    return {key: value for key, value in service.items() if value not in (None, [], False)}


def _words(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(word) for word in value or ()]


def _groups(inspection: dict[str, Any], host: Host) -> Iterator[Found]:
    """A process that is not root is in the groups that own the nodes which it was given."""
    config, started = inspection.get("Config") or {}, inspection.get("HostConfig") or {}
    user = str(config.get("User") or "").split(":")[0]
    groups = {str(group) for group in started.get("GroupAdd") or ()}
    if user in ("", "0", "root") or "keep-groups" in groups or started.get("Privileged"):
        return
    given = [str(device.get("PathOnHost")) for device in started.get("Devices") or ()]
    nodes = {path: node for path, node in host.nodes.items() if any(path == node or path.startswith(node + "/render") for node in given)}
    closed = sorted(path for path, node in nodes.items() if not node.open and str(node.gid) not in groups)
    if closed:
        yield Found("container-render-group-mismatch", "error", 1, 1, " ".join(closed), None, "")
