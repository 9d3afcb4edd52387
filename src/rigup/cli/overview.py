"""What the doctor looked at, a line for each: the system, devices, toolkits, containers, environments, kernels, scheduler."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from msgspec import UNSET

from rigup.language import _
from rigup.schemas.doctor import Doctor
from rigup.schemas.machine import Machine
from rigup.schemas.shared import BoundDriver, Device, Facts, Finding, Hardware, Memory
from rigup.sizes import memory as bytes_of_memory

GOOD, BAD, WEAK, OPEN, ASIDE = "good", "bad", "weak", "open", "aside"  # works; does not; less well; nobody can tell; has no part in it
_STATES = {"verified": GOOD, "expected": GOOD, "on-trial": WEAK, "no": BAD}
_AROUND = ("container", "library", "framework")  # layers of what lies around a card
_MOST = 6  # environments and kernels that are shown, unless asked for more
_SYSTEMS = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}
_FRAMEWORKS = (
    "jax",
    "jaxlib",
    "onnxruntime",
    "onnxruntime-gpu",
    "onnxruntime-directml",
    "onnxruntime-rocm",
    "vllm",
    "llama-cpp-python",
    "torch-directml",
    "bitsandbytes",
    "intel-extension-for-pytorch",
    "mlx",
    "tensorflow",
)


class Line(NamedTuple):
    """One thing that was looked at.

    Attributes:
        mark: good, bad, weak or open.
        title: what kind of thing it is.
        facts: what is known of it.
        state: a sentence about it, "" for none.

    """

    mark: str
    title: str
    facts: tuple[str, ...]
    state: str = ""


def overview(answer: Doctor, verbose: int = 0) -> list[Line]:
    """All that is known to have been looked at, in the order in which it stands upon each other."""
    machine = answer.machine
    parts = (
        _system(answer, verbose),
        _hosted(machine),
        _devices(answer, verbose),
        _toolkits(machine, verbose),
        _containers(answer),
        _environments(answer, verbose),
        _kernels(machine, verbose),
        _scheduler(answer),
    )
    return [line for lines in parts for line in lines]


def _of_layer(layer: str, answer: Doctor) -> str:
    """How a thing stands of which causes of one layer tell."""
    loud = [finding.severity for finding in answer.findings if _layer(finding.cause) == layer]
    return BAD if "error" in loud else WEAK if "warning" in loud else GOOD


def _layer(cause: str) -> str:
    from rigup.knowledge.doctor_tables import causes

    row = causes().get(cause)
    return row.layer if row else ""


# -- the machine -------------------------------------------------------------------------------------


def _system(answer: Doctor, verbose: int) -> list[Line]:
    machine = answer.machine
    platform = _first(machine, "platforms")
    distribution = _first(machine, "distributions")
    names = [distribution.get("name") or " ".join(_known_values(distribution, "id", "version"))]
    kernel = " ".join(filter(None, [_SYSTEMS.get(str(platform.get("system")), ""), _release(platform)]))
    world = _own_world(machine)
    total = _first(machine, "memories").get("total")
    facts = [
        *names,
        kernel if kernel not in str(names[0]) else "",
        _("WSL {version}").format(version=platform["wsl"]) if platform.get("wsl") else "",
        _("in a container of {engine}").format(engine=world) if world else "",
        str(platform.get("architecture") or ""),
        _("{size} of memory").format(size=bytes_of_memory(total)) if total else "",
        str(_first(machine, "cpus").get("model") or "") if verbose else "",
        _("Secure Boot is on") if verbose and platform.get("secure_boot") else "",
        str(platform.get("hypervisor") or "") if verbose else "",
    ]
    return _line(_of_system(answer), _("System"), facts)


def _of_system(answer: Doctor) -> str:
    """The system itself is at fault where one maker's cards are not: WSL's first version, a machine that goes off."""
    from rigup.knowledge.doctor_tables import causes

    rows = ((finding.severity, causes().get(finding.cause)) for finding in answer.findings)
    loud = [severity for severity, row in rows if row and row.layer == "firmware" and not row.about and not row.makers]
    return BAD if "error" in loud else GOOD


def _own_world(machine: Machine) -> str:
    """What the container is in which the system itself was seen; one that was only started beside it is none."""
    seen = {fact.get("place") for fact in (*(machine.platforms or ()), *(machine.distributions or ()))}
    worlds = (fact for fact in machine.worlds or () if fact.get("container"))
    inside = (fact for fact in worlds if fact.get("place") in seen or not (seen or "gpu_requested" in fact))
    return next((str(fact["container"]) for fact in inside), "")


def _hosted(machine: Machine) -> Iterator[Line]:
    """What a service that lends the machine grants: nobody finds that by looking."""
    for service in machine.hosted_notebooks or ():
        facts = [
            str(service.get("name")),
            _("a session ends after {hours} h").format(hours=service["session_hours"]) if service.get("session_hours") else "",
            _("one left alone after {minutes} min").format(minutes=service["idle_minutes"]) if service.get("idle_minutes") else "",
            _("kept: {folders}").format(folders=", ".join(map(str, service["kept"]))) if service.get("kept") else _("nothing is kept"),
            _("pip and apt install until its end") if service.get("is_root") else _("pip installs until its end"),
            _("the driver is the service's; no systemd, no docker"),
        ]
        yield Line(GOOD, _("Hosted"), tuple(filter(None, facts)))


def _release(platform: dict[str, Any]) -> str:
    """The kernel's release; where systems are known by their own version, that."""
    own = platform.get("system") in ("macos", "windows") and platform.get("version")
    if str(own).startswith("10.16"):  # what macOS tells programs that were built for old releases, whatever it is
        return ""
    return str(own or platform.get("release") or "")


