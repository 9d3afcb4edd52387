"""Steps by the system's own commands, where the tables know them; what nobody knows the command of is a step in words of its own."""

import re
from collections.abc import Callable

from msgspec import structs

from rigup.diagnosis.guard.checks import build_folder
from rigup.diagnosis.guard.setting import Setting
from rigup.knowledge import driver_recipes
from rigup.knowledge.amd_ways import update_of, windows_build_of
from rigup.knowledge.cuda import version_key
from rigup.knowledge.cuda_toolkits import newest_carried, system_toolkit
from rigup.knowledge.distributions import family_of_kernel, kernels_builder
from rigup.knowledge.driver_choice import stable_branch
from rigup.knowledge.gpus import driver_branch_for, last_branches, open_module
from rigup.knowledge.intel import compute_packages
from rigup.knowledge.package_managers import backports_of, following_headers, headers_package, package_manager
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.rocm_install import installation
from rigup.knowledge.surroundings import (
    container_toolkit,
    kernel_argument,
    kernel_of_any_release,
    newer_kernel,
    next_release,
    offered_kernel,
    release_of_kernel,
)
from rigup.steps import Commands, Step, make

_HERE = ("here", "kernel")
_OF_THE_DRIVER = lazy_regex(r"(?:lib32-)?nvidia(?:-open|-lts|-open-lts|-dkms|-open-dkms|-utils)?|(?:lib32-)?opencl-nvidia")
_HIPS_COMPILER = 'HIPCXX="$(hipconfig -l)/clang" HIP_PATH="$(hipconfig -R)"'  # as llama.cpp's docs/build.md has it
_FORMER_COMPILER = 'CC="$(hipconfig -l)/clang" CXX="$(hipconfig -l)/clang++"'  # before CMake knew HIP as a language
_HIPS_COMPILER_ON_WINDOWS = ("-G", "Ninja", "-DCMAKE_C_COMPILER=clang", "-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_BUILD_TYPE=Release")
_AT_ONCE = "4"  # files: one alone takes an hour, and each takes a GB of memory or two
_FABRIC = lazy_regex(r"nvidia-fabric-?manager(?:-\d{3})?")
_OF_NVIDIA = ("debian", "fedora", "suse")  # families for which NVIDIA keeps repositories of its own
_TOOLKITS = ("install-container-toolkit", "set-up-nodes", "set-up-k3s-nodes")


def spelt(step: Step, setting: Setting) -> list[Step]:
    """The step with its commands; two, where one part of it can be said in words alone."""
    if halves := _HALVES.get(step.kind):
        return halves(step, setting)
    more = _MORE.get(step.kind)
    commands = more(step, setting) if more and not step.commands and step.where in (*_HERE, "by-hand") else ()
    return [structs.replace(step, commands=commands) if commands else step]


# -- commands of the tables
def _branch_of_the_archive(step: Step, setting: Setting) -> list[Step]:
    """A release of the distribution that has not the branch mostly has an older one that serves."""
    if step.where not in _HERE:
        return [step]
    at = driver_recipes.system(setting.distribution, setting.release) if setting.distribution else None
    least, named = step.params.get("least", ""), step.params["branch"]
    known = at is not None and at.archive and least and setting.isas and step.params["vendor"] == "NVIDIA"
    branch = driver_recipes.branch_in_archive(at, named, least, setting.isas) if at is not None and known else named
    if branch != named:
        step = make(step.kind, {**step.params, "branch": branch}, setting.world, setting.wsl)
    return [structs.replace(step, commands=_driver(step, setting))]


def _driver(step: Step, setting: Setting) -> Commands:
    if step.params["vendor"] != "NVIDIA" or not setting.isas:
        return ()  # which flavour of the module drives an unknown card nobody can say
    branch = step.params["branch"].partition(".")[0]
    return _of_branch(branch, module_for(branch, setting.isas), setting)


def _branch(step: Step, setting: Setting) -> list[Step]:
    """Where no repository has the branch, an account builds it: first the packages that are there have to go."""
    at = driver_recipes.system(setting.distribution, setting.release) if setting.distribution and step.where in _HERE else None
    branch = step.params["branch"].partition(".")[0]
    recipe = driver_recipes.recipe(at, branch, module_for(branch, setting.isas), "desktop") if at and setting.isas else None
    if at is None or recipe is None or not recipe.built_by_user:
        old = setting.system != "windows" and not setting.distribution and branch in last_branches()
        return [
            make("install-legacy-branch", step.params, setting.world) if old else structs.replace(step, commands=_driver(step, setting))
        ]
    there = sorted(name for name in setting.packages if _OF_THE_DRIVER.fullmatch(name))
    taken = [make("take-driver-packages-off", {"packages": ",".join(there)}, setting.world)] if there else []
    built = make("build-driver-packages", {"branch": branch}, setting.world)
    commands = driver_recipes.spelt(recipe.built_by_user, at, branch, setting.machine, setting.kernel, setting.release)
    return [*taken, structs.replace(built, commands=commands)]


