"""What the guard changes in a way to mend: each function gives the steps as they are to be taken in these surroundings."""

from collections.abc import Callable
from itertools import chain

from msgspec import structs

from rigup.diagnosis.causes.rocm_overrides import OVERRIDE, harms
from rigup.diagnosis.guard.companions import (
    beside_the_distributions_own,
    beside_the_numpy_it_was_compiled_for,
    of_the_python_that_is_there,
    seen_by_a_kernel_anew,
    with_the_audio_that_is_there,
    without_what_was_compiled_for_it,
)
from rigup.diagnosis.guard.conda import torch_by_conda
from rigup.diagnosis.guard.configured import in_the_configuration
from rigup.diagnosis.guard.integrated import taken_though_integrated
from rigup.diagnosis.guard.lent import left_to_its_owner
from rigup.diagnosis.guard.program_commands import in_the_programs_command
from rigup.diagnosis.guard.projects import in_the_project, python_of_the_project
from rigup.diagnosis.guard.pythons import NATIVE, as_in_a_cell, made_by, own_python
from rigup.diagnosis.guard.setting import Setting
from rigup.diagnosis.guard.spelling import spelt
from rigup.diagnosis.guard.start_commands import after_a_failed_start, in_the_image, in_the_start_command
from rigup.knowledge.gpus import last_branches
from rigup.knowledge.patterns import lazy_regex
from rigup.language import _
from rigup.steps import Step, make

Change = Callable[[list[Step], Setting], list[Step]]
_PLAIN = ("set-variable", "service-variable", "set-variable-early")
_SHELLS = ("set-variable", "set-variable-early", "hide-graphics", "unset-variable", "try-without-direct-way")
_LISTS = ("LD_LIBRARY_PATH", "PYTHONPATH", "PATH")  # of folders: others that stand there stay
_IN_CONTAINERS = ("unset-variable", "take-off-loader-path")
_MASKS = ("_VISIBLE_DEVICES", "DEVICE_SELECTOR")  # of one program; kept for all they would hide cards
_SET_IN = 'grep -ns "$1=" ~/.profile ~/.bashrc ~/.bash_profile ~/.zshrc ~/.zshenv /etc/environment /etc/profile.d/*'
_HAVE_PERSISTENCED = ("nvidia-compute-utils-", "nvidia-persistenced")
_OWN_PLACES = ("by-hand", "host-of-container", "windows-host")
_MAY = frozenset(("sudo", "wheel", "admin", "root", "google-sudoers"))
_ENDS_WORK = (
    "restart-machine",
    "reload-driver",
    "reload-module",
    "reload-module-under-service",
    "reset-gpu",
    "tell-engine",
    "install-container-toolkit",
    "use-cgroupfs",
    "power-cycle",
    "switch-mig-off",
)


def named_by_node(steps: list[Step], setting: Setting) -> list[Step]:
    """An override without a number speaks to every card: where it would break one, the card that needs it is named."""
    return [_by_node(step, setting) if step.kind in _PLAIN and step.params["name"] == OVERRIDE else step for step in steps]


def _by_node(step: Step, setting: Setting) -> Step:
    value = step.params["value"]
    if len(setting.chips) < 2 or not any(harms(chip, value) for chip in setting.chips):
        return step
    return make("override-by-node", {"name": OVERRIDE, "value": value})


def with_windows_words(steps: list[Step], setting: Setting) -> list[Step]:
    """Variables of Windows are set elsewhere than those of a shell; packages have their libraries in folders `bin` there alone."""
    if setting.system != "windows" and not any(step.params.get("folder", "").endswith("/bin") for step in steps):
        return steps
    return [
        make("unset-variable-of-windows", {"name": step.params["name"]})
        if step.kind == "unset-variable"
        else make("wheels-folders-first-on-windows", {"folder": step.params["folder"]})
        if step.kind == "wheels-folder-first"
        else step
        for step in steps
    ]


def inside_a_container(steps: list[Step], setting: Setting) -> list[Step]:
    """No unit and no login shell sets a variable there."""
    if not setting.inside:
        return steps
    return [make(f"{step.kind}-in-container", step.params) if step.kind in _IN_CONTAINERS else step for step in steps]


def typed(steps: list[Step], setting: Setting) -> list[Step]:
    """Variables as the shell takes them that starts the program; what is in a container, or nobody knows where, stays in words."""
    if setting.inside or setting.engine:
        return steps
    known = setting.shell or setting.system in ("linux", "macos", "windows")
    return [_as_typed(step, setting.system) if step.kind in _SHELLS and (known or _of_unix(step, setting)) else step for step in steps]


