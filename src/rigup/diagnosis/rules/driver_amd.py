"""AMD's kernel side: amdgpu and amdkfd, the path to the card, and firmware."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.knowledge.driver_faults import firmware_fault
from rigup.machine.kinds import (
    Account,
    DeviceNode,
    DkmsBuild,
    DkmsTree,
    Gpu,
    KernelModule,
    KfdNode,
    PciDevice,
    Platform,
    Symptom,
    SystemPackage,
    Torch,
    UnloadedModule,
    World,
)

_AMD = "1002"


# -- the module
@rule("amdgpu-not-loaded")
def nobody_has_the_card(
    card: PciDevice = one(vendor_id=_AMD, driver=None),
    loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    platform: Platform | None = None,
) -> Verdict:
    """A card on the bus without a driver, and amdgpu is not loaded."""
    draws = str(card.get("class_code", "03"))[:2] in ("03", "12")
    return draws and loaded is None and not (platform and platform.get("wsl"))


@rule("kernel-module-not-built", "likely")
def amds_own_module_was_not_built_and_the_kernels_leaves_the_card(
    card: PciDevice = one(vendor_id=_AMD, driver=None), _loaded: KernelModule = one(name="amdgpu", loaded=True), platform: Platform = one(wsl=None),
    tree: DkmsTree = one(module="amdgpu", registered=True), builds: Every[DkmsBuild] = every(DkmsBuild),
) -> Verdict:  # fmt: skip
    """DKMS has AMD's module and no build of it for the kernel that runs; amdgpu is that kernel's own, and takes no notice of the card."""
    draws = str(card.get("class_code", "03"))[:2] in ("03", "12")
    built = any(build.get("kernel") == platform.get("release") for build in builds)
    return draws and not built and bool(tree.get("version")) and {"kernel": platform.release}


@rule("amdgpu-not-loaded", "likely")
def report_shows_no_driver(
    card: Gpu = one(vendor="amd", driver=None), loaded: KernelModule | None = one(name="amdgpu", loaded=True), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """lshw calls it unclaimed, inxi knows no driver."""
    guest = platform is not None and bool(platform.get("wsl") or platform.get("system") == "windows")
    return loaded is None and not guest and not inside(card)


@rule("amdgpu-not-loaded", "likely")
def rocm_finds_no_module(
    symptom: Symptom = seen(tag="module-builds-missed"), loaded: KernelModule | None = one(name="amdgpu", loaded=True), kfd: KfdNode | None = None,
    node: DeviceNode | None = one(path="/dev/kfd"), platform: Platform | None = None, listed: Gpu | None = one(seen_by=("rocminfo", "rocm-smi", "amd-smi")),
    spoken: Symptom | None = seen("wsl-lived-in", "wsl-in-small-letters", "wsl-device-named"), built: KernelModule | None = one(name="amdgpu", built_in=True),
    works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """ROCm's tools look for the module and do not find it, and nothing else shows that it is there."""
    has_module = any(part is not None for part in (loaded, kfd, node, listed, works))
    windows = platform is not None and bool(platform.get("wsl") or platform.get("system") == "windows")
    return spoken is None and built is None and not has_module and not inside(symptom) and not windows