def _of_branch(branch: str, module: str, setting: Setting) -> Commands:
    """Packages of the branch, and what keeps them at it, from whom the distribution gets it."""
    at = (
        driver_recipes.system(setting.distribution, setting.release)
        if setting.distribution and setting.system == "linux" and not setting.wsl
        else None
    )
    recipe = driver_recipes.recipe(at, branch, module, "desktop") if at else None
    source = driver_recipes.provider(recipe.provider) if recipe else None
    if at is None or recipe is None or source is None or not recipe.commands or source.immutable:
        return ()
    commands = (*(at.repo_setup or source.repo_setup), *recipe.commands, *source.hold)
    try:
        return driver_recipes.spelt(commands, at, branch, setting.machine, setting.kernel, setting.release)
    except KeyError:  # the kernel's release, mostly
        return ()


def _flavour(step: Step, setting: Setting) -> Commands:
    """The other flavour's package in the place of the installed one, which goes with it; else the branch from who keeps it for the distribution."""
    module = "open" if step.params["flavour"] == "open" else "closed"
    manager = package_manager(setting.family)
    package = driver_recipes.package_of_flavour(module, manager.install[0], setting.packages) if manager else ""
    if manager and package:
        return ((*manager.install, *package.split()),)
    return _of_branch(setting.branch, module, setting) if setting.branch and setting.isas else ()


def module_for(branch: str, isas: tuple[str, ...]) -> str:
    """The flavour of the kernel module that drives these cards ("open" or "closed")."""
    modules = {open_module(isa) for isa in isas}
    if "impossible" in modules:
        return "closed"
    return "open" if "only" in modules else driver_recipes.default_module(branch)


def _toolkit(step: Step, setting: Setting) -> Commands:
    setup = system_toolkit(step.params["version"], setting.distribution, setting.release, setting.machine, setting.wsl)
    return (*setup.setup, *setup.install) if setup else ()


def _kernel_argument(step: Step, setting: Setting) -> Commands:
    """As the distribution adds a word to the kernel's command line; not where it keeps its system unchanged, or in a container."""
    recipe = kernel_argument(setting.distribution) if setting.distribution and not setting.wsl else None
    argument = step.params["argument"]
    holes = {"argument": argument, "name": re.sub(r"[^A-Za-z0-9]+", "-", argument)}
    return tuple(tuple(_filled(word, holes) for word in argv) for argv in recipe.commands) if recipe else ()


def _kernel(step: Step, setting: Setting) -> list[Step]:
    """The distribution's own newer kernel, or its next release where this one offers none so new; a kernel's name and series tell Ubuntu's release."""
    distribution = setting.distribution or kernels_builder(setting.kernel).like
    recipe = newer_kernel(distribution)
    if recipe is None or setting.wsl or step.where not in _HERE:
        return [step]
    if not setting.release and (shared := kernel_of_any_release(distribution, setting.kernel)):
        return [structs.replace(step, commands=tuple(map(tuple, shared)))]
    release = setting.release or release_of_kernel(distribution, setting.kernel)
    offered = offered_kernel(distribution, release)
    if offered and version_key(offered)[:2] < version_key(step.params["version"])[:2]:
        later = make("upgrade-release", {"release": release, "version": step.params["version"]}, setting.world, setting.wsl)
        return [structs.replace(later, commands=tuple(map(tuple, next_release(distribution))))]
    if not release and any("{release}" in word for argv in recipe.commands for word in argv):
        return [step]
    commands = tuple(tuple(_filled(word, {"release": release}) for word in argv) for argv in recipe.commands)
    return [structs.replace(step, commands=commands)]


def _filled(word: str, holes: dict[str, str]) -> str:
    for name, value in holes.items():
        word = word.replace("{" + name + "}", value)
    return word


def _rocm(step: Step, setting: Setting) -> Commands:
    usecase = "wsl" if setting.wsl else "rocm"
    release = installation(step.params["version"], usecase, setting.distribution, setting.release, setting.kernel)
    return (*release.setup, *release.install) if release and release.version == step.params["version"] else ()


def _rocm_with_its_installer(step: Step, setting: Setting) -> list[Step]:
    """AMD's installer is in no distribution: what brings it, of this very release, goes first where the tables know it."""
    commands = _rocm(step, setting) if setting.wsl and "wsl" in step.params["usecase"] else ()
    return [structs.replace(step, commands=commands or step.commands)]


def _source(_step: Step, setting: Setting) -> Commands:
    source = compute_packages(setting.distribution, setting.release)
    return tuple(map(tuple, source.setup)) if source else ()