def _devices(answer: Doctor, verbose: int) -> Iterator[Line]:
    devices = answer.machine.accelerators
    if devices == []:
        yield Line(GOOD, _("GPU"), (_("none in this machine"),))
    for _same, group in groupby(devices or [], lambda device: _look(device, verbose)):
        alike = list(group)
        yield _device(alike, answer, verbose)


def _look(device: Device, verbose: int) -> tuple[Any, ...]:
    """What two devices have alike that share a line."""
    return (device.index,) if verbose else (_device_facts(device, 0), device.state, device.because)


def _device(alike: list[Device], answer: Doctor, verbose: int) -> Line:
    device, last = alike[0], alike[-1]
    cause = next((finding for finding in answer.findings if finding.title == device.because), None)
    apart = cause is not None and device.state == "no" and _lies_apart(cause, device)
    mark = GOOD if apart else ASIDE if device.use == "none" else _STATES[device.state]
    mark = OPEN if device.state == "expected" and device.use is UNSET and answer.verdict == "unknown" else mark
    mark = WEAK if mark in (GOOD, OPEN) and any(_has_warning(member, answer) for member in alike) else mark
    numbers = str(device.index) + ("–" + str(last.index) if last is not device else "")
    facts = _device_facts(device, verbose)
    named = (_("{count} × {name}").format(count=len(alike), name=facts[0]), *facts[1:], *_cards(alike)) if len(alike) > 1 else facts
    because = cause.cause if cause else device.because  # what is said above needs no repetition
    state = _("{state}: {because}").format(state=_("kept from its work") if apart else state_name(device), because=because)
    if verbose and device.next:
        state += "\n" + device.next
    return Line(mark, _("GPU {number}").format(number=numbers), named, state)


