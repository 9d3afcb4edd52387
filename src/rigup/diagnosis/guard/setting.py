"""What the guard knows of machine, place and text: the surroundings in which a way to mend would be gone."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rigup.diagnosis.findings import Finding
from rigup.diagnosis.guard.account import groups_of, root_in
from rigup.diagnosis.guard.interpreter import interpreter
from rigup.diagnosis.guard.passing import listing
from rigup.diagnosis.guard.software import framework_of, programs_of, project_of, torch_of_conda
from rigup.diagnosis.rule import wordings
from rigup.knowledge.cuda import cuda_of_driver
from rigup.knowledge.distributions import as_image, family_of_kernel
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.surroundings import release_of_kernel
from rigup.machine.kinds import (
    ContainerToolkit,
    Distribution,
    DkmsBuild,
    DkmsTree,
    Driver,
    Gpu,
    GpuProcess,
    HostedNotebook,
    JobRequest,
    Package,
    Platform,
    PythonEnv,
    SlurmNode,
    SlurmSetting,
    Symptom,
    SystemPackage,
    Torch,
    World,
)
from rigup.machine.store import Facts

_BRANCH = lazy_regex(r"([2-9]\d\d)\.\d")
_BRANCH_IN_PATH = lazy_regex(r"\bnvidia/([2-9]\d\d)\.\d")
_VENV, _CONDA = wordings(tag="venv-shown"), wordings(tag="conda-shown")
_OF_A_DISTRIBUTION = wordings(tag="torch-of-a-distribution")
_NODES = wordings(tag="cluster-node-shown slurm-node-shown")
_ON_TORCH = {  # ComfyUI asks for torchaudio (requirements.txt)
    "torchaudio": ("comfyui-named", "embedded-python-typed", "torchaudio-installed-as-typed"),
    "xformers": ("xformers-in-use",),
    "intel-extension-for-pytorch": wordings(tag="ipex-named"),
    "torch-directml": wordings("directml-asked-for", "directml-used", "directml-falls-back", tag="directml-used"),
}
_LINUX, _WINDOWS, _OLD = (wordings(tag=tag) for tag in ("linux-in-words", "windows-in-words", "processor-before-atomics"))
_BACKENDS = {"+xpu": "intel", "+rocm": "amd", "+cu": "nvidia"}  # as versions of torch name them
_SPEAK_FOR = {"xpu-": "intel", "mps-": "apple"}  # beginnings of the ids of torch's own messages
_OF_INTELS, _OTHERS_CARDS = wordings(tag="intel-asked-of-torch"), wordings(tag="nvidia-named card-named")
_OF_ANY_MAKER = lazy_regex(r"(?i)\bggml_vulkan\b|\bVulkan\d|\bvk::|\bprivateuseone\b|\bDirectML\b")  # what runs on every maker's cards
_SHELL, _GOES_ON = wordings(tag="unix-shell-shown"), wordings(tag="work-goes-on")
_STARTS, _RUNS = wordings(tag="start-command-typed"), wordings(tag="program-command-typed")
_LENT = {"notebook": wordings(tag="hosted-notebook"), "container": wordings(tag="lent-container")}
_SLURM, _CLOUD = wordings(tag="slurm-node-shown"), wordings(tag="cloud-machine")
_FAMILIES = {
    "debian": wordings(tag="family-of-debian"),
    "fedora": wordings(tag="family-of-fedora"),
    "suse": wordings(tag="family-of-suse"),
    "arch": wordings(tag="family-of-arch"),
}


class Setting(NamedTuple):
    """Surroundings of a finding; "" and None stand for what nobody tells.

    Attributes:
        world: the finding's ("host", "container:NAME"); a host's where nothing but a host was looked at.
        system: "linux", "windows" or "macos"; of WSL the Linux side.
        distribution: ID of the os-release whose package manager a step on the kernel's owner speaks to.
        family: the same; where nobody names it the family's ("debian"), if its package manager is seen to speak.
        release: its VERSION_ID.
        machine: architecture.
        kernel: release of the running one.
        engine: what started the container that is spoken of.
        owner: who keeps the environment's packages: "venv", "conda" or "system".
        groups: that hold in the session that was seen.
        roots: sides of a container's wall (True: inside) on which root works.
        vendor: of the machine's cards, where it is one.
        isas: of the machine's NVIDIA cards.
        chips: of its AMD cards.
        branch: of the NVIDIA driver that is there, or whose module is built.
        python: the interpreter that failed, by its own path or as it was typed.
        release_of_python: "3.10", where only one is seen.
        shell: a shell of Unix is seen.
        shared: others' jobs run on the node.
        at_work: addresses on the bus of cards on which a list shows programs that compute.
        busy: somebody says that work goes on there, or a program is shown to compute on a card.
        packages: of the distribution that are installed and have to do with GPUs.
        persistenced: NVIDIA's daemon that keeps cards open is seen to run.
        absent: services that systemd does not find.
        lent: what a provider lends of the machine: "notebook", "container", or "machine", of which all but the card is in the person's hands.
        node: the finding's, as a cluster names it.
        slurm: jobs of Slurm are shown.
        web_ui: the web UI of Stable Diffusion is at work, which reads its options in a file.
        drained: the node that Slurm is shown to give no jobs any more.
        module: a card is a module on a board, and in no slot.
        listing: tools whose list of the cards is shown already, for all that is wrong.
        cells: cells of a notebook are shown.
        programs: whose messages are seen: those of the finding first, others where no torch is shown.
        old_board: its processor is older than PCIe atomics.
        uv_pip: somebody installs by `uv pip`: environments of uv have no pip of their own.
        project: the tool that keeps the environment as a project says: "uv", "poetry", "pixi" or "pdm".
        pod: programs are shown to run in a pod.
        service: the unit whose own messages the finding rests on.
        packaged_torch: torch is a package of the distribution, into whose Python pip puts none.
        conda_torch: torch and what belongs to it, as conda's packages, where conda installed it.
        starts: commands that start containers or jobs, as they were typed.
        runs: commands that start engines and programs which take options, likewise.
        carries: the CUDA that the NVIDIA driver carries, as "12.8"; "" where nobody tells the driver.
        on_torch: packages made for one release of torch that are there, or that its program asks for.
        framework: what computes, as programs import it, where it is not torch and the only one that is seen.
        toolkit: NVIDIA's container toolkit is installed.

    """

    world: str = ""
    wsl: bool = False
    system: str = ""
    distribution: str = ""
    family: str = ""
    release: str = ""
    machine: str = ""
    kernel: str = ""
    engine: str = ""
    owner: str = ""
    groups: frozenset[str] = frozenset()
    roots: tuple[bool, ...] = ()
    vendor: str = ""
    isas: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    branch: str = ""
    python: str = "python"
    release_of_python: str = ""
    shell: bool = False
    shared: bool = False
    busy: bool = False
    at_work: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    persistenced: bool = False
    absent: frozenset[str] = frozenset()
    uv_pip: bool = False
    project: str = ""
    carries: str = ""
    starts: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    conda_torch: tuple[str, ...] = ()
    packaged_torch: bool = False
    service: str = ""
    pod: bool = False
    on_torch: frozenset[str] = frozenset()
    toolkit: bool = False
    framework: str = ""
    cells: bool = False
    programs: tuple[str, ...] = ()
    old_board: bool = False
    lent: str = ""
    node: str = ""
    slurm: bool = False
    web_ui: bool = False
    drained: str = ""
    module: bool = False
    listing: frozenset[str] = frozenset()

    @property
    def inside(self) -> bool:
        """Whether it was seen in a container."""
        return self.world.startswith("container")


def setting_of(finding: Finding, facts: Facts) -> Setting:
    """The surroundings of a finding."""
    system = _distribution(finding, facts)
    wsl = any(platform.get("wsl") for platform in facts.of(Platform))
    systems = {str(platform.get("system")) for platform in facts.of(Platform) if platform.get("system")}
    platform = next(iter(facts.of(Platform)), None)
    return Setting(
        world=finding.place.world or _only_world(facts),
        wsl=wsl,
        system="linux" if wsl or system else systems.pop() if len(systems) == 1 else _only_system(finding, facts),
        distribution=_whose_packages(system) if system else "",
        family=str(system.get("id")) if system else _family(finding, facts),
        release=_release(system) or _release_that_built_the_kernel(facts),
        machine=str(platform.get("architecture") or "x86_64") if platform else "x86_64",
        kernel=str(platform.get("release") or "") if platform and platform.get("system") == "linux" else "",
        engine=_engine(facts),
        owner=_owner(finding, facts),
        groups=groups_of(facts),
        roots=tuple(inside for inside in (False, True) if root_in(inside, facts)),
        vendor=_vendor(facts),
        isas=_isas(facts, "nvidia"),
        chips=_isas(facts, "amd"),
        branch=_branch(finding, facts),
        python=interpreter(finding, facts),
        release_of_python=_release_of_python(facts),
        shell=bool(facts.heard(*_SHELL)) and not facts.heard(*_WINDOWS),
        shared=_is_shared(facts),
        busy=_is_busy(facts),
        at_work=frozenset(address for symptom in facts.heard("compute-programs-listed") for address in _addresses(symptom)),
        packages=_installed(facts),
        persistenced=bool(facts.heard("persistenced-holds-the-card")),
        absent=frozenset(str(symptom.get("service")) for symptom in facts.heard("unit-is-not-there")),
        old_board=bool(facts.heard(*_OLD)),
        uv_pip=bool(facts.heard("uv-pip-is-typed")),
        project=project_of(facts),
        carries=_carries(facts),
        conda_torch=torch_of_conda(facts),
        packaged_torch=bool(facts.heard(*_OF_A_DISTRIBUTION)),
        pod=bool(facts.heard("kubernetes-shown")),
        service=finding.place.process.partition("service:")[2],
        starts=tuple(dict.fromkeys(str(symptom.get("command")) for symptom in facts.heard(*_STARTS))),
        runs=tuple(dict.fromkeys(str(symptom.get("command")) for symptom in facts.heard(*_RUNS))),
        framework=framework_of(facts),
        programs=programs_of(finding, facts),
        toolkit=bool(facts.of(ContainerToolkit) or facts.heard("container-toolkit-is-installed"))
        or "nvidia-container-toolkit" in _installed(facts),
        lent=_lent(facts),
        node=finding.place.node,
        slurm=bool(facts.of(JobRequest) or facts.heard(*_SLURM)),
        drained=_drained(finding, facts),
        web_ui=bool(facts.heard("webui-in-a-path")),
        module=bool(facts.heard("module-of-a-board-named")),
        listing=listing(finding, facts),
        cells=bool(facts.heard("notebook-cell-shown")),
        on_torch=frozenset({str(package.get("name")) for package in facts.of(Package)} & set(_ON_TORCH))
        | {name for name, ids in _ON_TORCH.items() if facts.heard(*ids)},
    )


def _lent(facts: Facts) -> str:
    """Words tell it where nothing shows a machine of one's own, and nobody speaks of it for comparison."""
    if facts.of(HostedNotebook):
        return "notebook"
    elsewhere = any(row.get("system") != "linux" or row.get("wsl") for row in facts.of(Platform))
    own = bool(facts.of(DkmsTree)) or bool(facts.of(DkmsBuild)) or elsewhere
    if own or facts.heard("works-on-a-lent-machine"):
        return ""
    return next((kind for kind, ids in _LENT.items() if facts.heard(*ids)), "machine" if facts.heard(*_CLOUD) else "")


