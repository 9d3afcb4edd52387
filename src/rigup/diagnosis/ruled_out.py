"""Causes that cannot be, by what a text tells: a guess at one of them would gainsay it."""

from collections.abc import Callable

from rigup.diagnosis.findings import Finding
from rigup.diagnosis.rule import wordings
from rigup.knowledge.compile import PEOPLE
from rigup.knowledge.doctor_tables import causes, elsewhere, signatures_of
from rigup.machine.kinds import Account, DeviceNode, Gpu, Jetson, PciDevice, Platform, Symptom, Torch, Variable
from rigup.machine.store import Facts

_OF_CARDS = ("cpu-only-torch", "tensorflow-cpu-build")  # a build for processors is right where there is no card
_OF_ACCESS = ("device-node-permissions", "render-group-missing", "container-render-group-mismatch")
_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
_IN_WORDS = {"linux": wordings(tag="linux-in-words"), "windows": wordings(tag="windows-in-words"), "macos": ("mac-named", "macos-named")}
_PROCESSORS_CHIP = ("small-chip-named", "torch-names-integrated-graphics", "comfyui-names-its-chip")
_CONTAINERS = wordings(tag="container-spoken-of")
_OTHER_BACKENDS, _ROCM = wordings(tag="other-backend-used"), wordings(tag="rocm")
_DIRECTML = wordings("directml-asked-for", "directml-used", "directml-falls-back", tag="directml-used")
_DRAWS = "intel-drawing-chip-named"


def ruled_out(facts: Facts) -> frozenset[str]:
    """Causes of other systems than those that the texts are of, and those that a message or a fact in them excludes.

    Raises:
        KnowledgeError: a table is malformed.

    """
    platforms = facts.of(Platform)
    systems = {platform.system for platform in platforms if platform.knows("system")}
    return elsewhere(systems or _named_systems(facts)).union(
        _by_messages(facts),
        gainsaid(facts),
        (cause for cause in _PRINTED if is_disproved(cause, facts)),
        _OF_CARDS if _only_draws(facts) else (),
        ("cuda-device-order-differs",) if _ordered_by_bus(facts) else (),
        _OF_ACCESS if _open_to_all(facts) else (),
        _of_other_makers(facts),
        ("wrong-hsa-override",) if _numbered_alone(facts) or _is_unset(facts) else (),
        ("render-group-missing",) if _in_the_group(facts) else (),
        () if facts.heard(*_CONTAINERS) else ("container-runtime-without-jetson-support",),
        ("secure-boot-module-unsigned",) if any(platform.get("secure_boot") is False for platform in platforms) else (),
    )


def gainsaid(facts: Facts) -> frozenset[str]:
    """Causes that what tools show speaks against, whatever a person supposes or has heard: no more than certain words outrank it."""
    return frozenset(cause for cause, speaks_against in _SHOWN.items() if speaks_against(facts))


def is_disproved(cause: str, facts: Facts) -> bool:
    """Whether what programs printed of themselves speaks against it, as far as somebody may only have heard of it."""
    return cause in _PRINTED and _PRINTED[cause](facts)


def is_hearsay(finding: Finding, facts: Facts) -> bool:
    """Whether people alone tell of it, and what was printed speaks against it."""
    if not is_disproved(finding.cause, facts):
        return False
    said = {line.fact.removeprefix("symptom ") for line in finding.evidence if line.fact.startswith("symptom ")}
    return bool(said) and all(row.program in PEOPLE for row in signatures_of(said))


def is_of_another_backend(finding: Finding, facts: Facts) -> bool:
    """Whether the card alone brings up ROCm, of which nobody speaks, where another backend is used; a message of ROCm's own is more than possible."""
    if finding.row.family != "rocm" or finding.confidence != "possible" or any(torch.get("hip") for torch in facts.of(Torch)):
        return False
    return bool(facts.heard(*_OTHER_BACKENDS)) and not facts.heard(*_ROCM)


def _torch_is_for_cards(facts: Facts) -> bool:
    """Whether each torch that answered was built for cards."""
    answered = [torch for torch in facts.of(Torch) if torch.knows("version") and torch.knows("available")]
    return bool(answered) and all(torch.get("cuda") or torch.get("hip") for torch in answered)


def _lists_one_card(facts: Facts) -> bool:
    """Whether a runtime was asked for its devices, and there is a card alone without any graphics of a processor."""
    cards = [card for card in facts.of(Gpu) if card.get("vendor") in (None, "amd")]
    listed = [card for card in cards if card.get("seen_by") and card.get("runtime_index") is not None]
    alone = len(cards) == 1 and cards == listed and not cards[0].get("integrated")
    return alone and not facts.heard(*_PROCESSORS_CHIP)


