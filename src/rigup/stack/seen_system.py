"""What stands on a machine that was looked at: facts become a `SystemState`."""

import re

from rigup.knowledge.cuda import version_key
from rigup.knowledge.driver_origins import desktop_services, driver_source
from rigup.machine.facts import Fact
from rigup.machine.host import Host
from rigup.machine.kinds import (
    Account,
    CdiSpec,
    ContainerEngine,
    ContainerToolkit,
    Gpu,
    HomeFolder,
    Kernel,
    KernelModule,
    KernelParameter,
    ModuleParameter,
    PciDevice,
    SearchPath,
    Service,
    SystemPackage,
    Toolkit,
)
from rigup.machine.store import Facts
from rigup.stack.system_state import SystemState

STANDING: tuple[type[Fact], ...] = (
    Account,
    CdiSpec,
    ContainerEngine,
    ContainerToolkit,
    Gpu,
    Kernel,
    KernelModule,
    KernelParameter,
    ModuleParameter,
    PciDevice,
    Service,
    SystemPackage,
    Toolkit,
)
"""Kinds of facts that `system_state_of` reads."""
_AMD_RELEASE = re.compile(r"\.(\d{5,9})-")  # the release inside the version of AMD's kernel package: 60204 is 6.2.4
_FABRIC = "fabricmanager"
_UV = ("/usr/bin/uv", "/usr/local/bin/uv", "/opt/homebrew/bin/uv")
_UV_AT_HOME = ("/.local/bin/uv", "/.cargo/bin/uv")


def system_state_of(facts: Facts) -> SystemState:
    """What was seen to stand there. Raises KnowledgeError for a malformed table."""
    packages = {str(package.get("name")): package for package in facts.of(SystemPackage) if package.get("state") == "installed"}
    account = next(iter(facts.of(Account)), None)
    services = tuple(str(service.get("name")) for service in facts.of(Service))
    screens = set(desktop_services())
    return SystemState(
        groups=tuple(account.get("groups") or ()) if account else (),
        assigned=tuple(account.get("assigned") or ()) if account else (),
        packages={name: str(package.get("version") or "") for name, package in packages.items()},
        driver_source=driver_source((str(package.get("manager")), name, str(package.get("version"))) for name, package in packages.items()),
        bound=_bound_drivers(facts),
        modules=tuple(str(module.get("name")) for module in facts.of(KernelModule) if module.get("loaded")),
        engines={str(engine.get("name")): tuple(engine.get("runtimes") or ()) for engine in facts.of(ContainerEngine)},
        container_toolkit=bool(facts.of(ContainerToolkit)),
        described=any(spec.get("kind") == "nvidia.com/gpu" for spec in facts.of(CdiSpec)),
        toolkits=_toolkits(facts),
        kernels=tuple(str(kernel.get("release")) for kernel in facts.of(Kernel)),
        options=_options(facts),
        services=services,
        desktop=True if screens & {name.removesuffix(".service") for name in services} else None,
    )


def _bound_drivers(facts: Facts) -> tuple[str, ...]:
    cards = (*facts.of(Gpu), *facts.of(PciDevice))
    return tuple(dict.fromkeys(str(card.get("driver")) for card in cards if card.get("driver")))


def _toolkits(facts: Facts) -> dict[str, tuple[str, ...]]:
    by_name: dict[str, list[str]] = {}
    for toolkit in facts.of(Toolkit):
        if toolkit.get("version"):
            by_name.setdefault(str(toolkit.get("name")), []).append(str(toolkit.get("version")))
    return {name: tuple(sorted(set(versions), key=version_key, reverse=True)) for name, versions in by_name.items()}


def _options(facts: Facts) -> dict[str, str]:
    """As configured where somebody read that, else as running."""
    modules = {f"{option.get('module')}.{option.get('name')}": option for option in facts.of(ModuleParameter)}
    words = {str(option.get("name")): option for option in facts.of(KernelParameter)}
    return {name: str(option.get("configured") or option.get("running") or "") for name, option in (*modules.items(), *words.items())}


def amd_release(state: SystemState) -> str | None:
    """AMD's release of its own kernel driver ("6.2", "30.10"), by its package; None where none was seen."""
    version = next((release for name, release in state.packages.items() if name.startswith("amdgpu-dkms") and release), "")
    match = _AMD_RELEASE.search(version)
    if match is None:
        return None
    digits = match[1]
    return f"{digits[0]}.{int(digits[1:3])}" if len(digits) < 7 else f"{digits[:-6]}.{int(digits[-6:-4])}"


def behind_nvswitch(state: SystemState) -> bool:
    """A fabric manager stands there: the cards sit behind NVSwitch."""
    return any(_FABRIC in name for name in (*state.packages, *state.services))


def uv_found(facts: Facts, host: Host) -> bool:
    """Whether a uv lies in one of its usual places that programs are looked for in."""
    paths = [str(entry.get("path")) for entry in facts.of(SearchPath) if entry.get("variable") == "PATH"]
    homes = [str(folder.get("path")) for folder in facts.of(HomeFolder) if folder.get("role") == "home"]
    places = [*_UV, *(home + end for home in homes for end in _UV_AT_HOME)]
    reached = [place for place in places if not paths or place.rpartition("/")[0] in paths]
    return any(host.find(place) for place in reached)