def _of_unix(step: Step, setting: Setting) -> bool:
    """Whether the variable, or its value, is one of Unix alone, where nobody tells the system."""
    return not setting.system and (
        step.params["name"].startswith(("HSA_", "ROCR_", "NCCL_")) or step.params.get("value", "").startswith("/")
    )


def _as_typed(step: Step, system: str) -> Step:
    name, value = step.params["name"], step.params.get("value")
    if system == "windows":
        return make("set-variable-of-windows", {"name": name, "value": value}) if value else step
    before = f"{value}${{{name}:+:${name}}}" if value and name in _LISTS and "$" not in value and ":" not in value else value
    commands = (("export", f"{name}={before}"),) if value else (("unset", name), ("sh", "-c", _SET_IN, "sh", name))
    kept = (
        make("keep-variable-on-a-mac" if system == "macos" else "keep-variable", {"name": name, "value": value})
        if value and not name.endswith(_MASKS) and not step.kind.startswith("try-")
        else None
    )
    return structs.replace(step, title=f"{step.title}; {kept.title}" if kept else step.title, commands=commands)


def in_a_new_environment(steps: list[Step], setting: Setting) -> list[Step]:
    """A fresh environment by a Python that is there, else by who keeps the old one, with what follows installed into it; uv gets a Python that is not there."""
    made = next((step.params for step in steps if step.kind == "new-environment"), {"python": ""})
    python = made["python"]
    if any(step.kind == NATIVE for step in steps):
        pip = (*made_by(steps, setting), "-m", "pip")
        return [structs.replace(step, commands=tuple(_inside(argv, pip, "") for argv in step.commands)) for step in steps]
    if not python.replace(".", "").isdigit():
        return steps
    steps = with_a_python_for_windows(steps, setting)
    made = next(step.params for step in steps if step.kind == "new-environment")
    name = f"env-{python}"
    creation: tuple[str, ...] = ("uv", "venv", "--seed", "--python", python, name)
    inside: tuple[str, ...] = ("uv", "pip")
    if starter := made.get("starter"):
        creation = (*starter.split(), "-m", "venv", name)
        inside = (*made_by(steps, setting), "-m", "pip")
    elif setting.owner == "conda":
        creation = ("conda", "create", "-y", "-n", name, f"python={python}")
        inside = ("conda", "run", "-n", name, "python", "-m", "pip")
    commands = {step.kind: tuple(_inside(argv, inside, name) for argv in step.commands) for step in steps} | {
        "new-environment": (creation,)
    }
    return [structs.replace(step, commands=commands[step.kind]) for step in steps]


def with_a_python_for_windows(steps: list[Step], setting: Setting) -> list[Step]:
    """The launcher makes the environment there, once winget has brought its Python: uv is a tool that few have."""
    has_uv = setting.uv_pip or setting.project == "uv" or setting.owner in ("uv", "conda")
    made = next(step for step in steps if step.kind == "new-environment")
    if setting.system != "windows" or has_uv or made.params.get("starter"):
        return steps
    python = made.params["python"]
    by_launcher = structs.replace(made, params={**made.params, "starter": f"py -{python}"})
    got = make("get-python-of-windows", {"python": python})
    return [got, *(by_launcher if step is made else step for step in steps)]


def _inside(argv: tuple[str, ...], inside: tuple[str, ...], name: str) -> tuple[str, ...]:
    if argv[:4] != ("python", "-m", "pip", "install"):
        return argv
    return (*inside, "install", *(("--python", name) if inside[0] == "uv" else ()), *argv[4:])


def in_the_python_that_failed(steps: list[Step], setting: Setting) -> list[Step]:
    """Packages are changed where they failed, whatever `python` is elsewhere; or in the environment that the way makes."""
    if made_by(steps, setting):
        return steps
    return [structs.replace(step, commands=as_in_a_cell(own_python(step.commands, setting), setting)) for step in steps]


_OF_A_VARIANT = lazy_regex(r"https://download\.pytorch\.org/whl/(cu\d{2,4})")
_RELEASE = lazy_regex(r"torch(?:vision|audio)?==\d[\d.]*")