def _drained(finding: Finding, facts: Facts) -> str:
    """The finding's node, or the only one that Slurm was asked for, where one is drained."""
    drained, asked = facts.heard("slurm-node-is-drained"), facts.heard("slurm-node-asked-for")
    named = {str(symptom.get("node")) for symptom in (*drained, *asked) if symptom.get("node")}
    return "" if not drained else finding.place.node if finding.place.node in named else named.pop() if len(named) == 1 else ""


def _release_of_python(facts: Facts) -> str:
    releases = {".".join(str(python.get("version")).split(".")[:2]) for python in facts.of(PythonEnv) if python.get("version")}
    return releases.pop() if len(releases) == 1 else ""


def _carries(facts: Facts) -> str:
    versions = {str(driver.get("version")) for driver in facts.of(Driver) if driver.get("vendor") == "nvidia"} - {"None"}
    cuda = cuda_of_driver(versions.pop()) if len(versions) == 1 else None
    return str(cuda or "")


def _only_system(finding: Finding, facts: Facts) -> str:
    """A cause that there is on one system alone tells which one it is, and so do folders that only one has."""
    if len(finding.row.systems) == 1:
        return finding.row.systems[0]
    linux, windows = facts.heard(*_LINUX), facts.heard(*_WINDOWS)
    return "linux" if linux and not windows else "windows" if windows and not linux else ""