def _carve_out_is_the_smaller(facts: Facts) -> bool:
    """Whether the kernel tells both pools, and what programs may map is no less than what the firmware sets aside."""
    pools = [(card.get("vram"), card.get("gtt")) for card in facts.of(Gpu) if card.get("integrated")]
    ready = [_mib(facts, "amdgpu-vram-ready"), _mib(facts, "amdgpu-gtt-ready")]
    told = [(vram, gtt) for vram, gtt in (*pools, ready) if vram and gtt]
    return bool(told) and all(gtt >= vram for vram, gtt in told)


def _mib(facts: Facts, symptom_id: str) -> int:
    sizes = [str(symptom.get("mib")) for symptom in facts.heard(symptom_id)]
    return int(sizes[-1]) if sizes and sizes[-1].isdigit() else 0


def _directml_computes(facts: Facts) -> bool:
    """Whether torch-directml is at work, which goes with torch's build for processors, and no card of NVIDIA's is there that would take another."""
    return bool(facts.heard(*_DIRECTML)) and not any(card.get("vendor") == "nvidia" for card in facts.of(Gpu))


_SHOWN: dict[str, Callable[[Facts], bool]] = {
    "cpu-only-torch": _directml_computes,
    "igpu-visible-beside-dgpu": _lists_one_card,
    "apu-vram-carveout-vs-gtt": _carve_out_is_the_smaller,
}


_PRINTED: dict[str, Callable[[Facts], bool]] = {"cpu-only-torch": _torch_is_for_cards}


def _named_systems(facts: Facts) -> set[str]:
    """The system that words and folders tell of, where they tell of one alone."""
    systems = {system for system, ids in _IN_WORDS.items() if facts.heard(*ids)}
    return systems if len(systems) == 1 else set()


def _of_other_makers(facts: Facts) -> set[str]:
    """Causes that stop another maker's cards than those which were seen; a Jetson's beside a card of its own."""
    seen = {str(card.get("vendor")) for card in facts.of(Gpu) if card.get("vendor")}
    others = {row.id for row in causes().values() if row.makers and seen and not seen.intersection(row.makers)}
    on_cards = any(card.get("integrated") is False for card in facts.of(Gpu)) and not facts.of(Jetson)
    return others | ({"jetson-generic-wheel", "container-runtime-without-jetson-support"} if on_cards else set())


def _by_messages(facts: Facts) -> set[str]:
    symptom_ids = {symptom.id for symptom in facts.of(Symptom)}
    return {row.rules_out for row in signatures_of(symptom_ids) if row.rules_out}


def _only_draws(facts: Facts) -> bool:
    """Whether the bus or Windows' adapters were listed, and there is the processor's own drawing chip alone."""
    cards = facts.of(Gpu)
    listed = bool(facts.of(PciDevice)) or any(card.knows("adapter") for card in cards)
    return listed and {card.get("vendor") for card in cards} == {"intel"} and bool(facts.heard(_DRAWS))


def _ordered_by_bus(facts: Facts) -> bool:
    """Whether CUDA is set to count cards as nvidia-smi does, or there is one alone to count."""
    orders = (variable for variable in facts.of(Variable) if variable.get("name") == "CUDA_DEVICE_ORDER")
    listed = {card.get("nvml_index") for card in facts.of(Gpu)} - {None}
    return listed == {0} or any(variable.get("value") == "PCI_BUS_ID" for variable in orders)


def _numbered_alone(facts: Facts) -> bool:
    """Whether overrides are set, each for one node of several: such a one renames no other card."""
    names = [str(fact.name) for fact in facts.of(Variable) if str(fact.get("name", "")).startswith(_OVERRIDE)]
    return bool(names) and _OVERRIDE not in names


def _is_unset(facts: Facts) -> bool:
    """Whether somebody looked for the override, and nowhere is one."""
    values = [fact.get("value") for fact in facts.of(Variable) if str(fact.get("name", "")).startswith(_OVERRIDE)]
    return bool(values) and not any(values)


def _in_the_group(facts: Facts) -> bool:
    """Whether the groups of every account that is shown hold that of the cards."""
    groups = [account.get("groups") for account in facts.of(Account) if account.get("groups")]
    return bool(groups) and all("render" in held for held in groups if held)


def _open_to_all(facts: Facts) -> bool:
    """Whether the modes of nodes are shown, and everybody may write to each."""
    modes = [str(node.mode) for node in facts.of(DeviceNode) if node.get("mode")]
    return bool(modes) and all(mode[8:9] == "w" for mode in modes)