def _fabric(step: Step, setting: Setting) -> Commands:
    """The manager itself at the driver's very version, from whom the distribution gets the branch, else as its family does; never what brings a driver along."""
    version, manager = step.params["version"], package_manager(setting.family)
    branch = version.partition(".")[0]
    at = driver_recipes.system(setting.distribution, setting.release) if setting.distribution else None
    recipe = driver_recipes.recipe(at, branch, module_for(branch, setting.isas), "desktop") if at else None
    providers = (*((recipe.provider,) if recipe else ()), *((manager.family,) if manager else ()))
    ways = (driver_recipes.fabric_manager(provider, branch) for provider in providers)
    argv = next((commands[0] for commands in ways if commands and any("fabric" in word for word in commands[0])), [])
    if manager is None or not argv:
        return ()
    between = "=" if manager.family == "debian" else "-"
    names = [word.replace("{branch}", branch).replace("cuda-drivers-", "nvidia-") for word in argv if "{" in word or "nvidia" in word]
    there = next((name for name in sorted(setting.packages) if _FABRIC.fullmatch(name)), "")
    return ((*manager.older, *(f"{there or name}{between}{version}*" if "fabric" in name else name for name in names)),)


def _build_commands(step: Step, setting: Setting) -> Commands:
    """In the folder of its sources, by the options of the step; of other programs the way is their own."""
    if step.params["program"] != "llama.cpp":
        return ()
    folder = build_folder(step)
    root = folder.rpartition("/")[0]
    options = (*(("-S", root) if root else ()), "-B", folder, *step.params["option"].split())
    return (_configure(options, setting.system), ("cmake", "--build", folder, "--config", "Release", "-j", _AT_ONCE))


def _configure(options: tuple[str, ...], system: str) -> tuple[str, ...]:
    """HIP's own compiler builds for AMD; on Windows its folder has to stand in PATH."""
    if not {"-DGGML_HIP=ON", "-DLLAMA_HIPBLAS=ON"} & {*options}:
        return ("cmake", *options)
    if system == "windows":
        return ("cmake", *options, *_HIPS_COMPILER_ON_WINDOWS)
    former = f"{_FORMER_COMPILER} " if "-DLLAMA_HIPBLAS=ON" in options else ""
    return ("sh", "-c", f"{former}{_HIPS_COMPILER} cmake {' '.join(options)}")


def _update(step: Step, setting: Setting) -> Commands:
    """By the program's own installer; an image is fetched anew by who starts it."""
    command = () if setting.inside or setting.engine else update_of(step.params["program"], step.params["system"])
    return (command,) if command else ()


def _build_for_vulkan(step: Step, setting: Setting) -> Commands:
    command = windows_build_of(step.params["program"]) if setting.system == "windows" else ()
    return (command,) if command else ()


_MORE: dict[str, Callable[[Step, Setting], Commands]] = {
    "set-kernel-argument": _kernel_argument,
    "install-toolkit": _toolkit,
    "install-rocm-release": _rocm,
    "add-package-source": _source,
    "compile-program": _build_commands,
    "compile-for-vulkan": _build_commands,
    "compile-for-processor": _build_commands,
    "compile-for-sibling": _build_commands,
    "update-to": _update,
    "update-bundle": _update,
    "install-build-for-vulkan": _build_for_vulkan,
}


# -- what is known of one part alone
def _toolkit_and_engine(step: Step, setting: Setting) -> list[Step]:
    """NVIDIA's toolkit comes from a source of its own, which each package manager is told in its own way."""
    known = container_toolkit("" if setting.inside else setting.family)
    if known and not setting.toolkit:
        return [step]
    first = make("get-container-toolkit", {}, setting.world)
    there = container_toolkit(setting.family)  # what a message from inside is spelt for, too
    own = list(map(tuple, there.commands)) if there else []
    rest = tuple(argv for argv in step.commands if argv and argv not in own)
    kind = "tell-engine" if step.params["engine"] == "docker" else "tell-runtime"  # alone it ends what it started
    engine = make(kind, {"engine": step.params["engine"]}, setting.world)
    told = structs.replace(engine, where=step.where, commands=rest)
    return [told] if setting.toolkit else [structs.replace(first, where=step.where), told]


def _family_by(kernel: str) -> str:
    """The family that builds such kernels, where the package of their headers tells which kernel it is for."""
    family = family_of_kernel(kernel) if kernel else ""
    manager = package_manager(family) if family else None
    own = manager is not None and ("{kernel}" in manager.headers or headers_package(kernel, manager) != manager.headers)
    return family if own else ""