def _release(system: Distribution | None) -> str:
    """Of two releases that a text names nobody knows which one this is; 24.04.2 is one of 24.04."""
    version = str(system.get("version") or "") if system is not None else ""
    others = [str(other.value) for other in system.others.get("version", ())] if system is not None else []
    return version if all(f"{other}.".startswith(f"{version}.") for other in others) else ""


def _release_that_built_the_kernel(facts: Facts) -> str:
    """Ubuntu writes into a kernel's name for which older release it was built; one that names none is of the release that began with its series."""
    built = facts.heard("kernel-built-for-its-own-release", "kernel-built-for-an-older-release")
    kernels = {str(symptom.get("kernel")) for symptom in built}
    older = {str(symptom.get("release")) for symptom in built if symptom.get("release")}
    return older.pop() if len(older) == 1 else release_of_kernel("ubuntu", kernels.pop()) if len(kernels) == 1 and not older else ""


def _only_world(facts: Facts) -> str:
    """The host's name for it, where nothing but a host was looked at, so that what is to be done at the host is done here."""
    return "host" if {look.place.world for look in facts.looks} - {""} == {"host"} else ""


def _distribution(finding: Finding, facts: Facts) -> Distribution | None:
    """Whose package manager a fix speaks to; nothing where worlds of several systems come into question."""
    kernel = finding.place.world.startswith("container")
    seen = [
        d for d in facts.of(Distribution) if d.get("id") not in (None, "windows") and not (kernel and d.place.world.startswith("container"))
    ]
    known = [d for d in seen if d.place.node in ("", finding.place.node)]
    return known[0] if len({d.get("id") for d in known}) == 1 else None