def of_the_variant(steps: list[Step], setting: Setting) -> list[Step]:
    """Builds by their whole version (`torch==2.7.1+cu128`): pip would take the release that is there for them, and --force-reinstall renews numpy with all else."""
    if setting.machine != "x86_64" or setting.project:
        return steps
    return [structs.replace(step, commands=tuple(map(_of_the_variant, step.commands))) for step in steps]


def _of_the_variant(argv: tuple[str, ...]) -> tuple[str, ...]:
    index = _OF_A_VARIANT.fullmatch(argv[-1])
    named = any(word.startswith("torch==2.") for word in argv)  # of older releases some bear no variant in their version
    if index is None or not named or "--force-reinstall" not in argv:
        return argv
    kept = (word for word in argv if word != "--force-reinstall")
    return tuple(f"{word}+{index[1]}" if _RELEASE.fullmatch(word) else word for word in kept)


_IN_CONDAS_FOLDER = lazy_regex(
    r"(?i)(?P<prefix>.*(?:conda|mamba|miniforge)\d?[\\/]envs[\\/][^\\/]+)(?:[\\/]bin)?[\\/]python[\d.]*(?:\.exe)?"
)


def kernel_by_conda(steps: list[Step], _setting: Setting) -> list[Step]:
    """An environment in conda's own folder gets the kernel's package from conda."""
    return [
        structs.replace(step, commands=tuple(map(_by_conda, step.commands))) if step.kind == "register-kernel" else step for step in steps
    ]


def _by_conda(argv: tuple[str, ...]) -> tuple[str, ...]:
    own = _IN_CONDAS_FOLDER.fullmatch(argv[0])
    return ("conda", "install", "-y", "-p", own["prefix"], argv[-1]) if own and argv[1:4] == ("-m", "pip", "install") else argv


def where_options_are_read(steps: list[Step], setting: Setting) -> list[Step]:
    """What starts a program in a pod, or the web UI, is no command of a person's."""
    starter = "webui-user.bat" if setting.system == "windows" else "webui-user.sh"
    kind, named = ("option-of-pod", {}) if setting.pod else ("option-of-web-ui", {"file": starter})
    if not setting.pod and not setting.web_ui:
        return steps
    return [make(kind, {"option": step.params["option"], **named}) if step.kind == "program-option" else step for step in steps]


def no_torch_unasked(steps: list[Step], setting: Setting) -> list[Step]:
    """Without a version and an index pip puts the newest torch, for another CUDA, in place of the one that is there."""
    plain = ("install-again", "install-package-again", "upgrade-package")
    if setting.system == "macos":
        return [_with_torchvision(step, setting) if step.kind in plain and step.params["package"] == "torch" else step for step in steps]
    return [make("choose-build", {"wish": "torch"}) if step.kind in plain and step.params["package"] == "torch" else step for step in steps]


def _with_torchvision(step: Step, setting: Setting) -> Step:
    """A Mac's torch is PyPI's; what is made for one release of it goes along, of which pip finds those that belong together."""
    friends = ("torchvision", *(name for name in ("torchaudio",) if name in setting.on_torch))
    title = _("{way}, and with it those of {packages} that belong to it").format(way=step.title, packages=", ".join(friends))
    return structs.replace(step, title=title, commands=tuple((*argv, *friends) for argv in step.commands))


def without_what_holds_the_card(steps: list[Step], setting: Setting) -> list[Step]:
    """The driver's own daemon keeps the card open: no module is unloaded under it, and no card is reset."""
    if not any(name.startswith(_HAVE_PERSISTENCED) for name in setting.packages) and not setting.persistenced:
        return steps
    return [
        structs.replace(step, commands=_while_stopped("nvidia-persistenced", step)) if step.kind in ("reload-driver", "reset-gpu") else step
        for step in steps
    ]


def services_look_again(steps: list[Step], setting: Setting) -> list[Step]:
    """A module in use is not unloaded, and a service looks for cards as it starts: it is stopped meanwhile."""
    service = setting.service
    if not service or service in setting.absent or setting.inside:
        return steps
    return [
        make("reload-module-under-service", {**step.params, "service": service})
        if step.kind == "reload-module"
        else structs.replace(step, commands=_while_stopped(service, step))
        if step.kind == "reload-driver"
        else step
        for step in steps
    ]


def _while_stopped(service: str, step: Step) -> tuple[tuple[str, ...], ...]:
    return (("systemctl", "stop", service), *step.commands, ("systemctl", "start", service))