def _headers_and_build(step: Step, setting: Setting) -> list[Step]:
    """The headers of a kernel are a package whose name each distribution makes in its own way."""
    kernel = step.params.get("kernel") or setting.kernel
    manager = package_manager(setting.family or _family_by(kernel)) if step.where == "here" or not setting.inside else None
    build = tuple(argv for argv in step.commands if argv and "headers" not in " ".join(argv) and "devel" not in " ".join(argv))
    if manager and (kernel or "{kernel}" not in manager.headers):
        wanted = (headers_package(kernel, manager), *filter(None, [following_headers(kernel, setting.release)]))
        get = (*manager.install, *_from_backports(kernel, setting), *wanted)
        return [structs.replace(step, commands=(get, *build))]
    named = {"kernel": kernel} if kernel else {}
    words = structs.replace(make("get-headers" if kernel else "get-headers-of-running", named), where=step.where)
    built = make("build-module", {"builder": " ".join(build[0])}) if build else None
    return [words, *([structs.replace(built, where=step.where)] if built else [])]


def _from_backports(kernel: str, setting: Setting) -> tuple[str, ...]:
    """apt takes the headers of a backports' kernel, and above all those of the kernels to come, from there only where it is told."""
    suite = backports_of(setting.distribution, setting.release, kernel)
    return ("-t", suite) if suite else ()


def _headers(step: Step, setting: Setting) -> list[Step]:
    """By the package manager where it and the kernel are known; else in words."""
    manager = package_manager(setting.family) if step.where == "here" or not setting.inside else None
    if manager and (setting.kernel or "{kernel}" not in manager.headers):
        suite = _from_backports(setting.kernel, setting)
        get = (*manager.install, *suite, headers_package(setting.kernel, manager), *manager.compiler)
        return [structs.replace(step, commands=(get,))]
    return [structs.replace(make("get-headers-of-running", {}), where=step.where)]


def _fabric_or_its_name(step: Step, setting: Setting) -> list[Step]:
    """The names that the managers of packages have for it, where nobody tells which one there is."""
    commands, version = _fabric(step, setting), step.params["version"]
    branch = version.partition(".")[0]
    by_dnf = driver_recipes.fabric_manager("fedora", branch)
    if commands or setting.family or not by_dnf:
        return [structs.replace(step, commands=commands)]
    return [make("match-fabric-manager-by-name", {"version": version, "branch": branch, "package": by_dnf[0][-1]}, setting.world)]


def _flavour_or_its_name(step: Step, setting: Setting) -> list[Step]:
    """The package of Ubuntu by its branch, where no packages are shown and the system may be that."""
    commands = _flavour(step, setting)
    named = step.params["flavour"] == "open" and setting.branch and setting.distribution in ("", "ubuntu") and not setting.packages
    if commands or not named or setting.family not in ("", "debian", "ubuntu"):
        return [structs.replace(step, commands=commands)]
    return [make("install-open-module-of", {"branch": setting.branch}, setting.world, setting.wsl)]


def _newer_branch(step: Step, setting: Setting) -> list[Step]:
    """By its number: the branch that is kept up for long, where the one that fails is older and these cards go on with it."""
    branch = stable_branch(setting.branch, setting.isas) if step.params["vendor"] == "NVIDIA" else ""
    if not branch or version_key(branch)[:1] <= version_key(setting.branch)[:1]:
        return [step]
    last = min((end for isa in setting.isas if (end := driver_branch_for(isa))), key=int, default="")
    named = make("install-driver-branch" if last else "install-driver", {**step.params, "branch": last or branch}, setting.world)
    return spelt(named, setting)


def _toolkit_to_have(step: Step, setting: Setting) -> list[Step]:
    """NVIDIA's package is named alike for apt, dnf and zypper; the plain name brings a CUDA that the driver may not carry."""
    manager, cuda = package_manager(setting.family), newest_carried(setting.carries, setting.isas)
    if setting.system == "windows":
        return [make("have-nvcc-on-windows", {"version": cuda})] if cuda else [step]
    if not cuda or (manager is not None and manager.family not in _OF_NVIDIA):
        return [step]
    return [make("have-nvcc-of", {"package": f"cuda-toolkit-{cuda.replace('.', '-')}", "version": cuda}, setting.world, setting.wsl)]


_HALVES: dict[str, Callable[[Step, Setting], list[Step]]] = {
    **dict.fromkeys(_TOOLKITS, _toolkit_and_engine),
    "install-driver": _branch_of_the_archive,
    "install-driver-branch": _branch,
    "install-headers": _headers,
    "install-rocm": _rocm_with_its_installer,
    "install-kernel": _kernel,
    "newer-driver": _newer_branch,
    "rebuild-modules": _headers_and_build,
    "build-modules": _headers_and_build,
    "have-nvcc": _toolkit_to_have,
    "match-fabric-manager": _fabric_or_its_name,
    "install-module-flavour": _flavour_or_its_name,
}
