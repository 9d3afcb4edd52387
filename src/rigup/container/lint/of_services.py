"""Rules of compose files and dev containers: what is asked of the engine, and what is left open."""

import itertools
import re
from collections.abc import Callable, Iterator

from rigup.container.lint.case import Found, has_token, is_one, words
from rigup.container.lint.judged import Judged
from rigup.container.lint.of_images import is_bad, lacking, of_machine, of_tag, other_platform
from rigup.container.lint.services import Marked, Service
from rigup.knowledge.secrets import is_secret
from rigup.schemas.container import Edit
from rigup.schemas.shared import Severity

_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
_FILLED = re.compile(r"\$\{?\w")
_HERE = re.compile(r"(?:\.{1,2}(?:/|$)|~|\$\{?(?:HOME|PWD)|/home/|/Users/|/root(?:/|$)|\$\{localWorkspaceFolder)")
_WORKERS = re.compile(
    r"--?num[-_]workers[= ]([1-9])|--?workers[= ]([1-9])|tensor[-_]parallel(?:[-_]size)?[= ]([2-9]|\d\d)|-tp[= ]([2-9])|nproc[-_]per[-_]node[= ](?:[2-9]|\d\d|gpu|auto)|\btorchrun\b|\bdeepspeed\b|--num[-_]shard[= ][2-9]"
)
_PORT = re.compile(
    r"(?:(?P<ip>\[[^\]]*\]|\d{1,3}(?:\.\d{1,3}){3}|localhost|\$\{[^}]*\}):)?(?:(?P<out>[\d-]+|\$\{[^}]*\}):)?(?P<inner>[\d-]+|\$\{[^}]*\})(?:/(?:tcp|udp))?"
)
_WEB = ("80", "443")
_NO_TOKEN = re.compile(r"(?:token|password)=(?:''|\"\")?$|--no-auth|disable[-_]auth", re.IGNORECASE)
_CACHE = re.compile(r"/\.(?:cache|ollama|keras|torch)(?:/|:|$)")


def rules(judged: Judged) -> Iterator[Found]:
    """All rules of one service."""
    for rule in (_request, _amd, _groups, _memory, _variables, _open, _mounts, _image, _secrets):
        yield from rule(judged)


def on(marked: Marked, cause: str, severity: Severity, evidence: str = "", edit: Edit | None = None) -> Found:
    """A finding on the lines of a value."""
    return Found(cause, severity, marked.first, marked.last, evidence or marked.text or cause, edit)


# -- devices -------------------------------------------------------------------------------------------


def _request(judged: Judged) -> Iterator[Found]:
    every = judged.service.all
    for place in (judged.reservations, every.get("gpus")):
        for item in place.items if place else ():
            yield from _malformed(item, place is judged.reservations, every)
    if (limits := every.get("deploy", "resources", "limits", "devices")) is not None:
        yield on(limits, "gpu-request-malformed", "error", "limits")
    for key in ("reservations", "resources"):
        if (stray := every.get(key)) is not None:
            yield on(stray, "gpu-request-malformed", "error", key)
    for path in (("deploy", "reservations"), ("deploy", "devices"), ("deploy", "resources", "devices")):
        if (stray := every.get(*path)) is not None:
            yield on(stray, "gpu-request-malformed", "error", ".".join(path))
    node = every.get("runtime")
    jetson = judged.image.kind.jetson or bool(judged.site and judged.site.jetpack)
    if node is not None and node.text == "nvidia" and not jetson:
        yield on(node, "legacy-runtime-key", "note", "runtime: nvidia")
    amd = judged.image.vendor == "amd" and any("/dev/" in device for device in judged.devices)
    if judged.for_gpu and not judged.asks and not amd:
        yield judged.whole("gpu-not-requested", "error")


def _malformed(item: Marked, strict: bool, every: Marked) -> Iterator[Found]:
    first = (every.get("deploy") or item).first if strict else item.first
    node, ids, count = item.get("capabilities"), item.get("device_ids"), item.get("count")
    reason = ""
    if strict and (node is None or (not node.items and not node.text)):
        reason = "capabilities"
    elif node is not None and node.text:
        reason = "capabilities: " + node.text
    elif ids is not None and count is not None:
        reason = "count, device_ids"
    if reason:
        yield Found("gpu-request-malformed", "error", first, item.last, reason)


def _amd(judged: Judged) -> Iterator[Found]:
    """ROCm needs both nodes."""
    named = " ".join(judged.devices)
    kfd, dri = "/dev/kfd" in named, "/dev/dri" in named
    rocm = judged.image.vendor == "amd" or judged.image.build.kind == "rocm" or re.search(r"\brocm|hipcc", judged.command)
    other = "/dev/dxg" in named or "amd.com/" in named or judged.runtime == "amd" or judged.privileged or judged.image.vendor == "any"
    if rocm and (kfd != dri) and not other and not judged.off:
        node = judged.service.all.get("devices") or judged.service.all.get("runArgs") or judged.service.all
        yield on(node, "rocm-device-missing", "error", named)
    elif kfd and not dri and not other:
        yield on(judged.service.all.get("devices") or judged.service.all, "rocm-device-missing", "error", named)


