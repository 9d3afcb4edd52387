"""What ollama runs with here, and what keeps it from the GPU: facts, its log, and the doctor's findings that touch it."""

from collections.abc import Sequence
from typing import Any

from rigup.fit.pools import Pool
from rigup.fit.where import pools_seen
from rigup.llm.ollama import loaded as in_memory
from rigup.llm.ollama.reading import RELEVANT, SERVICE, UNIT, Read, devices, read
from rigup.machine.facts import Fact
from rigup.machine.host import Host
from rigup.machine.kinds import Gpu, HomeFolder, Platform, Service, Variable
from rigup.machine.store import Facts
from rigup.schemas.ollama import Computes, Folder, Integrated, OllamaDoctor, Setting
from rigup.schemas.shared import Finding

_MANAGERS = {"linux": "systemd", "macos": "launchd", "windows": "windows"}
_OF_THE_SERVICE = "/usr/share/ollama"
_PYTHONS = ("PythonEnv", "Torch", "TensorFlow", "Package", "JupyterKernel", "Proof", "ProvenPackage")
_OURS = ("", SERVICE, UNIT, "service", "unit", "program")
_SETTABLE = ("HSA_", "HIP_", "ROCR_", "CUDA_", "GPU_", "OLLAMA_")


def examined(source: str | None) -> OllamaDoctor:
    """Look at ollama on this machine (None), or as a capture, a report or a log shows it. Raises SourceError."""
    from rigup.diagnosis.answer import examined as judged
    from rigup.machine.sources import close_sources

    try:
        seen = read(source)
        diagnosis = judged(seen.sources)
    finally:
        close_sources()
    facts = diagnosis.facts
    service = next((service for service in facts.of(Service) if service.get("name") == "ollama"), None)
    version = _version(seen.host)
    is_installed = service is not None or version is not None or seen.running or bool(seen.log)
    findings = [_shown(finding, facts) for finding in diagnosis.findings if is_installed and _touches(finding)]
    running = seen.running if seen.running is not None else (service.get("running") if service else None)
    computes, settings = devices(seen.log), _settings(facts, seen)
    environment = _in_force(settings)
    pools = pools_seen(facts)
    inside = _integrated(facts, computes, pools)
    held, unread = in_memory.loaded(seen.host if running is not False else None, environment, inside, pools)
    return OllamaDoctor(
        verdict=_verdict(findings, computes, seen, is_installed),
        manager=_manager(facts, service),
        version=version,
        running=running,
        user=service.get("user") if service else None,
        settings=settings,
        devices=computes,
        models=_models(settings, service, facts, seen.host),
        loaded=held,
        integrated=inside,
        findings=findings,
        unseen=[*(seen.unseen if is_installed else []), *unread],
    )


def _touches(finding: Any) -> bool:
    """Whether a finding is about the machine or ollama itself, and not about a Python or another program."""
    if finding.params.get("service") == "ollama":
        return True
    return finding.place.process in _OURS and finding.subject.kind not in _PYTHONS


def _shown(finding: Any, facts: Facts) -> Finding:
    from rigup.diagnosis.answer import show
    from rigup.diagnosis.findings import heard_in

    return show(finding, facts, heard_in(facts))


def _verdict(findings: list[Finding], computes: list[Computes], seen: Read, is_installed: bool) -> Any:
    if not is_installed:
        return "absent"
    loud = {finding.severity for finding in findings if not finding.guess}
    if "error" in loud:
        return "broken"
    if "warning" in loud:
        return "degraded"
    return "healthy" if computes or (seen.running and seen.log) else "unknown"


def _manager(facts: Facts, service: Fact | None) -> Any:
    system = next((platform.get("system", "") for platform in facts.of(Platform)), "")
    if system == "linux" or not system:
        return "systemd" if service is not None else "none"
    return _MANAGERS.get(system, "none")


def _version(host: Host | None) -> str | None:
    """`ollama version is 0.12.3`; without a server its client's own, behind a warning."""
    import re

    text = (host.run(("ollama", "--version"), 5.0).body or "") if host else ""
    found = re.search(r"version is (\d[\w.+-]{0,40})", text)
    return found[1] if found else None


# -- settings ----------------------------------------------------------------------------------------


