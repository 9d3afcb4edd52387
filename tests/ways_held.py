"""What every way to mend must hold, whatever the case: each invariant looks at a whole answer and tells what breaks it."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rigup.diagnosis.causes.rocm_overrides import harms
from rigup.diagnosis.findings import row_of
from rigup.knowledge.gpus import driver_branch_for
from rigup.knowledge.package_managers import package_manager
from rigup.knowledge.pythons import pythons_of_all
from rigup.knowledge.torch_builds import builds, companions

Answer = dict[str, Any]
MANAGERS = {
    "debian": ("apt", "apt-get", "dpkg", "apt-mark", "ubuntu-drivers", "add-apt-repository", "update-initramfs"),
    "fedora": ("dnf", "yum", "rpm", "akmods", "grubby"),
    "suse": ("zypper",),
    "arch": ("pacman", "mkinitcpio"),
}
OF_LINUX = {
    "systemctl",
    "modprobe",
    "rmmod",
    "usermod",
    "ldconfig",
    "mokutil",
    "dkms",
    "fuser",
    "chown",
    "sh",
    "stat",
    "nvidia-modprobe",
    *(word for words in MANAGERS.values() for word in words),
}
OF_THE_HOST = {
    "systemctl",
    "modprobe",
    "rmmod",
    "dkms",
    "mokutil",
    "nvidia-ctk",
    "docker",
    "podman",
    "nvidia-modprobe",
    "update-initramfs",
    "dracut",
}
OF_A_KERNEL = {"modprobe", "rmmod", "dkms", "mokutil", "nvidia-modprobe", "update-initramfs"}
HOOKS = ("nvidia-suspend", "nvidia-resume", "nvidia-hibernate")
CONDA = {"conda", "mamba", "micromamba"}
DISRUPTIVE = re.compile(r"\bsystemctl reboot\b|\bmodprobe -r\b|\bgpu-reset\b|\bsystemctl restart (?:docker|containerd|k3s)")
DRAINED = re.compile(r"\bdrain|\bcordon")
PROMISES = {
    r"^install\b": r"(?<!\w)(?:install|add|upgrade|-S|-Syu|-Sy|dup|amdgpu-install|make|winget|curl)\b",
    r"initramfs|initial file system": r"initramfs|dracut|mkinitcpio",
    r"install the headers": r"headers|kernel-devel|kernel-default-devel",
    r"\brestart the machine\b": r"\breboot\b",
}
INDEX = re.compile(r"download\.pytorch\.org/whl/([\w.]+)$")


class Way(NamedTuple):
    """One way of a finding, with what is known around it."""

    answer: Answer
    finding: Answer
    fix: Answer

    @property
    def steps(self) -> list[Answer]:
        return self.fix["steps"]

    def commands(self, *where: str) -> Iterator[tuple[Answer, list[str]]]:
        """Each command with its step, of the places named or of all."""
        for step in self.steps:
            for argv in step["commands"]:
                if not where or step["where"] in where:
                    yield step, argv

    def facts(self, kind: str) -> list[Answer]:
        return self.answer["machine"].get(kind) or []

    @property
    def inside(self) -> bool:
        return "container" in self.finding["place"].split("/", 2)[0] or self.finding["place"].startswith("container")

    @property
    def system(self) -> str:
        told = {one.get("system") for one in self.facts("platforms")} - {None}
        return told.pop() if len(told) == 1 else ""

    @property
    def wsl(self) -> bool:
        return any(one.get("wsl") for one in self.facts("platforms"))

    @property
    def families(self) -> set[str]:
        """Families of the distributions that were seen; empty where one of them is not known."""
        told = [package_manager(str(one.get("id") or "")) for one in self.facts("distributions")]
        return {one.family for one in told if one} if all(told) else set()


def words(argv: list[str]) -> set[str]:
    """The programs that a command starts, those of a shell's script among them; one asked for with `command -v` is none that must be there."""
    if argv[:1] == ["env"]:
        argv = [word for word in argv[1:] if "=" not in word and not word.startswith("-")]
    if argv[:2] == ["sh", "-c"] or argv[:2] == ["bash", "-c"]:
        if "command -v" in argv[2]:
            return {"sh"}
        return {"sh", *re.findall(r"(?:^|[;&|(]\s*|\bthen |\bdo |\bexec )([a-z][\w.-]+)", argv[2])}
    return set(argv[:1])