def _whose_packages(system: Distribution) -> str:
    """The distribution, or what it is called as an image, into which packages and files are not put as usual."""
    named = str(system.get("id"))
    return as_image(named) if system.get("immutable") == "ostree" else named


def _family(finding: Finding, facts: Facts) -> str:
    """By its package manager's own words, seen where the kernel is, else by the kernel's release; nothing where a distribution is named that they may not be of."""
    if any(row.get("id") for row in facts.of(Distribution)) and not finding.place.world.startswith("container"):
        return ""
    spoke = [
        name for name, ids in _FAMILIES.items() if any(not symptom.place.world.startswith("container") for symptom in facts.heard(*ids))
    ]
    if finding.place.world.startswith("container"):
        return ""
    kernels = {str(platform.release) for platform in facts.of(Platform) if platform.get("system") == "linux" and platform.get("release")}
    families = {family for kernel in kernels if (family := family_of_kernel(kernel))}
    return spoke[0] if len(spoke) == 1 else families.pop() if not spoke and len(families) == 1 else ""


def _engine(facts: Facts) -> str:
    engines = {str(world.get("container")) for world in facts.of(World) if world.get("container")}
    return engines.pop() if len(engines) == 1 else ""


def _owner(finding: Finding, facts: Facts) -> str:
    """By the finding's own environment, else by all that were seen; words of a text where no fact tells."""
    torch = finding.params.get("torch")
    env = torch.get("env") if isinstance(torch, Torch) else finding.params.get("env")
    if any(package.get("manager") == "conda" for package in facts.of(Package)):
        return "conda"
    kinds = {str(python.get("kind")) for python in facts.of(PythonEnv) if python.get("kind") and env in (None, python.get("prefix"))}
    if kinds:
        return kinds.pop() if len(kinds) == 1 else ""
    conda, venv = facts.heard(*_CONDA), facts.heard(*_VENV)
    return "venv" if venv and not conda else "conda" if conda and not venv else ""