def _settings(facts: Facts, seen: Read) -> list[Setting]:
    """Every variable that decides something, as the unit gives it, as the server has it, as a login shell has it."""
    at: dict[str, dict[str, Variable]] = {UNIT: {}, SERVICE: {}, "shell": {}}
    for variable in facts.of(Variable):
        name, process = variable.get("name"), variable.place.process
        if isinstance(name, str) and process in at and RELEVANT.fullmatch(name):
            at[process].setdefault(name, variable)
    known = bool(at[SERVICE]) or seen.environment is not None
    names = sorted({*at[UNIT], *at[SERVICE], *at["shell"]}, key=lambda name: (not name.startswith(_SETTABLE), name))
    return [setting for name in names if (setting := _setting(name, at, known))]


def _setting(name: str, at: dict[str, dict[str, Variable]], known: bool) -> Setting | None:
    """One variable; None for one that is set nowhere."""
    given, has, wished = (at[process].get(name) for process in (UNIT, SERVICE, "shell"))
    configured, running, shell = (variable.get("value") or None if variable else None for variable in (given, has, wished))
    if configured is None and running is None and shell is None:
        return None
    source = given.fields["value"].where.source if given and configured is not None else None
    return Setting(
        name=name, configured=configured, source=source, running=running, shell=shell, state=_state(name, configured, running, known)
    )


def _state(name: str, configured: str | None, running: str | None, known: bool) -> Any:
    if not known:
        return "unknown" if configured is not None else "shell-only"
    if configured is None:
        return "running-only" if running is not None else "shell-only"
    return "in-force" if _is_same_value(name, configured, running) else "not-taken-over"


def _is_same_value(name: str, configured: str, running: str | None) -> bool:
    """Its log writes values out: 1 as true, a host with scheme and port, a time with all its units."""
    if running is None:
        return False
    plain = {"1": "true", "0": "false"}
    if running in (configured, plain.get(configured)):
        return True
    if name == "OLLAMA_HOST":
        current, wish = (address.rpartition("//")[2].rstrip("/") for address in (running, configured))
        return wish in (current, current.rpartition(":")[0]) or wish + ":11434" == current
    return name in ("OLLAMA_KEEP_ALIVE", "OLLAMA_LOAD_TIMEOUT") and running.startswith(configured)


def _in_force(settings: list[Setting]) -> dict[str, str]:
    """What the server has, as far as anybody knows: what it was seen with, else what it is given."""
    found = {setting.name: setting.running or (setting.configured if setting.state == "unknown" else None) for setting in settings}
    return {name: value for name, value in found.items() if value is not None}


def _models(settings: list[Setting], service: Fact | None, facts: Facts, host: Host | None) -> Folder:
    """Where models lie: the variable tells, else the home of whom the server runs as."""
    setting = next((setting for setting in settings if setting.name == "OLLAMA_MODELS"), None)
    path = setting and (setting.running or setting.configured)
    by = "OLLAMA_MODELS" if setting and setting.configured else "default"
    if not path:
        home = next((folder.get("path") for folder in facts.of(HomeFolder) if folder.get("role") == "home"), None)
        home = _OF_THE_SERVICE if service is not None and service.get("user", "ollama") == "ollama" else home
        path = home and f"{home}/.ollama/models"
    words = ((host.run(("df", "-Pk", path), 5.0).body or "").splitlines()[-1:] if host and path else []) or [""]
    free = words[0].split()[3:4]
    return Folder(path=path or None, decided_by=by, free=int(free[0]) << 10 if free and free[0].isdecimal() else None)  # type: ignore[arg-type]


def _integrated(facts: Facts, computes: list[Computes], pools: Sequence[Pool]) -> list[Integrated]:
    """Graphics in the processor, with what the machine has for them and what ollama counts."""
    usable = {pool.name: pool.total for pool in pools if pool.within}
    counted = [device.total for device in computes if device.library != "cpu"]
    found = []
    for gpu in facts.of(Gpu):
        if not gpu.get("integrated"):
            continue
        name = str(gpu.get("name") or gpu.get("vendor") or "")
        found.append(
            Integrated(
                name=name,
                carved_out=gpu.get("vram"),
                mappable=gpu.get("gtt"),
                usable=usable.get(name),
                counted=counted[0] if len(counted) == 1 else None,
            )
        )
    return found
