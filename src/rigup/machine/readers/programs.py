"""What people's own programs set and ask: masks, devices by index, the device that they want."""

import re
from collections.abc import Iterator

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import CardCount, Gpu, Launch, Mask, PciDevice
from rigup.machine.reader import Statements, derives, reads
from rigup.machine.readers.values import vendor_of
from rigup.machine.store import Facts
from rigup.machine.texts import Text

_SET = (
    r"os\.environ\[[ \t]*['\"](?P<name>(?:CUDA|HIP|ROCR)_VISIBLE_DEVICES)['\"][ \t]*\][ \t]*=[ \t]*(?:str\([ \t]*)?['\"]?(?P<value>[\w,-]{0,200})",
    r"os\.(?:environ\.(?:setdefault|update)|putenv)\([ \t]*\{?[ \t]*['\"](?P<name>(?:CUDA|HIP|ROCR)_VISIBLE_DEVICES)['\"][ \t]*[,:][ \t]*['\"]?(?P<value>[\w,-]{0,200})",
)
# What starts CUDA in a process: from then on the variable is not read again.
_TOUCHES = lazy_regex(
    r"torch\.cuda\.(?:is_available|device_count|current_device|init|get_device_\w{3,20}|set_device|mem_get_info|synchronize|empty_cache|\w{4,9}Tensor)\(|"
    r"torch\._C\._cuda_\w{3,40}\(|tf\.test\.(?:is_gpu_available|gpu_device_name)\(|tf\.(?:compat\.v1\.)?Session\(|device_lib\.list_local_devices\(|"
    r"import pycuda\.autoinit|"
    r"\.(?:cuda\(|to\(['\"]cuda)|device=['\"]cuda|tf\.config\.(?:experimental\.)?list_(?:physical|logical)_devices\(|jax\.(?:local_)?devices\(|"
    r"cupy\.cuda\.runtime\.getDeviceCount\("
)
_IMPORTS_TORCH = lazy_regex(r"^[ \t>.]{0,8}(?:import|from) torch\b", re.MULTILINE)


@reads(adds=(Mask,), marks=("VISIBLE_DEVICES",))
def masks_in_programs(text: Text) -> Statements:
    """`os.environ["CUDA_VISIBLE_DEVICES"] = "1"`, and what had touched CUDA in that program before it."""
    for form in _SET:
        for hit in text.near(form, text.spots("VISIBLE_DEVICES")):
            before = _same_program(text.body[max(hit.start - 4000, 0) : hit.start])
            touched, imported = _TOUCHES.search(before), _IMPORTS_TORCH.search(before)
            before_mask = {"after": touched[0].strip(".")} if touched else {}
            if imported:
                before_mask["imported"] = "torch"
            yield hit.states(Mask, variable=hit["name"], value=hit["value"], **before_mask)


def _same_program(before: str) -> str:
    """A fresh interpreter, a definition that only runs later, or what follows a traceback begins anew; comments do nothing."""
    starts = [
        match.start()
        for match in re.finditer(
            r"^(?:Python \d\.\d|.{0,80}[$#] python|`{0,3}(?:def |class |if __name__)|[\w.]{0,60}(?:Error|Exception):)", before, re.MULTILINE
        )
    ]
    return re.sub(r"#[^\n]*", "", before[starts[-1] if starts else 0 :])


