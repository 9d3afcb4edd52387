"""A draft as it is written down: words of a command, a compose file, a dev container."""

import json
from collections.abc import Iterable
from typing import Any

from rigup.container.asked import Mount
from rigup.container.draft import Draft
from rigup.schemas.container import From, Written

_KEYS = {
    "--runtime": "runtime",
    "--ipc": "ipc",
    "--user": "user",
    "--userns": "userns_mode",
    "--workdir": "working_dir",
    "--network": "network_mode",
    "--restart": "restart",
    "--name": "container_name",
    "--platform": "platform",
    "--shm-size": "shm_size",
}
_LISTS = {
    "--device": "devices",
    "--group-add": "group_add",
    "--security-opt": "security_opt",
    "--cap-add": "cap_add",
    "--publish": "ports",
    "--add-host": "extra_hosts",
}
_OF_A_START = ("--rm", "--interactive", "--tty", "--detach", "--name", "--restart", "--publish", "--user", "--workdir")
_USER = "vscode"


def argv_of(draft: Draft) -> list[str]:
    """The command, each word its own."""
    engine, asked = draft.engine.name, draft.asked
    if asked.form == "compose":
        return [engine, "compose", "up", *(["--detach"] if asked.detach else [])]
    if asked.form == "devcontainer":
        return ["devcontainer", "up", "--workspace-folder", "."]
    verb = ["run"] if not draft.engine.hpc else ["exec" if asked.command else "run"]
    if draft.engine.hpc and asked.detach:
        verb = ["instance", "run"]
    words = [engine, *(word for pair in draft.before for word in pair), *verb, *_options(draft.options)]
    words += [word for name, value in draft.variables.items() for word in ("--env", name if value is None else f"{name}={value}")]
    words += [word for mount, flag in draft.mounts for word in _mounted(draft, mount, flag)]
    instance = [asked.name or "rigup"] if verb[0] == "instance" else []
    return [*words, draft.image.name, *instance, *asked.command]


def _options(options: Iterable[tuple[str, str]]) -> list[str]:
    return [word for name, value in options for word in ((name, value) if value else (name,))]


def _mounted(draft: Draft, mount: Mount, flag: str) -> list[str]:
    """A mount by the short form, or by the long one where a path holds what the short one tells apart by."""
    flags = ",".join(filter(None, ("ro" if mount.read_only else "", flag)))
    if not any(sign in mount.source + mount.target for sign in ':,"'):
        return [draft.mount_word, ":".join(filter(None, (mount.source, mount.target, flags)))]
    return ["--mount", _long(mount, flag if draft.engine.podman else "")]


def _long(mount: Mount, flag: str = "") -> str:
    """The form of one word whose fields are those of a CSV file."""
    fields = ["type=bind", f"source={mount.source}", f"target={mount.target}"]
    fields += ["readonly"] * mount.read_only + ["relabel=shared"] * bool(flag)
    return ",".join('"' + field.replace('"', '""') + '"' if set(field) & set(',"') else field for field in fields)


def environment_of(draft: Draft) -> dict[str, str | From]:
    """Variables as the program finds them."""
    found: dict[str, str | From] = {name: From(from_=name) if value is None else value for name, value in draft.variables.items()}
    for name, source in draft.exports.items():
        for prefix in ("APPTAINERENV_", "SINGULARITYENV_"):
            if name.startswith(prefix):
                found[name.removeprefix(prefix)] = source
    return found


def files_of(draft: Draft) -> list[Written]:
    """The file that was asked for."""
    if draft.asked.form == "compose":
        return [Written(path="compose.yaml", text=_compose(draft))]
    if draft.asked.form == "devcontainer":
        return [Written(path=".devcontainer/devcontainer.json", text=json.dumps(_devcontainer(draft), indent=2, ensure_ascii=False) + "\n")]
    return []


def _compose(draft: Draft) -> str:
    service: dict[str, Any] = {"image": draft.image.name}
    if draft.asked.command:
        service["command"] = list(draft.asked.command)
    for name, value in draft.options:
        if name in _KEYS:
            service[_KEYS[name]] = value
        elif name in _LISTS:
            service.setdefault(_LISTS[name], []).append(value)
        elif name == "--gpus":
            request: dict[str, Any] = {"driver": "nvidia", "capabilities": ["gpu"]}
            ids = value.strip('"').removeprefix("device=")
            request |= {"count": "all"} if value == "all" else {"device_ids": ids.split(",")}
            service["deploy"] = {"resources": {"reservations": {"devices": [request]}}}
    service["environment"] = [name if value is None else f"{name}={value}" for name, value in draft.variables.items()]
    service["volumes"] = [_volume(mount, flag) for mount, flag in draft.mounts]
    if draft.asked.detach:
        service["restart"] = "unless-stopped"
    if not draft.asked.detach and not draft.image.kind.server:
        service |= {"stdin_open": True, "tty": True}
    name = draft.asked.name or draft.image.repository.rpartition("/")[2].lower() or "work"
    kept = {key: value for key, value in service.items() if value not in ([], None)}
    return yaml({"services": {name: kept}})


def _volume(mount: Mount, flag: str) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "bind", "source": mount.source, "target": mount.target}
    found |= {"read_only": True} if mount.read_only else {}
    return found | ({"bind": {"selinux": flag}} if flag else {})


def yaml(value: Any, depth: int = 0) -> str:
    """Plain data as YAML whose every word is quoted as JSON quotes it; compose reads `$$` as a dollar."""
    pad = "  " * depth
    if isinstance(value, dict):
        return "".join(f"{pad}{key}:{_below(entry, depth)}" for key, entry in value.items())
    return "".join(
        f"{pad}- {yaml(entry, depth + 1).lstrip()}" if isinstance(entry, dict) else f"{pad}- {_word(entry)}\n" for entry in value
    )


def _below(value: Any, depth: int) -> str:
    if isinstance(value, dict | list) and value:
        return "\n" + yaml(value, depth + 1)
    return f" {_word(value)}\n"


def _word(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("$", "$$")


def _devcontainer(draft: Draft) -> dict[str, Any]:
    """The devices stand in runArgs: hostRequirements.gpu does something for NVIDIA's runtime alone."""
    words = [option if not value else f"{option}={value}" for option, value in draft.options if option not in _OF_A_START]
    folder = draft.host.cwd.rpartition("/")[2] or "work"
    user = draft.image.kind.user or _USER
    found: dict[str, Any] = {"name": draft.asked.name or folder, "image": draft.image.name}
    if not draft.image.kind.user:
        found["features"] = {"ghcr.io/devcontainers/features/common-utils:2": {"username": user}}
    if draft.asked.gpu == "optional" and draft.of("nvidia"):
        found["hostRequirements"] = {"gpu": "optional"}
        words = [word for word in words if not word.startswith(("--gpus=", "--device=nvidia.com/"))]
    found |= {"runArgs": words, "remoteUser": user}
    variables = {name: f"${{localEnv:{name}}}" if value is None else value for name, value in draft.variables.items() if name != "HOME"}
    mounts = [_long(mount) for mount, _flag in draft.mounts if mount.source != draft.host.cwd]
    found |= {"containerEnv": variables} if variables else {}
    found |= {"mounts": mounts} if mounts else {}
    found |= {"forwardPorts": list(draft.asked.publish)} if draft.asked.publish else {}
    return found
