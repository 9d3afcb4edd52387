"""What stands on a machine that was looked at: facts become a `There`."""

import re

from rigup.knowledge.cuda import version_key
from rigup.knowledge.driver_origins import desktop_services, driver_source
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
from rigup.stack.there import There

_AMD_RELEASE = re.compile(r"\.(\d{5,9})-")  # the release inside the version of AMD's kernel package: 60204 is 6.2.4
_FABRIC = "fabricmanager"
_UV = ("/usr/bin/uv", "/usr/local/bin/uv", "/opt/homebrew/bin/uv")
_UV_AT_HOME = ("/.local/bin/uv", "/.cargo/bin/uv")


def there_of(facts: Facts) -> There:
    """What was seen to stand there. Raises KnowledgeError for a malformed table."""
    packages = {str(one.get("name")): one for one in facts.of(SystemPackage) if one.get("state") == "installed"}
    account = next(iter(facts.of(Account)), None)
    services = tuple(str(one.get("name")) for one in facts.of(Service))
    screens = set(desktop_services())
    return There(
        groups=tuple(account.get("groups") or ()) if account else (),
        assigned=tuple(account.get("assigned") or ()) if account else (),
        packages={name: str(one.get("version") or "") for name, one in packages.items()},
        driver_source=driver_source(
            (str(one.get("manager")), name, str(one.get("version"))) for name, one in packages.items()
        ),
        bound=_bound(facts), modules=tuple(str(one.get("name")) for one in facts.of(KernelModule) if one.get("loaded")),
        engines={str(one.get("name")): tuple(one.get("runtimes") or ()) for one in facts.of(ContainerEngine)},
        container_toolkit=bool(facts.of(ContainerToolkit)),
        described=any(one.get("kind") == "nvidia.com/gpu" for one in facts.of(CdiSpec)), toolkits=_toolkits(facts),
        kernels=tuple(str(one.get("release")) for one in facts.of(Kernel)), options=_options(facts), services=services,
        desktop=True if screens & {name.removesuffix(".service") for name in services} else None,
    )  # fmt: skip


def _bound(facts: Facts) -> tuple[str, ...]:
    cards = (*facts.of(Gpu), *facts.of(PciDevice))
    return tuple(dict.fromkeys(str(one.get("driver")) for one in cards if one.get("driver")))


def _toolkits(facts: Facts) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for one in facts.of(Toolkit):
        if one.get("version"):
            found.setdefault(str(one.get("name")), []).append(str(one.get("version")))
    return {name: tuple(sorted(set(told), key=version_key, reverse=True)) for name, told in found.items()}


def _options(facts: Facts) -> dict[str, str]:
    """As configured where somebody read that, else as running."""
    modules = {f"{one.get('module')}.{one.get('name')}": one for one in facts.of(ModuleParameter)}
    words = {str(one.get("name")): one for one in facts.of(KernelParameter)}
    return {
        name: str(one.get("configured") or one.get("running") or "") for name, one in (*modules.items(), *words.items())
    }


def amd_release(there: There) -> str | None:
    """AMD's release of its own kernel driver ("6.2", "30.10"), by its package; None where none was seen."""
    version = next((told for name, told in there.packages.items() if name.startswith("amdgpu-dkms") and told), "")
    found = _AMD_RELEASE.search(version)
    if found is None:
        return None
    digits = found[1]
    return f"{digits[0]}.{int(digits[1:3])}" if len(digits) < 7 else f"{digits[:-6]}.{int(digits[-6:-4])}"


def behind_nvswitch(there: There) -> bool:
    """A fabric manager stands there: the cards sit behind NVSwitch."""
    return any(_FABRIC in name for name in (*there.packages, *there.services))


def uv_found(facts: Facts, host: Host) -> bool:
    """Whether a uv lies in one of its usual places that programs are looked for in."""
    paths = [str(one.get("path")) for one in facts.of(SearchPath) if one.get("variable") == "PATH"]
    homes = [str(one.get("path")) for one in facts.of(HomeFolder) if one.get("role") == "home"]
    places = [*_UV, *(home + end for home in homes for end in _UV_AT_HOME)]
    reached = [place for place in places if not paths or place.rpartition("/")[0] in paths]
    return any(host.find(place) for place in reached)
