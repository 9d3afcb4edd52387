"""What follows from facts and from what is known: cards from the bus, their names and ISAs, folders from variables."""

import re
from typing import Any

from rigup.knowledge import gpus as catalogue
from rigup.knowledge.distributions import of_mark
from rigup.knowledge.hosted import hosted, telling_variables
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact, Reading, Where
from rigup.machine.kinds import (
    Account,
    Cpu,
    Distribution,
    DrmCard,
    Gpu,
    Group,
    HomeFolder,
    HostedNotebook,
    JupyterFolder,
    JupyterKernel,
    KfdNode,
    Memory,
    PciDevice,
    Platform,
    PythonEnv,
    SearchPath,
    SlurmNode,
    StateFolder,
    SystemPackage,
    Torch,
    Variable,
)
from rigup.machine.names import same_name
from rigup.machine.reader import Statements, derives
from rigup.machine.store import Facts

_USER = lazy_regex(r"[\w.@-]{1,60}")
_MOST_COUNTED = 16  # cards of one machine
_DRIVE = lazy_regex(r"[A-Za-z]:[\\/]")
_CHIP_OF_APPLE = lazy_regex(r"Apple M\d{1,2}(?: (?:Pro|Max|Ultra))?\b")

# Who makes what bears a vendor id; the catalogue knows the first few in detail.
_VENDORS = {
    **catalogue.VENDORS,
    "1d94": "hygon",
    "1ed5": "moorethreads",
    "1414": "microsoft",
    "1da3": "habana",
    "1e3e": "iluvatar",
    "9999": "metax",
    "0731": "jingjia",
}
_PATH = lazy_regex(r"/[^\0\n]{0,400}|[A-Za-z]:[\\/][^\0\n]{0,400}")


@derives(JupyterKernel, JupyterKernel)
def kernel_without_its_interpreter(kernel: JupyterKernel, facts: Facts) -> Statements:
    """The file of a kernel outlives the environment that it starts."""
    python = kernel.get("python")
    vain = (look for look in facts.looks if look.kind is JupyterKernel and look.coverage == "whole")
    if str(python).startswith("/") and any(look.source == python for look in vain):
        named = {name: reading for name, reading in kernel.fields.items() if name in ("name", "path")}
        yield JupyterKernel(kernel.place, {**named, "gone": kernel.fields["python"]._replace(value=True)})


@derives(Gpu)
def card_on_bus(device: PciDevice) -> Statements:
    """A display or accelerator whose maker makes GPUs is a card; what only gives a picture is none."""
    vendor, model = device.get("vendor_id"), device.get("device_id")
    if vendor not in _VENDORS or (model and catalogue.is_display_only(vendor, model)) or not _is_gpu(device, vendor, model):
        return
    fields = {mine: device.fields[theirs] for mine, theirs in _TAKEN.items() if theirs in device.fields}
    vendor_id = device.fields["vendor_id"]
    fields["vendor"] = vendor_id._replace(value=_VENDORS[vendor])
    if model:
        fields["pci_id"] = device.fields["device_id"]._replace(value=vendor + ":" + model)
    if device.get("name") and (name := _model(device.get("name"))):
        fields["name"] = device.fields["name"]._replace(value=name, rank=-2)
        if _VENDORS[vendor] == "amd" and not model and (isa := _isa_of_codename(device.get("name"))):
            fields["isa"] = device.fields["name"]._replace(value=isa, rank=-2)
    yield Gpu(device.place, fields)


def _isa_of_codename(name: str) -> str:
    """Before the brackets of a name stands the chip."""
    from rigup.knowledge.rocm import target_of_codename

    target = target_of_codename(name)
    return target.isa if target else ""


_TAKEN = {"pci_address": "address", "driver": "driver", "power": "power", "revision": "revision", "subsystem": "subsystem"}


def _is_gpu(device: PciDevice, vendor: str, model: str | None) -> bool:
    """Among processing accelerators there are NPUs too: those that the catalogue does not know."""
    if str(device.get("class_code", "")).startswith("03"):
        return True
    return _VENDORS[vendor] not in ("intel", "microsoft") or bool(model and catalogue.gpu_by_pci(vendor, model))


def _model(name: str) -> str:
    """`NVIDIA Corporation GM204 [GeForce GTX 970]`: what stands in the last brackets; else all but the maker's brackets."""
    inner = [part for part in re.findall(r"\[([^\[\]]{2,100})\]", name) if part != "AMD/ATI"]
    return str(inner[-1]) if inner else re.sub(r"^.{0,60}?(?:\[AMD/ATI\]|Corporation) ", "", name)