# -- the invariants ----------------------------------------------------------------------------------


def no_other_systems_package_manager(way: Way) -> Iterator[str]:
    if any(argv[:2] == ["wsl", "--install"] for _step, argv in way.commands("windows-host")):
        return  # the rest is done in the distribution that it brings
    for step, argv in way.commands("here", "kernel", "host-of-container", "every-node"):
        used = {family for family, own in MANAGERS.items() if words(argv) & set(own)}
        if step["where"] == "host-of-container" and way.inside:
            continue
        if len(used) > 1:
            yield f"of two systems at once: {argv}"
        elif used and way.families and not used <= way.families:
            yield f"{used} on {way.families}: {argv}"


def no_linux_on_windows(way: Way) -> Iterator[str]:
    if way.system == "windows" and not way.wsl and not way.finding["cause"].startswith("wsl-"):
        for _step, argv in way.commands("here", "kernel", "by-hand"):
            if used := words(argv) & OF_LINUX:
                yield f"{used} on Windows: {argv}"
        for step in way.steps:
            if step["where"] != "windows-host" and re.search(r"/etc/(?!hosts)\w+|\bshell files\b|LD_LIBRARY_PATH", step["title"]):
                yield f"words of Linux on Windows: {step['title']}"


def no_kernel_work_inside(way: Way) -> Iterator[str]:
    if way.inside:
        for _step, argv in way.commands("here", "kernel"):
            if used := words(argv) & OF_THE_HOST:
                yield f"{used} inside the container: {argv}"
    if way.wsl:
        for _step, argv in way.commands("here", "kernel"):
            if used := words(argv) & OF_A_KERNEL:
                yield f"{used} inside WSL: {argv}"


def no_other_engines_words(way: Way) -> Iterator[str]:
    told = {one.get("container") for one in way.facts("worlds")} - {None}
    engines = {one for one in told if one in ("docker", "podman", "apptainer", "kubernetes")}
    if len(engines) != 1:
        return
    engine = engines.pop()
    for step in way.steps:
        said = " ".join([step["title"], *(" ".join(argv) for argv in step["commands"])])
        if (
            engine != "docker"
            and step["kind"] != "use-docker-on-jetson"  # another engine is what that way is
            and re.search(r"\bdocker (?:run|restart|compose|exec)\b|daemon\.json", said)
            and engine not in said
        ):
            yield f"docker's words for {engine}: {said[:100]}"


def no_branch_past_a_cards_last(way: Way) -> Iterator[str]:
    cards = [card for card in way.facts("accelerators") if card.get("vendor") == "nvidia" and card.get("isa")]
    ends = [int(last) for card in cards if (last := driver_branch_for(str(card["isa"])))]
    for step in way.steps:
        branch = step["params"].get("branch", "")
        if not ends or step["kind"] not in ("install-driver", "install-driver-branch", "install-driver-packages"):
            continue
        if branch.isdigit() and int(branch) > min(ends):
            yield f"branch {branch}, and a card's last is {min(ends)}"
        elif "or newer" in step["title"]:
            yield f"no end for a card whose last branch is {min(ends)}: {step['title']}"


def no_override_that_breaks_another_card(way: Way) -> Iterator[str]:
    chips = {str(card["isa"]).lower() for card in way.facts("accelerators") if card.get("vendor") == "amd" and card.get("isa")}
    if len(chips) < 2:
        return
    for step in way.steps:
        told = step["params"].get("name", ""), step["params"].get("option", "")
        plain = told[0] == "HSA_OVERRIDE_GFX_VERSION" or "HSA_OVERRIDE_GFX_VERSION=" in told[1]
        value = step["params"].get("value") or told[1].rpartition("=")[2]
        broken_by_it = sorted(chip for chip in chips if harms(chip, value))
        if plain and "unset" not in step["kind"] and step["kind"] != "override-by-node" and broken_by_it:
            yield f"{step['title']}: breaks {broken_by_it}"