def _cards(alike: list[Device]) -> tuple[str, ...]:
    """How many cards these GPUs are, where runtimes count the dies of a card."""
    from rigup.knowledge.gpus import gpus_of_a_card

    each = gpus_of_a_card(str(alike[0].name or ""))
    whole = each > 1 and len(alike) % each == 0
    return (_("{cards} cards of {dies} GPUs each").format(cards=len(alike) // each, dies=each),) if whole else ()


def _has_warning(device: Device, answer: Doctor) -> bool:
    """Whether a finding that is no more than a warning is about this device."""
    warnings = [finding for finding in answer.findings if finding.severity == "warning"]
    return any(finding.subject in _names(device) or finding.cause in device.because for finding in warnings)


def _names(device: Device) -> set[Any]:
    return {device.pci_address, device.name, device.uuid} - {UNSET}


def _lies_apart(finding: Finding, device: Device) -> bool:
    """Whether what has to be mended is an environment or a container, and the card has no part in it."""
    from rigup.knowledge.doctor_tables import causes

    row = causes().get(finding.cause)
    return row is not None and row.layer in _AROUND and row.about != "Gpu" and finding.subject not in _names(device)


def _device_facts(device: Device, verbose: int) -> tuple[str, ...]:
    driver = device.driver or BoundDriver()
    bound = driver_name(driver)
    cuda = driver.shown_cuda
    words = _("driver {driver}").format(driver=bound + (" (CUDA " + str(cuda) + ")" if cuda else "")) if bound else ""
    more = [device.pci_address or "", device.pci_id or "", device.power or ""] if verbose else []
    return tuple(filter(None, [name_of(device), device.isa or "", memory(device), words, *more]))


def _toolkits(machine: Machine, verbose: int) -> list[Line]:
    named = {"cuda": "CUDA", "rocm": "ROCm", "oneapi": "oneAPI"}
    kits = machine.toolkits or ()
    names = [
        named.get(kit.get("name", ""), str(kit.get("name", "")))
        + " "
        + str(kit.get("version", ""))
        + (" (" + str(kit["path"]) + ")" if verbose and kit.get("path") else "")
        for kit in kits
    ]
    return _line(GOOD, _("Toolkits"), names)


def _containers(answer: Doctor) -> list[Line]:
    machine = answer.machine
    engines = [
        " ".join(filter(None, [str(row.get("name", "")), "(" + ", ".join(_runtimes(row)) + ")" if _runtimes(row) else ""]))
        for row in machine.container_engines or ()
    ]
    installed = any(row.get("name") == "nvidia-container-toolkit" for row in machine.system_packages or ())
    toolkit = ["NVIDIA Container Toolkit"] if machine.container_toolkits or installed else []
    engines = engines or sorted({str(row["container"]) for row in machine.worlds or () if row.get("container") and "gpu_requested" in row})
    cdi = sorted({str(row["kind"]) for row in machine.cdi_specs or () if row.get("kind")})
    return _line(_of_layer("container", answer), _("Containers"), [*engines, *toolkit, *cdi])


def _runtimes(engine: dict[str, Any]) -> list[str]:
    """Runtimes that give a container GPUs."""
    return [str(name) for name in engine.get("runtimes") or [] if "nvidia" in str(name) or "amd" in str(name)]


# -- software ----------------------------------------------------------------------------------------


def _environments(answer: Doctor, verbose: int) -> Iterator[Line]:
    machine = answer.machine
    envs = {str(env["prefix"]): env for env in machine.python_envs or () if env.get("prefix")}
    named = [str(fact.get("env") or "") for kind in ("torches", "tensorflows") for fact in _facts_of(machine, kind)]
    rows = [(prefix, _frameworks(prefix, machine, verbose)) for prefix in dict.fromkeys([*envs, *named])]
    shown = [(prefix, names) for prefix, names in rows if names or verbose or envs.get(prefix, {}).get("active")]
    shown.sort(key=lambda pair: not envs.get(pair[0], {}).get("active"))
    for prefix, names in shown if verbose else shown[:_MOST]:
        yield _environment(prefix, envs.get(prefix, {}), names, answer)
    if len(shown) > _MOST and not verbose:
        more = _("… {count} more with -v").format(count=len(shown) - _MOST)
        yield Line(OPEN, _("Environment"), (more,))


def _environment(prefix: str, env: dict[str, Any], frameworks: list[str], answer: Doctor) -> Line:
    python = "Python " + str(env["version"]) if env.get("version") else ""
    mark, proof = _proof(prefix, answer)
    loud = [finding.severity for finding in answer.findings if _is_in(finding, prefix, answer)]
    mark = BAD if mark == BAD or "error" in loud else WEAK if "warning" in loud else mark
    none = [_("no framework")] if python else []  # of what a text names alone nobody saw what is in it
    facts = [prefix, python, *(frameworks or none)]
    return Line(mark, _("Environment"), tuple(filter(None, facts)), proof)


def _is_in(finding: Finding, prefix: str, answer: Doctor) -> bool:
    """Whether a finding lies in an environment: its evidence names it, or there is no other."""
    from rigup.knowledge.doctor_tables import causes

    row = causes().get(finding.cause)
    if finding.severity == "note" or row is None or row.layer not in ("library", "framework") or row.about == "JupyterKernel":
        return False  # a kernel that starts another Python says nothing against the one that it does not start
    named = any(prefix and prefix in text for line in finding.evidence for text in (line.source, str(line.value)))
    builds = (*(answer.machine.torches or ()), *(answer.machine.tensorflows or ()))
    envs = {build.get("env") for build in builds} or {env.get("prefix") for env in answer.machine.python_envs or ()}
    return named or finding.subject == prefix or envs == {prefix or None} or envs == {prefix}


def _proof(prefix: str, answer: Doctor) -> tuple[str, str]:
    """What `rigup verify` found in an environment."""
    from rigup.diagnosis.verifications import failure_text

    failed = next((failure for failure in answer.failed_verifications if failure.environment == prefix), None)
    if failed:
        return BAD, failure_text(failed)
    records = [proof for proof in answer.machine.proofs or () if prefix in (proof.get("env"), proof.get("prefix"))]
    passed = max((str(proof.get("recorded_at", "")) for proof in records if not proof.get("failed")), default="")
    return GOOD, _("`rigup verify` proved it on {date}").format(date=passed[:10]) if passed else ""


def _frameworks(prefix: str, machine: Machine, verbose: int) -> list[str]:
    """Frameworks of an environment with their versions."""
    names = {"torches": "torch", "tensorflows": "tensorflow"}
    versions = {
        name: name + " " + str(fact.get("version") or "")
        for kind, name in names.items()
        for fact in _facts_of(machine, kind)
        if str(fact.get("env") or "") == prefix and (prefix or fact.get("version"))
    }
    for package in machine.packages or ():
        if package.get("env") == prefix and package.get("name") in _FRAMEWORKS and package["name"] not in versions:
            versions[package["name"]] = package["name"] + " " + str(package.get("version") or "")
    most = len(versions) if verbose else _MOST
    return [text.strip() for text in list(versions.values())[:most]]


def _kernels(machine: Machine, verbose: int) -> Iterator[Line]:
    rows = list(machine.jupyter_kernels or ())
    names = [
        str(row.get("shown") or row.get("name") or "") + (" → " + str(row["prefix"]) if row.get("prefix") else "")
        for row in rows
        if not row.get("gone")
    ]
    more = [_("… {count} more with -v").format(count=len(names) - _MOST)] if len(names) > _MOST and not verbose else []
    yield from _line(GOOD, _("Notebooks"), [*(names if verbose else names[:_MOST]), *more])
    sentence = _(
        "{kernel}: its Python, {python}, is not there any more. Register one anew from the environment that it is to start (python -m ipykernel install --user --name {name}), or remove it (jupyter kernelspec remove {name})."
    )
    for row in rows:
        if row.get("gone"):
            name = str(row.get("name") or "")
            told = sentence.format(kernel=row.get("shown") or name, python=row.get("python"), name=name)
            yield from _line(BAD, _("Notebooks"), [told])


def _scheduler(answer: Doctor) -> list[Line]:
    machine = answer.machine
    nodes = {str(node.get("nodes", "")): str(node.get("gres", "")) for node in reversed(machine.slurm_nodes or ())}
    settings = {setting.get("name"): str(setting.get("value", "")) for setting in machine.slurm_settings or ()}
    if not nodes and not settings:
        return []
    node_texts = [" ".join(filter(None, pair)) for pair in nodes.items()]
    named = [" ".join(filter(None, ["Slurm", settings.get("ClusterName", "")])), *node_texts[:4]]
    return _line(_of_layer("scheduler", answer), _("Scheduler"), named)


# -- words -------------------------------------------------------------------------------------------


def _line(mark: str, title: str, facts: Iterable[str]) -> list[Line]:
    known = tuple(dict.fromkeys(fact for fact in facts if fact))
    return [Line(mark, title, known)] if known else []


def _first(machine: Machine, kind: str) -> dict[str, Any]:
    return next(iter(_facts_of(machine, kind)), {})


def _facts_of(machine: Machine, kind: str) -> Facts:
    """Facts of one kind, by the name of their list; empty where none is known."""
    return getattr(machine, kind) or []


def _known_values(fact: dict[str, Any], *names: str) -> list[str]:
    return [str(fact[name]) for name in names if fact.get(name)]


def state_names() -> dict[str, str]:
    """The four honest states of a device."""
    return {"verified": _("verified"), "expected": _("expected to work"), "on-trial": _("on trial"), "no": _("will not work")}


def state_name(device: Device) -> str:
    """The same, or what was seen of its use."""
    return {"computes": _("seen to work"), "none": _("not used by torch")}.get(str(device.use), state_names()[device.state])


def name_of(device: Hardware) -> str:
    """The name of a device, or what is known of one without a name."""
    if device.name:
        return str(device.name)
    if device.vendor == "microsoft":
        return _("a GPU of the Windows host")
    makers = {"amd": "AMD", "apple": "Apple", "intel": "Intel", "nvidia": "NVIDIA"}
    maker = makers.get(str(device.vendor), str(device.vendor or ""))
    return str(device.pci_id or (maker + " GPU").strip())


def driver_name(driver: BoundDriver) -> str:
    """A driver with its version, as far as they are known."""
    return " ".join(part for part in (driver.name, driver.version) if part)


def memory(device: Hardware) -> str:
    """The memory that a person counts with."""
    pools = device.memory or Memory()
    kinds = (pools.vram, pools.gtt, pools.unified) if device.integrated else (pools.vram,)
    most = max((pool for pool in kinds if pool), default=0)
    return bytes_of_memory(most) if most else ""