@derives(Gpu, KfdNode)
def card_of_kfd(node: KfdNode, facts: Facts) -> Statements:
    """amdkfd lists a card once, or once for each partition: those at one address are one card."""
    place = node.get("pci_address")
    parts = [other for other in facts.of(KfdNode) if place and other.get("pci_address") == place] or [node]
    if parts[0] is not node:
        return
    fields = {mine: node.fields[theirs] for mine, theirs in _OF_KFD.items() if theirs in node.fields}
    vendor = node.get("pci_id", "1002:").partition(":")[0]
    where = next(iter(node.fields.values()))
    fields["vendor"] = where._replace(value=_VENDORS.get(vendor, "amd"))
    if node.get("is_cpu_too"):
        fields["integrated"] = node.fields["is_cpu_too"]
    sizes = [part.get("vram") for part in parts]
    if all(sizes) and not _shares_memory(node):
        fields["vram"] = node.fields["vram"]._replace(value=sum(sizes))
    if len(parts) > 1:
        fields["partitions"] = where._replace(value=[_partition(part) for part in parts])
    yield Gpu(node.place, fields)


_OF_KFD = {"pci_address": "pci_address", "kfd_node": "node", "isa": "isa", "pci_id": "pci_id"}


def _partition(part: KfdNode) -> dict[str, Any]:
    fields = {"name": "KFD node " + str(part.get("node", "")), "memory": part.get("vram")}
    return {name: value for name, value in fields.items() if value is not None}


def _shares_memory(node: KfdNode) -> bool:
    """What amdkfd calls an APU's own memory is a part of the system's, which part depends on the kernel."""
    vendor, _, model = node.get("pci_id", "").partition(":")
    row = catalogue.gpu_by_pci(vendor, model) if model else None
    return bool(node.get("is_cpu_too") or (row and row.integrated))


@derives(Gpu)
def card_of_graphics(card: DrmCard) -> Statements:
    """The graphics layer numbers cards; its uevent tells the address."""
    if card.knows("pci_address") and (card.knows("vram") or card.knows("gtt")):
        yield Gpu(card.place, {name: card.fields[name] for name in ("pci_address", "vram", "gtt") if name in card.fields})


@derives(Distribution, Distribution)
def distribution_of_its_kernel(platform: Platform, facts: Facts) -> Statements:
    """Where nothing else names it, the release of a kernel that only one distribution builds; a container's is its host's."""
    if platform.get("system") != "linux" or platform.place.world.startswith("container"):
        return
    yield from _by_mark(platform, "release", facts)


@derives(Distribution, Distribution)
def distribution_of_a_package(package: SystemPackage, facts: Facts) -> Statements:
    """The same of a package's version."""
    if package.get("state") == "installed":
        yield from _by_mark(package, "version", facts)


def _by_mark(source: Fact, field: str, facts: Facts) -> Statements:
    where = source.fields.get(field)
    found = of_mark(str(where.value)) if where is not None else None
    if where is None or found is None or next(iter(facts.of(Distribution)), None) is not None:
        return
    name, release = found
    fields = {"id": where._replace(value=name, rank=-2)}
    yield Distribution(source.place, fields | ({"version": where._replace(value=release, rank=-2)} if release else {}))


@derives(Torch, Torch)
def platform_of_torch(platform: Platform, facts: Facts) -> Statements:
    """A torch of this machine was built for it, where its own files do not say for what."""
    if not platform.knows("system", "architecture"):
        return
    where = platform.fields["architecture"]
    for torch in facts.of(Torch):
        if torch.place.meet(platform.place) and "-" not in torch.get("platform", ""):
            name = str(platform.get("system")) + "-" + str(platform.get("architecture"))
            torch.fields["platform"] = where._replace(value=name, rank=-1)
    yield from ()


@derives(Gpu, Gpu)
def cards_that_torch_counts(torch: Torch, facts: Facts) -> Statements:
    """Of a list that somebody cut (`nvidia-smi | head`) the cards that torch counts beside those that are shown, where these are alike."""
    listed = [gpu for gpu in facts.of(Gpu) if gpu.place.meet(torch.place) is not None]
    if facts.pasted and "devices" in torch.fields and all(gpu.knows("nvml_index", "name") for gpu in listed):
        yield from _others_counted(listed, torch.fields["devices"], "torch")


@derives(Gpu, Gpu)
def cards_that_slurm_counts(node: SlurmNode, facts: Facts) -> Statements:
    """`Gres=gpu:a100:8`: a node's cards beside those that a text speaks of, where these are alike and no tool lists cards."""
    shown = [gpu for gpu in facts.of(Gpu) if gpu.place.at("machine").meet(node.place.at("machine")) is not None]
    listed = [gpu for gpu in shown if gpu.keyed()]
    told = re.fullmatch(r"gpu:(?:(?P<model>[\w.-]{1,40}):)?(?P<count>\d{1,2})", str(node.get("gres")))
    if not facts.pasted or not told or len(facts.of(SlurmNode)) > 1 or any(gpu.knows("seen_by") for gpu in shown):
        return
    model = (told["model"] or "").replace("_", " ")
    if all(gpu.knows("nvml_index") for gpu in listed) and (not model or same_name(model, str(shown and shown[0].get("name")))):
        yield from _others_counted(listed or shown[:1], node.fields["gres"]._replace(value=int(told["count"])), "")