def _groups(judged: Judged) -> Iterator[Found]:
    node = judged.service.all.get("group_add")
    if node is not None and any(item.text == "render" for item in node.items):
        yield on(node, "device-group-by-name", "warning", "render")
    for node in (judged.service.all.get("runArgs") or Marked([], 0, 0)).items:
        if node.text == "--group-add=render":
            yield on(node, "device-group-by-name", "warning", "render")
    words_of = (judged.service.all.get("runArgs") or Marked([], 0, 0)).items
    for before, node in itertools.pairwise(words_of):
        if before.text == "--group-add" and node.text == "render":
            yield on(node, "device-group-by-name", "warning", "render")


def _memory(judged: Judged) -> Iterator[Found]:
    many = _WORKERS.search(judged.command)
    variables = " ".join(name for name in judged.service.variables if name.startswith("NCCL_"))
    if (many or (variables and (judged.for_gpu or judged.asks))) and not judged.shared:
        yield judged.whole("shm-too-small", "warning", judged.command or variables)


# -- variables -----------------------------------------------------------------------------------------


def _variables(judged: Judged) -> Iterator[Found]:
    variables = judged.service.variables
    value, line = variables.get("CUDA_VISIBLE_DEVICES", (None, 0))
    if value is not None and not _FILLED.search(value) and judged.asks and _blind(value, judged):
        yield Found("wrong-visibility-variable", "error", line, line, f"CUDA_VISIBLE_DEVICES={value}")
    value, line = variables.get("NVIDIA_VISIBLE_DEVICES", (None, 0))
    if value in ("void", "none", "") and (judged.asks or judged.for_gpu):
        yield Found("wrong-visibility-variable", "error", line, line, f"NVIDIA_VISIBLE_DEVICES={value}")
    value, line = variables.get("NVIDIA_DRIVER_CAPABILITIES", (None, 0))
    if value:
        cuda = judged.image.build.kind == "cuda" or bool(judged.built and judged.built.wants_gpu)
        if missing := lacking(value, judged.command, cuda):
            yield Found("nvidia-driver-capabilities-missing", "error", line, line, f"{value}: {missing}")
    value, line = variables.get(_OVERRIDE, (None, 0))
    if value and judged.site and is_bad(value, judged.site):
        yield Found("override-in-image", "error", line, line, f"{_OVERRIDE}={value}")


def _blind(value: str, judged: Judged) -> bool:
    """No device is left, or one is named that is not handed over."""
    if value in ("", "all", "-1", "none"):
        return value != "-1" or bool(judged.reservations)
    numbers = [int(number) for number in value.split(",") if number.strip().isdigit()]
    handed = _handed(judged)
    return bool(numbers) and handed is not None and max(numbers) >= handed


def _handed(judged: Judged) -> int | None:
    """How many devices are handed over; None for all of them."""
    places = [node for node in (judged.reservations, judged.service.all.get("gpus")) if node is not None]
    for item in (item for place in places for item in place.items):
        ids, count = item.get("device_ids"), item.get("count")
        if ids is not None:
            return len(ids.items)
        if count is not None and count.text.isdigit():
            return int(count.text)
    visible = judged.service.variables.get("NVIDIA_VISIBLE_DEVICES", ("", 0))[0] or ""
    return len(visible.split(",")) if judged.runtime == "nvidia" and re.fullmatch(r"[\d,]+", visible) else None


# -- what is open --------------------------------------------------------------------------------------


def _open(judged: Judged) -> Iterator[Found]:
    every, image_name = judged.service.all, judged.service.image.text if judged.service.image else ""
    features = " ".join((every.get("features") or Marked({}, 0, 0)).keys)
    inner = "dind" in image_name or "docker-in-docker" in features
    if judged.privileged and not inner:
        node = every.get("privileged") or every.get("runArgs") or every
        yield on(node, "privileged", "warning", "privileged")
    for key in ("cap_add", "capAdd"):
        for node in (every.get(key) or Marked([], 0, 0)).items:
            if node.text.upper() in ("ALL", "CAP_ALL"):
                yield on(node, "privileged", "warning", "ALL")
    yield from _ports(judged, image_name)


def _ports(judged: Judged, image_name: str) -> Iterator[Found]:
    kind, command = judged.image.kind, judged.command
    has_token_of_own = kind.own_token and not any(_NO_TOKEN.search(word) for word in judged.service.words)
    if is_one("image with a login of its own", image_name.partition("@")[0]) or has_token_of_own:
        return
    if not (
        kind.server
        or judged.asks
        or judged.for_gpu
        or {word.rpartition("/")[2] for word in command.split()} & set(words("server"))
        or kind.vendor
    ):
        return
    for node in (judged.service.all.get("ports") or judged.service.all.get("appPort") or Marked([], 0, 0)).items:
        if judged.service.dev and node.text.isdigit():
            continue  # the tools publish a number on 127.0.0.1
        target, address = node.get("target"), node.get("host_ip")
        if target is not None:
            inner, given = target.text, address.text if address else ""
            outer = (node.get("published") or target).text
        elif found := _PORT.fullmatch(node.text):
            inner, given, outer = found["inner"], found["ip"] or "", found["out"] or ""
        else:
            continue
        given = re.sub(r"^\$\{\w+:?-([^}]*)\}$", r"\1", given)
        local = given.startswith(("127.", "localhost", "[::1]", "${"))
        if not local and not (given == "" and (inner in _WEB and outer in (*_WEB, ""))):
            yield on(node, "port-on-all-interfaces", "warning", node.text, _local_port(node))


