"""Devices that a container gets as nodes: AMD's and Intel's, their groups, and what stands for them under WSL."""

from rigup.container.asked import Mount
from rigup.container.draft import ROCM, Draft
from rigup.knowledge.wsl import library_folder, runtime_knows_wsl
from rigup.language import _

KFD, DRI, DXG = "/dev/kfd", "/dev/dri", "/dev/dxg"
_LIBRARY = "librocdxg.so"
_WSL = "https://rocm.docs.amd.com/projects/radeon-ryzen/en/latest/docs/install/installrad/wsl/install-radeon.html"
_PODMAN_GROUPS = "https://docs.podman.io/en/latest/markdown/podman-run.1.html"
_INTEL = "https://dgpu-docs.intel.com/driver/client/overview.html"


def give_amd(draft: Draft) -> None:
    """AMD's devices."""
    if draft.engine.hpc:
        draft.add(
            "--rocm", why=_("Apptainer binds ROCm's nodes and libraries itself."), source="https://apptainer.org/docs/user/latest/gpu.html"
        )
        if not draft.whole:
            numbers = ",".join(str(draft.position(device)) for device in draft.of("amd"))
            why = _("Apptainer hands all GPUs over: which of them the program sees is told by this variable.")
            draft.set("ROCR_VISIBLE_DEVICES", numbers, why, ROCM)
        return
    if draft.site.wsl:
        _dxg(draft)
        rocm = draft.image.build.rocm
        _libraries(draft)
        if not (rocm and runtime_knows_wsl(rocm)):
            why = _("ROCm before 7.13 looks for WSL's device only when it is told to.")
            draft.set("HSA_ENABLE_DXG_DETECTION", "1", why, _WSL)
        return
    if draft.engine.in_machine:
        _in_machine(draft)
        return
    draft.add("--device", KFD, _("ROCm computes through this node, whichever card."), ROCM)
    _nodes(draft, "amd", (KFD,))


def give_intel(draft: Draft) -> None:
    """Intel's devices."""
    if draft.engine.hpc:
        why = _("Intel's user space needs the render nodes; Apptainer has them with the host's /dev.")
        draft.tell(("exec",), why, _INTEL)
    elif draft.site.wsl:
        _dxg(draft)
        folder = library_folder()
        draft.mount(Mount(source=folder, target=folder, read_only=True), _("Microsoft's libraries reach the GPU through /dev/dxg."), _WSL)
    elif draft.engine.in_machine:
        _in_machine(draft)
    else:
        _nodes(draft, "intel", ())


def _in_machine(draft: Draft) -> None:
    sentence = _("{engine} runs its containers in a virtual machine without the GPU.").format(engine=draft.engine.name)
    draft.warn("docker-flavour-without-gpu", sentence)
    draft.need("use-native-engine", because=sentence)
    if draft.of("amd"):
        draft.add("--device", KFD, _("ROCm computes through this node, whichever card."), ROCM)
    _nodes(draft, "amd" if draft.of("amd") else "intel", (KFD,) if draft.of("amd") else ())


def _dxg(draft: Draft) -> None:
    draft.add("--device", DXG, _("Under WSL every GPU is reached through this node; there is no /dev/kfd."), _WSL)


def _libraries(draft: Draft) -> None:
    """What ROCm needs of the distribution to reach WSL's device."""
    dxcore = library_folder() + "/libdxcore.so"
    why = _("Microsoft's library reaches the GPU through /dev/dxg, and AMD's stands on it.")
    draft.mount(Mount(source=dxcore, target="/usr/lib/libdxcore.so", read_only=True), why, _WSL)
    found = next((folder for folder in draft.host.folders if folder.endswith("/" + _LIBRARY)), "")
    source = found or "/opt/rocm/lib/" + _LIBRARY
    draft.mount(Mount(source=source, target="/usr/lib/" + _LIBRARY, read_only=True), why, _WSL)
    if not found and draft.host.folders:
        sentence = _("AMD's library for WSL, {library}, is not there.").format(library=_LIBRARY)
        draft.need("install-rocm-release", {"version": draft.image.build.rocm or "7.2"}, because=sentence)


def _nodes(draft: Draft, vendor: str, other_nodes: tuple[str, ...]) -> None:
    """The render nodes of the devices, by what the machine says belongs to them, and their groups."""
    mine = {device.index for device in draft.of(vendor)}
    cards = {path: node for path, node in draft.host.nodes.items() if path.startswith(DRI + "/render")}
    owned = {path for path, node in cards.items() if node.gpu in mine}
    source = ROCM if vendor == "amd" else _INTEL
    others = {device.index for device in draft.site.gpus} - mine
    foreign = any(node.gpu in others for node in cards.values()) or (not owned and bool(others))
    if owned and foreign:
        for path in sorted(owned):
            why = _("The render node of this device alone, as the machine numbers it.")
            draft.add("--device", path, why, source)
    else:
        draft.add("--device", DRI, _("The render nodes of the devices lie below it."), source)
        if foreign:
            numbers = ",".join(str(draft.position(device)) for device in draft.of(vendor))
            name = "ROCR_VISIBLE_DEVICES" if vendor == "amd" else "ZE_AFFINITY_MASK"
            draft.set(name, numbers, _("It hides the other GPUs of the machine from the program."), source)
    used = [path for path in (*other_nodes, *sorted(owned or cards)) if path in draft.host.nodes]
    _groups(draft, used)


def _groups(draft: Draft, paths: list[str]) -> None:
    """The groups that own the nodes, by number: names mean other numbers in an image, or none."""
    numbers = sorted({draft.host.nodes[path].gid for path in paths if not draft.host.nodes[path].open} - {0})
    if not numbers:
        return
    engine = draft.engine
    if not engine.rootless:
        why = _(
            "The process must be in the group that owns the nodes here; by its number, for in the image the name means another, or none."
        )
        for number in numbers:
            draft.add("--group-add", str(number), why, ROCM)
        return
    names = [name for name, number in draft.host.groups.items() if number in numbers]
    if engine.podman:
        why = _(
            "Groups of the host have no number in a rootless container: podman leaves the caller's in force, and takes no other beside this."
        )
        draft.add("--group-add", "keep-groups", why, _PODMAN_GROUPS)
        if engine.oci_runtime not in ("", "crun") and "crun" in engine.oci_runtimes:
            draft.before.append(("--runtime", "crun"))
            draft.tell(("--runtime", "crun"), _("Only crun keeps the caller's groups."), _PODMAN_GROUPS)
        elif engine.oci_runtime not in ("", "crun"):
            sentence = _("Only crun keeps the caller's groups, and it is not installed.")
            draft.warn("container-render-group-mismatch", sentence)
            draft.need("install-engine", {"engine": "crun", "package": "crun"}, because=sentence)
    else:
        sentence = _("A rootless docker maps no group of the host: its containers cannot open nodes that are for a group.")
        draft.warn("container-render-group-mismatch", sentence)
        draft.need("use-native-engine", because=sentence)
    if len(names) < len(numbers) and engine.podman and draft.host.groups:
        sentence = _("You are not in the group that owns the nodes, and a rootless container has no more rights than you.")
        draft.warn("render-group-missing", sentence)
        draft.need("join-group", {"user": draft.host.user or "USER", "group": "render"}, because=sentence)