def no_unit_of_sleep_is_started(way: Way) -> Iterator[str]:
    for _step, argv in way.commands():
        if any(hook in word for hook in HOOKS for word in argv) and ("--now" in argv or "start" in argv or "restart" in argv):
            yield f"it is run when the machine sleeps: {argv}"


def no_conda_in_a_venv(way: Way) -> Iterator[str]:
    kinds = {one.get("kind") for one in way.facts("python_envs")} - {None}
    conda = any(one.get("manager") == "conda" for one in way.facts("packages")) or "conda" in kinds
    if "venv" in kinds and not conda:
        created = {argv[argv.index("-n") + 1] for _step, argv in way.commands() if "create" in argv and "-n" in argv}
        for _step, argv in way.commands():
            own = "-n" in argv and argv[argv.index("-n") + 1] in created  # of an environment that the way itself makes
            if words(argv) & CONDA and "create" not in argv and not own:
                yield f"conda in a venv: {argv}"


def every_torch_is_in_the_tables(way: Way) -> Iterator[str]:
    system = "windows" if way.system == "windows" and not way.wsl else "macos" if way.system == "macos" else "linux"
    for _step, argv in way.commands():
        said = " ".join(argv)
        if "pip install" not in said:
            continue
        torch = next((word.partition("==")[2] for word in argv if re.match(r"torch(\[[\w,-]+\])?==", word)), "")
        index = INDEX.search(argv[argv.index("--index-url") + 1]) if "--index-url" in argv else None
        if index and torch:
            release = torch.partition("+")[0]
            if not any(row.torch == release and row.variant == index[1] for row in builds(system)):
                yield f"torch {torch} of {index[1]} for {system} is not in the tables"
            vision = next((word[13:].partition("+")[0] for word in argv if word.startswith("torchvision==")), "")
            friends = companions(release)
            if vision and friends and friends.torchvision != vision:
                yield f"torchvision {vision} is not that of torch {release}"
        if re.search(r"--force-reinstall\b.*\btorch(?: |$)", said) and not index and way.system != "macos":
            yield f"any torch in place of the one that is there: {said}"


def pins(step: Answer) -> dict[str, str]:
    """Releases that a step asks for, by package."""
    words = [word for argv in step["commands"] for word in argv if {"install", "apply"} & set(argv)]
    return {
        match[1].lower(): match[2]
        for word in words
        if (match := re.fullmatch(r"([\w.-]+)(?:\[[\w,-]+\])?==([\d.]+\d)(?:\+\w+|\.\*)?", word))
    }


def every_new_python_has_wheels_of_what_is_pinned(way: Way) -> Iterator[str]:
    """A Python that a way makes takes all that the way then installs into it."""
    made = [str(step["params"].get("python", "")) for step in way.steps]
    releases = [release for release in made if re.fullmatch(r"3\.\d{1,2}", release)]
    pinned = {name: release for step in way.steps for name, release in pins(step).items()}
    system = "windows" if way.system == "windows" and not way.wsl else "macos" if way.system == "macos" else "linux"
    machines = {one.get("architecture") for one in way.facts("platforms")} - {None}
    machine = "arm64" if system == "macos" else machines.pop() if len(machines) == 1 else ""
    known = [{name: release} for name, release in pinned.items() if pythons_of_all({name: release}, system, machine)]
    for release in releases:
        for one in known:
            if release not in pythons_of_all(one, system, machine):
                yield f"Python {release} has no wheel of {one} on {system} {machine}"


def titles_hold_what_commands_do(way: Way) -> Iterator[str]:
    for step in way.steps:
        said = " ; ".join(" ".join(argv) for argv in step["commands"])
        if not said or "the command tells" in step["title"] or "lists" in step["title"]:
            continue
        for promise, act in PROMISES.items():
            if re.search(promise, step["title"]) and not re.search(act, said):
                yield f"{step['title']!r} and no command does it: {said[:120]}"


