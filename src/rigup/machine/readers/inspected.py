"""What an engine's `inspect` prints by a template of one's own."""

import re
from itertools import islice

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import ContainerEngine, SharedMemory, World
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Hit, Text

_ASKED = (
    r"\b(?P<engine>docker|podman|nerdctl)(?: container)? inspect\b[^\n]{0,120}?(?:-f|--format)[ =](?P<quote>[\"\x27])"
    r"(?P<template>[^\n]{0,200}?\.HostConfig\.(?:DeviceRequests|ShmSize)\b[^\n]{0,200}?)(?P=quote)[^\n]{0,120}\n(?P<printed>[^\n]{1,400})$"
)
_FIELD = lazy_regex(r"\{\{-? ?(?:json )?\.?(?P<name>[\w.]{1,60})[^}\n]{0,40}\}\}")
_EMPTY = ("[]", "null", "<no value>", "<nil>", "")
_MOST = 8  # fields of one template


def _values(hit: Hit) -> dict[str, str]:
    """What each field of the template became."""
    template, form, names, end = hit["template"], "", [], 0
    for field in islice(_FIELD.finditer(template), _MOST):
        form += re.escape(template[end : field.start()]) + r"(\[[^\n]{0,200}?\]|[^\n]{0,200}?)"
        names.append(field["name"])
        end = field.end()
    match = re.fullmatch(form + re.escape(template[end:]), hit["printed"].strip())
    return dict(zip(names, match.groups(), strict=True)) if match else {}


@reads(marks=("HostConfig.DeviceRequests", "HostConfig.ShmSize"), adds=(World, SharedMemory), rank=-1)
def inspected_by_a_template(text: Text) -> Statements:
    """`docker inspect -f '{{.HostConfig.Runtime}} {{.HostConfig.DeviceRequests}}' web`: `runc []`."""
    for hit in text.each(_ASKED):
        values = {name.rpartition("HostConfig.")[2]: value.strip() for name, value in _values(hit).items()}
        asked, size = values.get("DeviceRequests"), values.get("ShmSize", "")
        given = values.get("Runtime", "").startswith("nvidia") or values.get("Devices", "") not in _EMPTY
        if asked is not None:
            world = hit.states(World, container=hit["engine"], gpu_requested=asked not in _EMPTY or given)
            world.place = world.place._replace(world=world.place.world or "container")
            yield world
        if size.isdigit() and int(size):
            yield hit.states(SharedMemory, total=int(size))


@reads(marks=('"runc":{',), adds=(ContainerEngine,))
def runtimes_as_json(text: Text) -> Statements:
    """`docker info -f '{{json .Runtimes}}'`: `{"nvidia":{"path":"nvidia-container-runtime"},"runc":{"path":"runc"}}`."""
    if hit := text.first(r"^[ \t]{0,8}(?:\"?[Rr]untimes\"?: ?)?(?P<told>\{[^\n]{0,600}\"runc\":\{[^\n]{0,600}\})[ \t,]*$"):
        names = re.findall(r"\"([\w.-]{2,60})\":\{\"", hit["told"])
        yield hit.states(ContainerEngine, name="docker", runtimes=names)