def _vendor(facts: Facts) -> str:
    """By the cards, the drivers, what torch was asked for, the card that people name, and torch's own version, whichever tells first; Intel's graphics beside a card are nobody's question."""
    vendors = next(filter(None, _makers(facts)), set())
    vendors = vendors - {"intel"} if len(vendors) > 1 else vendors
    if not vendors and any(_OF_ANY_MAKER.search(symptom.fields["id"].where.text) for symptom in facts.of(Symptom)):
        return "any"
    return vendors.pop() if len(vendors) == 1 else ""


def _makers(facts: Facts) -> Iterator[set[str]]:
    yield {str(gpu.get("vendor")) for gpu in facts.of(Gpu) if gpu.get("vendor")}
    yield {str(driver.get("vendor")) for driver in facts.of(Driver) if driver.get("vendor")}
    symptom_ids = [str(symptom.get("id")) for symptom in facts.of(Symptom)]
    yield {"intel" for _told in facts.heard(*_OF_INTELS)} | {
        maker for start, maker in _SPEAK_FOR.items() if any(id_.startswith(start) for id_ in symptom_ids)
    }
    yield {"intel"} if facts.heard("intel-gpu-in-words") and not facts.heard(*_OTHERS_CARDS) else set()
    versions = [str(torch.get("version")) for torch in facts.of(Torch)]
    yield {maker for mark, maker in _BACKENDS.items() if any(mark in version for version in versions)}


def _installed(facts: Facts) -> frozenset[str]:
    there = (package for package in facts.of(SystemPackage) if package.get("state") == "installed")
    return frozenset(str(package.name).partition(":")[0] for package in there)


def _isas(facts: Facts, vendor: str) -> tuple[str, ...]:
    cards = (gpu for gpu in facts.of(Gpu) if gpu.get("vendor") == vendor and gpu.get("isa"))
    return tuple(dict.fromkeys(str(gpu.get("isa")).lower() for gpu in cards))


def _branch(finding: Finding, facts: Facts) -> str:
    trees = [tree for tree in (*facts.of(DkmsTree), *facts.of(DkmsBuild)) if str(tree.get("module")).startswith("nvidia")]
    versions = [driver.get("version") for driver in facts.of(Driver) if driver.get("vendor") == "nvidia"] + [
        tree.get("version") for tree in trees
    ]
    versions += [symptom.get("version") for symptom in facts.heard("module-tells-its-release-as-it-loads")]
    version = next((str(known) for known in versions if known), str(finding.params.get("version") or ""))
    lines = " ".join(str(symptom.fields["id"].where.text or "") for symptom in facts.of(Symptom))
    match = _BRANCH.match(version) or _BRANCH_IN_PATH.search(lines)
    return match[1] if match else ""


def _is_busy(facts: Facts) -> bool:
    """Whether a run goes on; Windows lists its desktop's programs as ones that compute."""
    linux = not any(platform.get("wsl") or platform.get("system") == "windows" for platform in facts.of(Platform))
    computing = any(process.get("graphics") is False for process in facts.of(GpuProcess))
    return bool(facts.heard(*_GOES_ON)) or (linux and computing)


def _addresses(listed: Symptom) -> list[str]:
    """As the bus writes them: nvidia-smi fills the domain up to eight digits."""
    found = re.findall(r"([0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)", str(listed.get("listed") or ""))
    return [address.lower() for address in found]


def _is_shared(facts: Facts) -> bool:
    """Whether the text, or the machine, shows a cluster's node."""
    slurm = bool(facts.of(JobRequest)) or bool(facts.of(SlurmNode)) or bool(facts.of(SlurmSetting))
    pods = any(world.get("container") == "kubernetes" for world in facts.of(World))
    return bool(slurm or pods or facts.heard(*_NODES))