def _others_counted(listed: list[Gpu], count: Reading, by: str) -> Statements:
    """The cards of a number that are not listed, where those that are of one model."""
    if len(listed) >= count.value or count.value > _MOST_COUNTED or len({(gpu.get("vendor"), gpu.get("name")) for gpu in listed}) != 1:
        return
    same: dict[str, Reading] = {name: listed[0].fields[name] for name in ("vendor", "name", "isa", "vram") if name in listed[0].fields}
    same |= {"seen_by": count._replace(value=by)} if by else {}
    for number in sorted(set(range(count.value)) - {gpu.get("nvml_index") for gpu in listed}):
        yield Gpu(listed[0].place, {**same, "nvml_index": count._replace(value=number)})


@derives(Torch)
def torch_that_counts_none(torch: Torch) -> Statements:
    """No device counted is the same answer in other words."""
    if torch.get("devices") == 0 and not torch.knows("available"):
        torch.fields["available"] = torch.fields["devices"]._replace(value=False, rank=-1)
    yield from ()


@derives(SearchPath)
def search_path(variable: Variable) -> Statements:
    """Each folder of LD_LIBRARY_PATH."""
    if variable.get("name") != "LD_LIBRARY_PATH" or not variable.get("value"):
        return
    where = variable.fields["value"]
    for part in dict.fromkeys(str(where.value).split(":")):
        if part.startswith("/") and "$" not in part and "*" not in part:
            path = part.rstrip("/") or "/"
            yield SearchPath(variable.place, {"path": where._replace(value=path), "variable": variable.fields["name"]})


@derives(HomeFolder)
def folder_of_variable(variable: Variable) -> Statements:
    """Where the person who asks lives and works."""
    role = {"HOME": "home", "USERPROFILE": "home", "PWD": "work"}.get(variable.get("name", ""))
    value = variable.get("value")
    if role and value and value != "/" and _PATH.fullmatch(value) and variable.place.kind != "unit":
        yield _folder(variable, _on_its_drive(value.rstrip("/\\")), role, variable.fields["value"].where)


# Below which folders state is kept, by the variable that names them: Linux and macOS, Windows.
_STATES = {"XDG_STATE_HOME": ("",), "HOME": ("/.local/state", "/Library/Application Support"), "USERPROFILE": ("/AppData/Local/rigup",)}


@derives(StateFolder, Variable)
def folder_of_state(variable: Variable, facts: Facts) -> Statements:
    """Where rigup keeps its records there: where XDG_STATE_HOME says, else below the home folder that is in force.

    Never below an account's usual home while HOME names another: what was proven there was another's.
    """
    name, value = variable.get("name", ""), variable.get("value")
    if name not in _STATES or not value or value == "/" or not _PATH.fullmatch(value) or variable.place.kind == "unit":
        return
    names = {other.get("name") for other in facts.of(Variable) if other.get("value") and other.place == variable.place}
    where = variable.fields["value"].where
    ends = _STATES[name]
    for end in ends[1:] if name == "HOME" and "XDG_STATE_HOME" in names else ends:
        path = _on_its_drive(value.rstrip("/\\")) + end
        yield StateFolder(variable.place, {"path": Reading(path, where)})


# What is appended to each folder that the variable names.
_OF_JUPYTER = {"XDG_DATA_HOME": "/jupyter", "JUPYTER_DATA_DIR": "", "JUPYTER_PATH": ""}


@derives(JupyterFolder)
def folder_of_jupyter(variable: Variable) -> Statements:
    """Where Jupyter looks for kernels beside the usual folders."""
    end = _OF_JUPYTER.get(variable.get("name", ""))
    if end is None or not variable.get("value") or variable.place.kind in ("unit", "kernel"):
        return
    where = variable.fields["value"]
    separator = ";" if re.match(r"[A-Za-z]:[\\/]", str(where.value)) else ":"
    for part in dict.fromkeys(str(where.value).split(separator)):
        path = _on_its_drive(part.rstrip("/\\"))
        if path.startswith("/") and _PATH.fullmatch(path):
            yield JupyterFolder(variable.place, {"path": where._replace(value=path + end)})