@reads(adds=(Gpu,), marks=("get_device_name(", "cuda:", "CUDA:", "evice "), rank=0)
def devices_by_index(text: Text) -> Statements:
    """`torch.cuda.get_device_name(1)` and its answer, `cuda:1 NVIDIA …`: how CUDA numbers the cards."""
    forms = (
        r"get_device_name\([ \t]*(?P<index>\d{1,2})[ \t]*\)[^\n#'\"]{0,20}(?:[ \t]*(?:#|=>|->)[ \t]*(?:(?:[Pp]rints?|[Oo]utputs?|[Rr]eturns?|[Gg]ives|[Ss]hows|[Ss]ays|[Aa]nswers|is)\b ?:? ?)?|[ \t]*\n(?:[ \t]*\n)?[ \t]*(?:Out ?\[\d{1,4}\]: ?)?)['\"]?(?P<name>[A-Z][^'\"\n]{3,70}?)['\"]?[ \t]*$",
        r"^[ \t>*-]{0,6}[Dd]evice (?P<index>\d{1,2})[ \t]?:[ \t]{1,4}(?P<name>(?:NVIDIA|GeForce|Tesla|Quadro|TITAN)[^'\"\n),|]{3,70}?)(?:[ \t]{2,}[^\n]{0,80})?$",
        r"^[ \t>*-]{0,6}(?:\[[Rr]ank ?\d{1,4}\]:? )?(?:cuda|CUDA):(?P<index>\d{1,2})[ \t]{0,4}(?:[:=|-]{0,2}|->|=>|→)[ \t]{1,4}['\"(]?(?P<name>(?:NVIDIA|GeForce|Tesla|Quadro|TITAN|AMD)[^'\"\n),|]{3,70}?)['\")]?[ \t]*(?:[,|][^\n]{0,80})?[ \t]*$",
    )
    for form in forms:
        for hit in text.each(form):
            if maker := vendor_of(hit["name"]):
                yield hit.states(Gpu, vendor=maker, name=hit["name"].strip(), runtime_index=int(hit["index"]))


@reads(adds=(Launch,), marks=("Accelerator", "device", "accelerator"))
def mps_wanted(text: Text) -> Statements:
    """`torch.device("mps")`, `device="mps"`, `--device mps`: the program wants Apple's GPU."""
    form = r"(?:torch\.device\([ \t]*['\"]mps['\"]|\bdevice[ \t]*=[ \t]*['\"]mps['\"]|--(?:device|accelerator)[ =]mps\b|accelerator[ \t]*=[ \t]*['\"]mps['\"]|\.to\(['\"]mps['\"])"
    if hit := text.first(form):
        yield hit.states(Launch, accelerator="mps")


_BY_TOOLS = ("nvml_index", "uuid", "seen_by")


@derives(CardCount, Gpu)
def cards_of_a_maker(gpu: Gpu, facts: Facts) -> Iterator[CardCount]:
    """How many cards of a card's maker there are; statements about some card that nobody could tell apart do not count."""
    maker = gpu.get("vendor")
    alike = (card for card in facts.of(Gpu) if card.get("vendor") == maker and card.place == gpu.place)
    if next(alike, gpu) is not gpu:
        return  # the first of a place counts for all, or many cards would count each other
    mine = [card for card in facts.of(Gpu) if card.get("vendor") == maker and card.place.meet(gpu.place) is not None]
    keyed_cards = [card for card in mine if card.keyed()]
    if not keyed_cards:
        return  # named in a sentence: there may be more of them
    bus = {card.address for card in facts.of(PciDevice)}
    if all(_only_in_a_programs_list(card, bus) for card in keyed_cards):
        return  # what a mask hides from the program is not in it
    numbers = {card.nvml_index for card in keyed_cards if card.knows("nvml_index")}
    if len(numbers) == len(keyed_cards) and numbers != set(range(len(keyed_cards))):
        return  # `nvidia-smi -i 2`, or a row picked out: those of lower numbers are there too
    reading = gpu.fields.get("pci_address") or gpu.fields.get("name") or gpu.fields.get("vendor")
    if not maker or reading is None:
        return
    uuids = [card.uuid for card in keyed_cards if card.knows("uuid")]
    values = {
        "vendor": maker,
        "count": len(keyed_cards),
        "uuids": uuids,
        "usable": sum(card.knows("seen_by") for card in keyed_cards),
        "mig": any(card.get("mig") or card.get("partitions") for card in keyed_cards),
    }
    yield CardCount(gpu.place, {name: reading._replace(value=value) for name, value in values.items()})


def _only_in_a_programs_list(card: Gpu, bus: set[str]) -> bool:
    """Programs tell addresses too; one that a list of the bus has as well was seen from outside."""
    listed = any(card.knows(name) for name in _BY_TOOLS) or (card.knows("pci_address") and card.pci_address in bus)
    return bool(card.knows("runtime_index")) and not listed