def spelt_out(steps: list[Step], setting: Setting) -> list[Step]:
    """Steps with the commands of the system; what it has none for is said apart from what can be done."""
    names = [step.params["distribution"].split("-") for step in steps if step.kind == "install-wsl-distribution"]
    if names:  # what follows is done in the new one
        setting = setting._replace(distribution=names[0][0].lower(), family=names[0][0].lower(), release=names[0][-1], wsl=True, kernel="")
    return list(chain.from_iterable(spelt(step, setting) for step in steps))


def flavour_once(steps: list[Step], setting: Setting) -> list[Step]:
    """The commands that install a branch for these cards choose the flavour that drives them: it is not changed once more."""
    chosen = any(step.kind in ("install-driver-branch", "build-driver-packages") and step.commands and setting.isas for step in steps)
    return [step for step in steps if step.kind != "install-module-flavour"] if chosen else steps


def with_last_branches(steps: list[Step], setting: Setting) -> list[Step]:
    """Where nobody names the card, a driver "or newer" is said with the branches at which older cards end."""
    if setting.isas:
        return steps
    sentence = _("install the NVIDIA driver {branch} or newer, but none past the last branch of the card (older ones end at {ends})")
    ends = ", ".join(last_branches())
    return [
        structs.replace(step, title=sentence.format(branch=step.params["branch"], ends=ends))
        if step.kind == "install-driver" and step.params["vendor"] == "NVIDIA"
        else step
        for step in steps
    ]


def drained_first(steps: list[Step], setting: Setting) -> list[Step]:
    """On a node that runs others' jobs nothing is stopped under them, nor anywhere under a run that goes on."""
    if setting.drained and any(step.kind in _ENDS_WORK or step.restart for step in steps):
        return [*steps, make("resume-node", {"node": setting.drained})]
    first = "drain-node" if setting.shared else "let-work-end" if setting.busy else ""
    ends = (step for step in steps if step.kind in _ENDS_WORK or step.restart)
    if first and not all(_is_idle(step, setting) for step in ends):
        return [make(first, {}), *steps]
    if setting.shared and any(step.root and step.where not in _OWN_PLACES for step in steps):
        return [*_elsewhere(setting), make("ask-administrators", {}), *steps]
    return steps


def by_who_may(steps: list[Step], setting: Setting) -> list[Step]:
    """`id` shows all groups of an account: one that is in none of those of sudo mostly may not use it."""
    barred = setting.groups and not setting.groups & _MAY and not setting.shared
    if barred and any(step.root and step.commands and step.where == "here" for step in steps):
        return [make("sudo-of-another", {}), *steps]
    return steps


def without_sudo_for_root(steps: list[Step], setting: Setting) -> list[Step]:
    """Root needs nobody's leave, and where root works (containers, bare installations) sudo is often missing."""
    inside = {"here": setting.inside, "kernel": False, "host-of-container": False}
    return [structs.replace(step, root=False) if step.root and inside.get(step.where) in setting.roots else step for step in steps]


def _elsewhere(setting: Setting) -> list[Step]:
    """What who waits for a node of Slurm can do meanwhile."""
    return [make("leave-node-out", {"node": setting.node})] if setting.slurm and setting.node else []


def _is_idle(step: Step, setting: Setting) -> bool:
    """Whether the step stops one card alone, and programs are listed on others."""
    index = step.params.get("index", "").lower()
    return step.kind == "reset-gpu" and not setting.shared and bool(setting.at_work) and ":" in index and index not in setting.at_work


CHANGES: tuple[Change, ...] = (
    left_to_its_owner,
    taken_though_integrated,
    named_by_node,
    with_windows_words,
    inside_a_container,
    typed,
    where_options_are_read,
    no_torch_unasked,
    beside_the_distributions_own,
    of_the_python_that_is_there,
    with_the_audio_that_is_there,
    without_what_was_compiled_for_it,
    seen_by_a_kernel_anew,
    torch_by_conda,
    without_what_holds_the_card,
    in_the_configuration,
    services_look_again,
    spelt_out,
    flavour_once,
    python_of_the_project,
    in_a_new_environment,
    in_the_project,
    kernel_by_conda,
    of_the_variant,
    beside_the_numpy_it_was_compiled_for,
    in_the_start_command,
    in_the_programs_command,
    after_a_failed_start,
    in_the_python_that_failed,
    in_the_image,
    with_last_branches,
    drained_first,
    by_who_may,
    without_sudo_for_root,
)