@derives(HostedNotebook, Variable)
def service_of_variables(variable: Variable, facts: Facts) -> Statements:
    """The service that lends the machine, told by the variables that it sets; of two that would fit the first of the table."""
    name = variable.get("name")
    if variable.place.kind not in ("", "shell") or not (name == "HOME" or name in telling_variables()):
        return
    variables = {other.get("name"): other.get("value") for other in facts.of(Variable) if other.place == variable.place}
    service = hosted(variables)
    if service is None:
        return
    where = variable.fields["name"]
    fields = {
        "id": service.id,
        "name": service.name,
        "session_hours": service.session_hours or None,
        "idle_minutes": service.idle_minutes or None,
        "kept": list(service.kept),
        "is_root": service.is_root,
    }
    yield HostedNotebook(variable.place._replace(process=""), {key: where._replace(value=value) for key, value in fields.items()})


@derives(HomeFolder)
def folder_of_account(account: Account) -> Statements:
    """The usual home, for a capture that does not tell the variables."""
    user = account.get("user")
    if user and _USER.fullmatch(user):
        yield _folder(account, "/root" if user == "root" else "/home/" + user, "home", account.fields["user"].where)


def _on_its_drive(path: str) -> str:
    r"""`C:\Users\ada` as readers ask for it: patterns know one kind of stroke, and no drives."""
    return path[2:].replace("\\", "/") if _DRIVE.match(path) else path


def _folder(source: Fact, path: str, role: str, where: Where) -> HomeFolder:
    return HomeFolder(source.place, {"path": Reading(path, where), "role": Reading(role, where)})


@derives(PythonEnv, Variable)
def environment_in_force(variable: Variable, facts: Facts) -> Statements:
    """VIRTUAL_ENV and CONDA_PREFIX; with both the virtual environment is in front."""
    kind = {"VIRTUAL_ENV": "venv", "CONDA_PREFIX": "conda"}.get(variable.get("name", ""))
    value = variable.get("value")
    if not kind or not value or not _PATH.fullmatch(value):
        return
    both = {other.get("name") for other in facts.of(Variable) if other.get("value") and other.place == variable.place}
    where = variable.fields["value"]
    active = kind == "venv" or "VIRTUAL_ENV" not in both
    yield PythonEnv(
        variable.place,
        {"prefix": where._replace(value=value.rstrip("/\\")), "kind": where._replace(value=kind), "active": where._replace(value=active)},
    )


@derives(PythonEnv)
def environment_of_kernel(kernel: JupyterKernel) -> Statements:
    """The environment that a notebook's kernel runs in."""
    if kernel.get("prefix"):
        yield PythonEnv(kernel.place, {"prefix": kernel.fields["prefix"]})


@derives(Account, Group)
def assigned_groups(account: Account, facts: Facts) -> Statements:
    """Groups that the group file gives a person: they count from the next login on."""
    user = account.get("user")
    listed = [group for group in facts.of(Group) if group.place.meet(account.place)]
    mine = [group for group in listed if user in group.get("members", ())]
    if user and listed and not account.knows("assigned"):
        where = (mine or listed)[0].fields["members"]
        account.absorb({"assigned": where._replace(value=sorted(group.get("name") for group in mine))})
    yield account


@derives(Gpu)
def gpu_of_chip(cpu: Cpu) -> Statements:
    """Apple's chips hold their GPU, under the same name and in the same memory."""
    if match := _CHIP_OF_APPLE.match(cpu.get("model") or ""):
        reading = cpu.fields["model"]
        values = {"name": match[0], "vendor": "apple", "integrated": True}
        yield Gpu(cpu.place, {name: reading._replace(value=value) for name, value in values.items()})


@derives(Gpu)
def gpu_of_mac(platform: Platform) -> Statements:
    """Every Mac with an Apple processor has that chip's GPU, whatever its name."""
    if platform.get("system") == "macos" and platform.get("architecture") == "arm64":
        reading = platform.fields["architecture"]
        yield Gpu(platform.place, {name: reading._replace(value=value) for name, value in (("vendor", "apple"), ("integrated", True))})


@derives(Platform)
def wsl_is_linux(platform: Platform) -> Statements:
    """Where a WSL is spoken of, the work runs in its Linux, whatever the Windows around it said of itself."""
    if platform.get("wsl") and platform.get("system") == "windows":
        platform.fields["system"] = platform.fields["wsl"]._replace(value="linux")
    yield platform


@derives(Gpu, Memory)
def shared_memory_of_a_mac(gpu: Gpu, facts: Facts) -> Statements:
    """An Apple GPU's memory is the machine's: it has no other."""
    memory = next((m for m in facts.of(Memory) if m.knows("total") and m.place.meet(gpu.place) is not None), None)
    if gpu.get("vendor") == "apple" and memory and not gpu.knows("unified"):
        gpu.absorb({"unified": memory.fields["total"]})
        yield gpu
