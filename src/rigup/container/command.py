"""From a request and the facts of a machine to a command with its reasons. Nothing is read here."""

import msgspec
from msgspec import UNSET

from rigup.container import around, nodes, nvidia
from rigup.container.asked import Asked, ContainerError, checked, is_file, names_image
from rigup.container.draft import DOCKER_RUN, Draft
from rigup.container.host import Engine, Host
from rigup.container.images import Image, image, isas
from rigup.container.serving import Verdict, judge
from rigup.container.written import argv_of, environment_of, files_of
from rigup.knowledge.rocm import override_facts
from rigup.knowledge.surroundings import engine_package
from rigup.language import _
from rigup.plan.served_devices import device_json
from rigup.schemas.container import Container, Contains
from rigup.stack.candidate import Served, unserved
from rigup.stack.site import NONE, Device, Site, wanted

_VERDICTS = ("ready", "possible", "impossible")
_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


def command(asked: Asked, site: Site, host: Host) -> Container:
    """The command for a request on a machine.

    Raises:
        ContainerError: no command can be made of the request, as a sentence.
        KnowledgeError: a table is malformed.

    """
    checked(asked)
    site = _with_driver(site, host)
    engines = _engines(asked, host)
    answers = [_on(engine, asked, site, host) for engine in engines]
    return min(answers, key=lambda answer: (_VERDICTS.index(answer.verdict), len(answer.steps), -sum(d.served for d in answer.devices)))


def _with_driver(site: Site, host: Host) -> Site:
    """AMD's kernel driver, where the machine told of it; on Windows engines run in WSL, above Windows' driver."""
    site = site.but(system="linux", wsl=True) if site.system == "windows" else site
    if not host.amdgpu:
        return site
    return site.but(amd_driver=NONE if host.amdgpu == "inbox" else host.amdgpu)


def _engines(asked: Asked, host: Host) -> list[Engine]:
    """Those that can run it; one that is not there yet where none is."""
    file = is_file(asked.what)
    engines = [engine for engine in host.engines if (not asked.engine or engine.name == asked.engine) and (engine.hpc or not file)]
    if asked.form:
        engines = [engine for engine in engines if not engine.hpc]
    if engines:
        return engines
    if file and asked.engine in ("docker", "podman", "nerdctl"):
        raise ContainerError(_("{file} is an image of Apptainer's: {engine} does not run it.").format(file=asked.what, engine=asked.engine))
    return [Engine(name=asked.engine or ("apptainer" if file else "podman"), rootless=asked.engine in ("", "podman"))]


def _on(engine: Engine, asked: Asked, site: Site, host: Host) -> Container:
    """The command with one engine."""
    handed = _selected(asked, site, host)
    found, wished = _found(asked.what, site, handed)
    verdicts = {device.index: judge(found, device, site.but(devices=handed) if handed else site) for device in site.gpus}
    handed = tuple(device for device in handed if _belongs(found, device, verdicts[device.index], asked))
    draft = Draft(asked, site, host, engine, _named(found, engine), handed)
    if engine not in host.engines:
        package = engine_package(engine.name, site.distribution) or engine.name
        why = _("{engine} is not installed.").format(engine=engine.name)
        draft.need("install-engine", {"engine": engine.name, "package": package}, because=why, distribution=site.distribution)
    _start(draft)
    _hardware(draft, found, verdicts)
    around.give_all(draft, wished)
    _devices(draft, verdicts)
    return _answer(draft, verdicts)


def _found(what: str, site: Site, devices: tuple[Device, ...]) -> tuple[Image, bool]:
    """The image that was named, or that serves a wish, and which of the two it was. Raises ContainerError."""
    if not names_image(what):
        from rigup.container.wishes import as_wish, for_wish

        if wish := as_wish(what, site):
            if found := for_wish(wish, site, devices):
                return found, True
            template = _("The tables know no image for {wish} on this machine: name one.")
            raise ContainerError(template.format(wish=what))
    return image(what, _machine(site)), False


def _machine(site: Site) -> str:
    return "aarch64" if site.machine in ("aarch64", "arm64") else site.machine


def _named(found: Image, engine: Engine) -> Image:
    """Podman has no registry of its own; Apptainer tells a registry from a file by docker://."""
    plain = found.name.removeprefix("docker://")
    short = plain.removeprefix("docker.io/library/").removeprefix("docker.io/")
    first, slash, _rest = short.partition("/")
    elsewhere = bool(slash) and (first == "localhost" or "." in first or ":" in first)
    if is_file(found.name):
        name = found.name
    elif engine.hpc:
        name = "docker://" + short
    elif engine.podman and not elsewhere:
        name = ("docker.io/" if slash else "docker.io/library/") + short
    else:
        name = short
    return msgspec.structs.replace(found, name=name)


# -- devices -------------------------------------------------------------------------------------------


def _selected(asked: Asked, site: Site, host: Host) -> tuple[Device, ...]:
    """The devices that the container is to get."""
    if asked.gpu == "none":
        return ()
    if not asked.parts:
        return site.gpus if asked.gpu == "all" else wanted(site)
    parts = {name: instance.gpu for instance in host.mig for name in (instance.index, instance.uuid) if name}
    numbers = {parts.get(part, int(part.partition(":")[0]) if part[:1].isdigit() else -1) for part in asked.parts}
    if -1 in numbers:
        return wanted(site)
    unknown = numbers - {device.index for device in site.gpus}
    if unknown:
        template = _("There is no GPU {number} on this machine, which has {count}.")
        raise ContainerError(template.format(number=min(unknown), count=len(site.gpus)))
    return tuple(device for device in site.gpus if device.index in numbers)