def _local_port(node: Marked) -> Edit | None:
    """The line with the address before the port."""
    if not re.fullmatch(r"\d+:\d+(?:/tcp)?", node.text) or node.first != node.last:
        return None
    return Edit(line=[node.first, node.last], text="\x00".join(("", node.text, "127.0.0.1:" + node.text)))


def _mounts(judged: Judged) -> Iterator[Found]:
    """What of the host is inside, and who writes there."""
    every, mine = judged.service.all, []
    for node in (every.get("volumes") or Marked([], 0, 0)).items:
        source, read_only = _source(node)
        if re.search(r"(?:docker|podman|containerd)\.sock$", source):
            yield on(node, "docker-socket-mounted", "warning", source)
        elif _HERE.match(source) and not read_only:
            mine.append(source)
    if judged.service.dev:
        for node in (every.get("mounts") or Marked([], 0, 0)).items:
            if re.search(r"docker\.sock", node.text or (node.get("source") or node).text):
                yield on(node, "docker-socket-mounted", "warning", "docker.sock")
        if judged.root and not (judged.service.all.get("dockerComposeFile")):
            yield judged.whole("runs-as-root-with-mount", "note", "remoteUser")
    elif mine and judged.root:
        quiet = all(_CACHE.search(path) for path in mine) or any(
            re.search(r"\.(?:ya?ml|json|toml|conf|cfg|ini|env|sh)$", path) for path in mine
        )
        yield judged.whole("runs-as-root-with-mount", "note" if quiet else "warning", " ".join(mine))


def _source(node: Marked) -> tuple[str, bool]:
    """Where a mount is from, and whether it can only be read."""
    if node.keys:
        kind, source, only = node.get("type"), node.get("source"), node.get("read_only")
        bind = kind is None or kind.text == "bind"
        return (source.text if source and bind else ""), bool(only and only.value is True)
    parts = re.split(r":(?![^{]*\})", node.text)
    return (parts[0] if len(parts) > 1 else ""), len(parts) > 2 and "ro" in parts[2].split(",")


# -- images and secrets ----------------------------------------------------------------------------------


def _image(judged: Judged) -> Iterator[Found]:
    every, named = judged.service.all, judged.named
    if named is not None:
        yield from of_tag(judged.image, named.first, named.last, named.text)
        kind = judged.image.kind
        if judged.asks and kind.vendor == "cpu" and kind.gpu_tag and not judged.off:
            yield on(named, "base-image-cpu-only", "error", named.text)
        if judged.site is not None:
            yield from of_machine(judged.image, judged.site, named.first, named.last, _OVERRIDE in judged.service.variables)
    platform = every.get("platform")
    if platform is not None and judged.site is not None and other_platform(platform.text, judged.site):
        yield on(platform, "image-for-other-cpu", "error")


def _secrets(judged: Judged) -> Iterator[Found]:
    for name, (value, line) in judged.service.variables.items():
        if value and (has_token(value) or _is_literal_secret(name, value)):
            yield Found("secrets-in-layer", "error", line, line, name)
    for key in ("command", "entrypoint"):
        node = judged.service.all.get(key)
        if node is not None and has_token(" ".join([node.text, *(item.text for item in node.items)])):
            yield on(node, "secrets-in-layer", "error", key)
    arguments = judged.service.all.get("build", "args")
    for name, node in (arguments.keys if arguments else {}).items():
        if is_secret(name) and (node.text and (_FILLED.search(node.text) or has_token(node.text))):
            yield on(node, "secrets-in-layer", "error", name)


def _is_literal_secret(name: str, value: str) -> bool:
    plain = value.strip()
    return (
        is_secret(name) and not _FILLED.search(plain) and len(plain) >= 20 and bool(re.search(r"\d", plain)) and not plain.startswith("/")
    )


def by_others(service: Service, read: Callable[[str], str], text: str) -> bool:
    """A file beside, which this one names, asks for the GPU in its stead."""
    names = set(re.findall(r"[\w./-]*compose[\w.-]*\.ya?ml", text)) | {
        "compose.override.yaml",
        "compose.override.yml",
        "docker-compose.override.yml",
        "docker-compose.override.yaml",
    }
    extends = service.all.get("extends", "file")
    names |= {extends.text} if extends else set()
    for name in sorted(names):
        source = read(name)
        if service.name in source and re.search(r"^\s+(?:gpus|devices|runtime):", source, re.MULTILINE):
            return True
    return False