def nothing_half_filled(way: Way) -> Iterator[str]:
    for step in way.steps:
        said = " ".join([step["title"], *(" ".join(argv) for argv in step["commands"])])
        if re.search(r"(?<![{$\w])\{[a-z_]+[*|]?\}(?!\})", said) and "awk" not in said:
            yield f"a raw hole: {said[:120]}"
        for argv in step["commands"]:
            if not {"sh", "bash", "powershell", "cmd"} & {argv[0], *(argv[1:4] if argv[0] == "env" else ())} and any(
                word in ("&&", "||", "|", ";", ">", ">>") or "$(" in word for word in argv
            ):
                yield f"words of a shell without one: {argv}"


def others_jobs_end_first(way: Way) -> Iterator[str]:
    if not (way.facts("job_requests") or way.facts("slurm_nodes")) and "kubernetes" not in {
        one.get("container") for one in way.facts("worlds")
    }:
        return
    drained = False
    for step in way.steps:
        said = " ".join([step["title"], *(" ".join(argv) for argv in step["commands"])])
        drained = drained or bool(DRAINED.search(said))
        if DISRUPTIVE.search(said) and not drained:
            yield f"others' jobs end: {said[:100]}"


def nothing_that_is_there_already(way: Way) -> Iterator[str]:
    groups = {group for account in way.facts("accounts") for group in account.get("groups") or []}
    for step in way.steps:
        if step["kind"] in ("join-group", "join-group-yourself") and step["params"]["group"] in groups and len(way.facts("accounts")) == 1:
            yield f"the account is in {step['params']['group']}"


def it_ends_with_a_check(way: Way) -> Iterator[str]:
    if not way.fix.get("check"):
        yield "nothing tells whether it worked"


HELD: tuple[Callable[[Way], Iterator[str]], ...] = (
    no_other_systems_package_manager,
    no_linux_on_windows,
    no_kernel_work_inside,
    no_other_engines_words,
    no_branch_past_a_cards_last,
    no_override_that_breaks_another_card,
    no_unit_of_sleep_is_started,
    no_conda_in_a_venv,
    every_torch_is_in_the_tables,
    every_new_python_has_wheels_of_what_is_pinned,
    titles_hold_what_commands_do,
    nothing_half_filled,
    others_jobs_end_first,
    nothing_that_is_there_already,
    it_ends_with_a_check,
)


LISTS = {  # what lists the cards as a check, and how its list looks
    ("nvidia-smi", "-L"): r"(?m)^GPU \d+: [^\n]+\(UUID: GPU-",
    ("rocminfo",): r"(?m)^ *Name: +gfx\d",
}


def lists_that_are_shown_already(answer: Answer, body: str) -> list[str]:
    """Checks by a list of the cards that stands in the text, beside a fault of which that tool says nothing; where one card fails, or a job gets too few, others are listed."""
    told = []
    for finding in answer["findings"]:
        said = " ".join(f"{line['fact']} {line['value']}" for line in finding["evidence"])
        row = row_of(finding["cause"])
        counts = not {row.family, row.layer}.isdisjoint({"hardware", "bus", "firmware", "scheduler"})
        for check in (fix["check"] for fix in finding["fixes"] if not counts):
            elsewhere = re.search("in the container|typed again", check["title"])  # what failed itself, done anew
            shape = LISTS.get(tuple(check["commands"][-1])) if check["commands"] and not elsewhere else None
            if shape and len(check["commands"]) == 1 and re.search(shape, body) and check["commands"][0][0] not in said.lower():
                told.append(f"{finding['cause']}: {check['commands'][0]} lists the cards already")
    return told


def broken(answer: Answer) -> list[str]:
    """What the ways of an answer break, each with the invariant's name; and causes that are named without any way."""
    told = []
    for finding in answer["findings"]:
        if finding["severity"] != "note" and not finding["guess"] and not finding["fixes"] and not finding["mends"]:
            told.append(f"{finding['cause']}: nothing is said of how to mend it")
        for fix in finding["fixes"]:
            way = Way(answer, finding, fix)
            told += [f"{finding['cause']}: {held.__name__}: {why}" for held in HELD for why in held(way)]
    return told