def _belongs(found: Image, device: Device, verdict: Verdict, asked: Asked) -> bool:
    """Devices of other makers than the image is for stay outside, and those for the screen alone."""
    if device.vendor == "apple":
        return False
    if found.vendor in ("nvidia", "amd", "intel") and device.vendor != found.vendor:
        return False
    if found.vendor == "cpu" or found.build.kind == "cpu":
        return bool(asked.parts) or asked.gpu == "all"
    return verdict.served.served or not device.integrated or bool(asked.parts) or verdict.cause == "jetson-generic-wheel"


def _start(draft: Draft) -> None:
    asked = draft.asked
    if draft.engine.hpc or asked.form:
        return
    if asked.detach:
        draft.add("--detach", why=_("You asked for a container in the background."))
        draft.add("--restart", "unless-stopped", _("A service comes back after a restart of the machine."))
    else:
        draft.add("--rm")
        draft.add("--interactive")
        if asked.terminal:
            draft.add("--tty")
    if asked.name:
        draft.add("--name", asked.name, _("You asked for this name."))
    if asked.own_program and draft.image.kind.server and not draft.image.kind.own_token:  # Jupyter's start any command
        draft.add("--entrypoint=", why=_("The image starts a server of its own, and you asked for another program."))


def _hardware(draft: Draft, found: Image, verdicts: dict[int, Verdict]) -> None:
    """The devices, and what has to be said of the image on this machine."""
    _architecture(draft, found)
    if draft.of("nvidia"):
        nvidia.give(draft)
    if draft.of("amd"):
        nodes.give_amd(draft)
    if draft.of("intel"):
        nodes.give_intel(draft)
    overrides = {
        verdict.served.override for verdict in map(verdicts.get, (d.index for d in draft.devices)) if verdict and verdict.served.override
    }
    if len(overrides) == 1 and _OVERRIDE not in draft.asked.variables:
        why = _("The image has code for a sibling of this chip, which it runs under this override.")
        draft.set(_OVERRIDE, overrides.pop(), why, "knowledge/gfx_overrides")
    _bad_override(draft)
    if draft.asked.gpu == "all" and not draft.site.gpus:
        draft.warn("no-gpu-present", _("No GPU is known on this machine: the program runs on the CPU."))


def _bad_override(draft: Draft) -> None:
    """A value that breaks one of the chips, where the request sets it."""
    value = draft.asked.variables.get(_OVERRIDE, "") if _OVERRIDE in draft.asked.variables else ""
    value = draft.host.environment.get(_OVERRIDE, "") if value is None else value
    for device in draft.of("amd") if value else ():
        row = override_facts(device.isa or "")
        if row is None or value in row.bad_values or value not in (row.value, row.decimal):
            template = _("{device} does not run under {name}={value}.")
            draft.warn("wrong-hsa-override", template.format(device=device.label, name=_OVERRIDE, value=value))


def _architecture(draft: Draft, found: Image) -> None:
    """An image for another processor does not start; on a Mac it is emulated."""
    machine, machines = _machine(draft.site), found.kind.machine
    if not machines or machine in machines:
        return
    template = _("{image} is made for {made}, and this machine is {machine}.")
    draft.warn("container-wrong-architecture", template.format(image=found.name, made=machines[0], machine=machine))
    if draft.engine.in_machine and machines == ("x86_64",):
        draft.add("--platform", "linux/amd64", _("The image is there for this processor alone, and is emulated."), DOCKER_RUN)
    else:
        draft.impossible = True
        because = _("The image does not start on this processor.")
        draft.unserved |= {device.index: (because, "container_runs") for device in draft.devices}


def _devices(draft: Draft, verdicts: dict[int, Verdict]) -> None:
    """What has to be said of devices that the image does not serve."""
    for device in _spoken_of(draft, verdicts):
        verdict = verdicts[device.index]
        if (device.vendor == "nvidia" and not verdict.served.served and verdict.cause == "container-requires-newer-driver") or (
            verdict.cause and not verdict.served.served
        ):
            draft.warn(verdict.cause, verdict.served.because)


def _spoken_of(draft: Draft, verdicts: dict[int, Verdict]) -> list[Device]:
    """Devices that were wished for: those that are handed over, and those that no Linux container gets."""
    apple = [device for device in draft.site.gpus if device.vendor == "apple" and draft.asked.gpu != "none"]
    return [*draft.devices, *(device for device in apple if verdicts[device.index].cause)]


def _outcome(draft: Draft, device: Device, verdict: Verdict) -> Served:
    if device.index in draft.unserved:
        return unserved(*draft.unserved[device.index])
    if device not in draft.devices and verdict.served.served:
        return unserved(_("{device} is not handed over.").format(device=device.label))
    return verdict.served


# -- the answer ----------------------------------------------------------------------------------------


def _answer(draft: Draft, verdicts: dict[int, Verdict]) -> Container:
    found, build = draft.image, draft.image.build
    contains = {
        "cuda": build.cuda,
        "rocm": build.rocm,
        "torch": found.torch,
        "python": build.python[0] if build.python else "",
        "isas": isas(build),
    }
    return Container(
        verdict="impossible" if draft.impossible else "possible" if draft.steps else "ready",
        engine=draft.engine.name,
        image=found.name,
        image_contains=Contains(**{name: value or UNSET for name, value in contains.items()}),  # type: ignore[arg-type]
        argv=argv_of(draft),
        exports=draft.exports,
        environment=environment_of(draft),
        files=files_of(draft),
        because=draft.because,
        warnings=draft.warnings,
        devices=[device_json(device, _outcome(draft, device, verdicts[device.index])) for device in draft.site.gpus],
        steps=draft.steps,
    )
