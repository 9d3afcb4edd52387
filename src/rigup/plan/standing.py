"""Whether what a step outside the environment would bring stands there already, as far as it was seen."""

import re
from collections.abc import Callable

from rigup.knowledge.cuda import version_key
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.steps import Step


def stands(step: Step, choice: Choice) -> bool:
    """It is there; False also where nobody looked."""
    check = _ASKED.get(step.kind)
    return check is not None and check(step, choice.site)


def _member(step: Step, site: Site) -> bool:
    return step.params["group"] in (*site.system_state.groups, *site.system_state.assigned)


def _logged_in(_step: Step, site: Site) -> bool:
    """Groups that count already: nobody waits for a next login."""
    system = site.system_state
    return bool(system.groups) and set(system.assigned) <= set(system.groups)


def _toolkit_of_containers(_step: Step, site: Site) -> bool:
    return site.system_state.container_toolkit


def _engine_configured(step: Step, site: Site) -> bool:
    return "nvidia" in site.system_state.engines.get(step.params["engine"], ())


def _described(_step: Step, site: Site) -> bool:
    return site.system_state.described


def _engine(step: Step, site: Site) -> bool:
    return step.params["engine"] in site.system_state.engines


def _cuda(step: Step, site: Site) -> bool:
    return _has("cuda", step.params["version"], site)


def _rocm(step: Step, site: Site) -> bool:
    return _has("rocm", step.params["version"], site)


def _has(name: str, version: str, site: Site) -> bool:
    """A toolkit of the same major and minor release."""
    wanted = version_key(version)[:2]
    return bool(wanted) and any(version_key(release)[:2] == wanted for release in site.system_state.toolkits.get(name, ()))


def _amd_driver(step: Step, site: Site) -> bool:
    wanted = version_key(step.params["version"])[:2]
    return bool(site.amd_driver and wanted) and version_key(site.amd_driver or "")[:2] == wanted


def _kernel(step: Step, site: Site) -> bool:
    """A kernel that is new enough is installed, and waits for a restart."""
    least = version_key(step.params["version"])[:2]
    return bool(least) and any(version_key(release)[:2] >= least for release in site.system_state.kernels)


def _option(step: Step, site: Site) -> bool:
    return site.system_state.options.get(f"{step.params['module']}.{step.params['name']}") == step.params["value"]


def _argument(step: Step, site: Site) -> bool:
    name, _equals, value = step.params["argument"].partition("=")
    return name in site.system_state.options and site.system_state.options[name] == value


def _fabric(step: Step, site: Site) -> bool:
    branch = re.escape(step.params["branch"])
    return any("fabricmanager" in name and re.match(branch + r"\b", release) for name, release in site.system_state.packages.items())


def _packages(step: Step, site: Site) -> bool:
    names = re.split(r"[,\s]+", step.params["packages"])
    return all(name in site.system_state.packages for name in names if name)


_ASKED: dict[str, Callable[[Step, Site], bool]] = {
    "join-group-yourself": _member,
    "log-in-again": _logged_in,
    "set-up-container-toolkit": _toolkit_of_containers,
    "tell-engine": _engine_configured,
    "describe-devices": _described,
    "install-engine": _engine,
    "install-cuda-toolkit": _cuda,
    "install-rocm-release": _rocm,
    "install-amdgpu-driver": _amd_driver,
    "install-kernel": _kernel,
    "set-module-option": _option,
    "set-kernel-argument": _argument,
    "install-fabric-manager": _fabric,
    "install-system-packages": _packages,
}