@rule("amdgpu-not-loaded", "likely")
def looked_for_in_vain(
    _module: UnloadedModule = one(name="amdgpu"), nvidia: Gpu | None = one(vendor="nvidia"), built: Symptom | None = seen(tag="amdgpu-built-in"),
    guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """Somebody looked for amdgpu among the loaded modules and shows that it is not there. A guest of Windows never has it."""
    return nvidia is None and built is None and guest is None


@rule("amdgpu-not-loaded", "likely")
def older_driver_has_the_card(
    card: PciDevice = one(vendor_id=_AMD, driver="radeon"),
    symptom: Symptom = seen(tag="driver-amd-no-device"),
    other: PciDevice | None = one(vendor_id=_AMD, driver="amdgpu"),
) -> Verdict:
    """radeon only draws; what computes needs amdgpu to drive the card."""
    return other is None and {"address": card.address, "said": symptom.id}


@rule("amdgpu-not-loaded", "likely")
def modprobe_finds_none(symptom: Symptom = seen("modprobe-module-not-found")) -> Verdict:
    """The module does not exist for this kernel."""
    return bool(symptom.get("module") == "amdgpu")


@rule("rocminfo-builtin-module")
def module_is_part_of_the_kernel(
    _said: Symptom = seen(tag="module-builds-missed"), _module: KernelModule = one(name="amdgpu", built_in=True)
) -> Verdict:
    """An old rocminfo looks for a file that only a loadable module has."""
    return True


@rule("rocminfo-builtin-module", "likely")
def configured_as_part_of_the_kernel(
    symptom: Symptom = seen(tag="module-builds-missed"), _built: Symptom = seen(tag="amdgpu-built-in")
) -> Verdict:
    """The same of its other tools, where the kernel's configuration is told."""
    return {"said": symptom.id}


@rule("rocminfo-builtin-module", "likely")
def amdkfd_is_there_all_the_same(node: KfdNode, _said: Symptom = seen("rock-module-not-loaded")) -> Verdict:
    """amdkfd lists a GPU, so the module cannot be missing."""
    return node.knows("node") and not inside(node)


@rule("rocminfo-builtin-module", "likely")
def its_node_is_there_all_the_same(
    symptom: Symptom = seen("rock-module-not-loaded"),
    _node: DeviceNode = one(path="/dev/kfd"),
    platform: Platform | None = None,
) -> Verdict:
    """/dev/kfd exists, so the module cannot be missing."""
    return not inside(symptom) and not (platform and platform.get("wsl"))


@rule("rocminfo-builtin-module", "likely")
def torch_computes_all_the_same(
    symptom: Symptom = seen("rock-module-not-loaded"), torch: Torch = one(available=True), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """torch for ROCm finds its device in the same place."""
    return bool(torch.get("hip")) and not (platform and platform.get("wsl")) and {"said": symptom.id}


@rule("rocminfo-builtin-module", "likely")
def kernel_added_the_card(
    _said: Symptom = seen("rock-module-not-loaded"), _added: Symptom = seen("kfd-added-device")
) -> Verdict:
    """The kernel's log says that amdkfd took the card."""
    return True


@rule("dkms-stale-tree", "likely")
def registered_without_sources(
    stale: DkmsTree = one(registered=True, module=("amdgpu", "nvidia")), trees: Every[DkmsTree] = every(DkmsTree)
) -> Verdict:
    """Other versions of the module have their sources, this one has none."""
    others = [tree for tree in trees if tree.get("module") == stale.module and tree.get("version") != stale.version]
    return (
        not stale.get("source")
        and any(tree.get("source") for tree in others)
        and {"module": stale.module, "version": stale.version}
    )


# -- what amdkfd refuses
@rule("kfd-gpu-not-supported")
def amdkfd_refuses_the_chip(
    symptom: Symptom = seen("kfd-chip-not-supported", "kfd-asic-not-supported", "kfd-device-unknown"), other: Gpu | None = one(vendor="nvidia"), served: Symptom | None = seen("kfd-added-device"),
    node: KfdNode | None = None,
) -> Verdict:  # fmt: skip
    """Beside another card that computes, one that only draws may well be refused. A kernel may know a chip too little, or no longer."""
    alone = other is None and served is None and node is None
    return alone and {"chip": symptom.get("chip") or symptom.get("device")}


@rule("kfd-gpu-not-supported", "likely")
def chip_that_amdkfd_never_had(
    chip: Symptom = seen("kfd-never-had-the-chip"), symptom: Symptom = seen("rock-module-not-loaded", tag="driver-amd-no-device"), served: Symptom | None = seen("kfd-added-device"), node: KfdNode | None = None,
) -> Verdict:  # fmt: skip
    """The first of that architecture, and the smallest of the next, are on none of its lists."""
    return served is None and node is None and {"chip": chip.get("chip"), "said": symptom.id}


@rule("amdgpu-not-loaded", "likely")
def module_is_not_live(
    symptom: Symptom = seen("rock-module-not-live"),
    card: Gpu | None = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:
    """rocminfo says itself that there may be no such card: beside another maker's there is none."""
    return (card is not None or other is None) and symptom.values()


# -- the path to the card
@rule("pcie-atomics-missing")
def kfd_leaves_a_device_out(
    symptom: Symptom = seen("kfd-atomics-rejected"), inner: Gpu | None = one(vendor="amd", integrated=True), served: Symptom | None = seen("kfd-added-device"),
) -> Verdict:  # fmt: skip
    """amdkfd skips it; a processor's own graphics are skipped on many a desktop, beside a card that is served."""
    spared = served is not None and inner is not None and inner.get("pci_id") == symptom.get("device")
    return not spared and symptom.values()


@rule("pcie-atomics-missing", "likely")
def driver_finds_no_atomics(
    symptom: Symptom = seen("amdgpu-atomics-unsupported"),
    other: Gpu | None = one(vendor="nvidia"),
    integrated: Gpu | None = one(vendor="amd", integrated=True),
    served: Symptom | None = seen("kfd-added-device"), computed: Symptom | None = seen("tensor-on-its-device"),
) -> Verdict:  # fmt: skip
    """amdgpu says so of a card; an integrated GPU has no slot. A card that is served and computes does without."""
    own = integrated is not None and integrated.get("pci_address") == symptom.get("address", "")
    return other is None and not own and not (served and computed)


@rule("pcie-atomics-missing", "likely")
def card_may_not_send_them(
    card: PciDevice = one(vendor_id=_AMD, atomics=False, driver="amdgpu"), gpu: Gpu = one(vendor="amd")
) -> Verdict:
    """amdgpu asks for atomics at every start: where they stay off, a bridge above does not route them."""
    return gpu.pci_address == card.address and not gpu.integrated


@rule("pcie-atomics-missing", "likely")
def excerpt_shows_them_off(
    _off: Symptom = seen("lspci-atomics-off"),
    _offered: Symptom = seen("lspci-atomics-offered"),
    device: PciDevice | None = None,
) -> Verdict:
    """A few lines of lspci without their head: a device that offers what AMD's cards offer, and may not send it."""
    return device is None


@rule("pcie-atomics-missing", "possible")
def excerpt_shows_a_bridge_without_them(
    _off: Symptom = seen("lspci-atomics-not-routed"), routed: Symptom | None = seen("lspci-atomics-routed"), _named: Symptom = seen("amd-radeon-named", "amd-rx-named"),
) -> Verdict:  # fmt: skip
    """A few lines of lspci that show bridges which do not route them, and none that does."""
    return routed is None


# -- the way to the nodes
@rule("render-group-missing", "likely")
def works_for_root_alone(
    symptom: Symptom = seen(tag="driver-amd-no-device"), root: Symptom = seen("works-as-root", "works-with-sudo"), world: World | None = None, platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """What fails for a person and not for root fails for want of a right."""
    ours = not inside(symptom) and not (world and world.get("container"))
    return ours and not (platform and platform.get("wsl")) and {"said": symptom.id, "works": root.id}


@rule("render-group-missing", "likely")
def node_for_root_alone(
    node: DeviceNode = one(path="/dev/kfd", group="root"), account: Account | None = None
) -> Verdict:
    """Nobody but root may open it, whoever it is that asks."""
    return account is None and not inside(node) and node.mode[7:9] == "--" and {"group": "render"}


@rule("container-render-group-mismatch")
def group_that_no_namespace_knows(
    error: Symptom = seen("kfd-group-not-held", group=("nogroup", "nobody", "nfsnobody")),
) -> Verdict:
    """rocminfo names the node's group as it sees it: so are those called that a user namespace has not been given."""
    return {"group": error.get("group")}


# -- firmware
@rule("amd-firmware-regression")
def firmware_known_bad(
    _hang: Symptom = seen(tag="amdgpu-scheduler-silent"),
    statement: Symptom = seen("amd-firmware-version"),
    gpu: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """The scheduler of the card hangs, and its firmware is on the list."""
    component, version = statement.get("component", ""), statement.get("version", "")
    return firmware_fault(component, version, isa=gpu.get("isa") if gpu else None) and {
        "firmware": component + " " + version
    }


@rule("amd-firmware-regression", "likely")
def package_known_bad(
    _hang: Symptom = seen(tag="amdgpu-scheduler-silent"),
    package: SystemPackage = one(state="installed"),
    gpu: Gpu | None = one(vendor="amd"),
) -> Verdict:
    """The scheduler of the card hangs, and the package of firmware is on the list."""
    firmware = "firmware" in package.name
    return (
        firmware
        and firmware_fault(package=package.version, isa=gpu.get("isa") if gpu else None)
        and {"firmware": package.version}
    )


@rule("amd-firmware-regression", "likely")
def bad_firmware_is_loaded(
    statement: Symptom = seen("amd-firmware-version"),
    gpu: Gpu = one(vendor="amd"),
    hang: Symptom | None = seen(tag="amdgpu-scheduler-silent"),
) -> Verdict:
    """The firmware of this chip is on the list; nobody has shown a hang yet."""
    bad = firmware_fault(statement.get("component", ""), statement.get("version", ""), isa=gpu.isa)
    return (
        hang is None
        and bad
        and {"firmware": statement.get("component", "") + " " + statement.get("version", ""), "severity": "warning"}
    )


@rule("amd-firmware-regression", "possible")
def scheduler_hangs(_hang: Symptom = seen(tag="amdgpu-scheduler-silent")) -> Verdict:
    """The scheduler of the card does not answer: often its firmware, not always."""
    return True
