"""How container engines are set up to hand on GPUs: runtimes, CDI descriptions, NVIDIA's toolkit."""

import json
import re
from typing import Any

from rigup.machine.kinds import CdiSpec, ContainerEngine, ContainerToolkit
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.package_sources import toml
from rigup.machine.readers.values import Draft, says, truth
from rigup.machine.texts import Text

_MOST = 200  # devices of one description
_ENGINE = {"docker": "docker", "containers": "podman", "containerd": "containerd"}


@reads(CdiSpec, inputs=[File("/{etc,run,var/run}/cdi/*.{yaml,yml,json}", most=400_000)], marks=("cdiVersion:", '"cdiVersion"'))
def cdi_spec(text: Text) -> Statements:
    """`kind: nvidia.com/gpu` and the devices' names: what `--device nvidia.com/gpu=all` asks for."""
    kind = text.first(r"^[ \t]{0,8}\"?kind\"?: {0,4}\"?(?P<kind>[\w.-]{2,60}/[\w-]{1,40})")
    if kind:
        start = text.body.find("devices")
        named = re.finditer(r"^ {0,8}(?:- )?\"?name\"?: {0,4}\"?([\w.:-]{1,80})", text.body[max(start, 0) :], re.MULTILINE)
        names = list(dict.fromkeys(found[1] for found in named))[:_MOST]
        yield kind.states(CdiSpec, path=text.source, kind=kind["kind"], devices=names)


@reads(marks=("nvidia.com/gpu=", "amd.com/gpu="), adds=(CdiSpec,))
def cdi_list(text: Text) -> Statements:
    """`nvidia-ctk cdi list`: `nvidia.com/gpu=all`, a device a line."""
    hits = list(text.each(r"^[> \t]{0,20}(?P<kind>(?:nvidia|amd)\.com/gpu)=(?P<name>[\w.:-]{1,80})[ \t]*$"))
    if hits:
        names = list(dict.fromkeys(hit["name"] for hit in hits))[:_MOST]
        yield hits[0].states(CdiSpec, path="nvidia-ctk cdi list", kind=hits[0]["kind"], devices=names)


@reads(
    ContainerToolkit,
    inputs=[File("/etc/nvidia-container-runtime/config.toml"), File("{HomeFolder.path}/.config/nvidia-container-runtime/config.toml")],
    marks=("[nvidia-container-cli]", "[nvidia-container-runtime]"),
)
def container_toolkit(text: Text) -> Statements:
    """`no-cgroups = false` below `[nvidia-container-cli]`, `mode = "auto"` below `[nvidia-container-runtime]`."""
    head = text.first(r"^[ \t]{0,8}\[nvidia-container-(?:cli|runtime)\]")
    if head:
        draft = Draft(text, ContainerToolkit, head.start)
        draft.add("path", text.source)
        cgroups, mode = (
            text.first(r"^[ \t]{0,8}no-cgroups ?= ?(?P<value>true|false)"),
            text.first(r"^[ \t]{0,8}mode ?= ?\"(?P<value>\w{2,12})\""),
        )
        draft.add("no_cgroups", truth(cgroups["value"]) if cgroups else None, cgroups.start if cgroups else None)
        draft.add("mode", mode["value"] if mode else None, mode.start if mode else None)
        yield from draft.facts()


@reads(
    inputs=[
        File("/etc/docker/daemon.json"),
        File("{HomeFolder.path}/.config/docker/daemon.json"),
        File("/var/snap/docker/current/config/daemon.json"),
    ],
    marks=('"runtimes"', '"default-runtime"'),
    adds=(ContainerEngine,),
)
def docker_daemon(text: Text) -> Statements:
    """`{"default-runtime": "nvidia", "runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}`."""
    start = text.body.find("{")
    settings = _object(text.body[start:] if start >= 0 else "")
    runtimes, default = settings.get("runtimes"), settings.get("default-runtime")
    if isinstance(runtimes, dict) or isinstance(default, str):
        at = max(text.body.find("runtime"), 0)
        names = sorted(str(name) for name in runtimes)[:_MOST] if isinstance(runtimes, dict) else None
        default = default if isinstance(default, str) else None
        yield from says(text, ContainerEngine, at, name="docker", runtimes=names, default_runtime=default)


def _object(body: str) -> dict[str, Any]:
    """A JSON object at the beginning of a text, whatever comes behind it."""
    try:
        decoded, _end = json.JSONDecoder().raw_decode(body)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


@reads(
    inputs=[File("/etc/containerd/{config.toml,conf.d/*.toml}"), File("/etc/containers/{containers.conf,containers.conf.d/*.conf}")],
    adds=(ContainerEngine,),
)
def engine_tables(text: Text) -> Statements:
    """`[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]`; podman's `[engine.runtimes]`."""
    folder = re.match(r"/etc/(containerd|containers)/", text.source)
    settings = toml(text.body)
    names, default = _runtimes(settings), text.first(r"^[ \t]{0,20}default_runtime_name ?= ?\"(?P<name>[\w-]{1,60})\"")
    if folder and (names or default):
        name = _ENGINE[folder[1]]
        yield from says(
            text,
            ContainerEngine,
            max(text.body.find("runtimes"), 0),
            name=name,
            runtimes=names or None,
            default_runtime=default["name"] if default else None,
        )


def _runtimes(table: Any, depth: int = 6) -> list[str]:
    """The names in every table `runtimes`."""
    if not isinstance(table, dict) or not depth:
        return []
    here = table.get("runtimes")
    below = [name for inner in table.values() for name in _runtimes(inner, depth - 1)]
    return sorted({*below, *(here if isinstance(here, dict) else ())})[:_MOST]


@reads(marks=(" Runtimes: ", "Default Runtime:"), adds=(ContainerEngine,))
def docker_runtimes(text: Text) -> Statements:
    """`docker info`: `Runtimes: io.containerd.runc.v2 nvidia runc`, `Default Runtime: runc`."""
    runtimes, default = (
        text.first(r"^[ \t]{1,8}Runtimes: (?P<names>[\w. -]{2,300})$"),
        text.first(r"^[ \t]{1,8}Default Runtime: (?P<name>[\w.-]{1,60})"),
    )
    if runtimes:
        yield runtimes.states(ContainerEngine, name="docker", runtimes=runtimes["names"].split())
    if default:
        yield default.states(ContainerEngine, name="docker", default_runtime=default["name"])


@reads(inputs=[Listing("/usr/bin/{nvidia-ctk,nvidia-container-runtime,nvidia-container-cli}")], adds=(ContainerToolkit,))
def toolkit_programs(text: Text) -> Statements:
    """The toolkit's programs are there, whether or not it was configured."""
    if hit := text.first(r"(?P<path>/usr/bin/nvidia-(?:ctk|container-runtime|container-cli))(?: -> [^\n]{1,200})?$"):
        yield hit.states(ContainerToolkit, path=hit["path"])
