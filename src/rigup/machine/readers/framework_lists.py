"""How frameworks other than torch list cards and drivers: numba's `detect`, BOINC's start, MATLAB's gpuDevice, GROMACS, CUDA.jl, nccl-tests, and what Python's os.environ answers."""

import re

from rigup.knowledge.chips import isa_of_capability
from rigup.machine.kinds import Driver, Gpu, Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft, address, known_value, vendor_of
from rigup.machine.texts import Text

_MASKS = r"(?P<name>(?:CUDA|HIP|ROCR|NVIDIA)_VISIBLE_DEVICES|CUDA_DEVICE_ORDER|LD_LIBRARY_PATH)"
_ASKED = (
    r"os\.(?:environ\[['\"]"
    + _MASKS
    + r"['\"]\]|(?:environ\.get|getenv)\(['\"](?P<name2>\w{4,40})['\"]\))\)?[ \t]*(?:#[ \t]*|\n(?:Out ?\[\d{1,4}\]: ?)?)(?:['\"](?P<value>[^'\"\n]{0,400})['\"]|(?P<bare>-?\d{1,2}(?:,\d{1,2}){0,15}|None)?)[ \t]*$"
)
_NUMBA = r"^[> \t]{0,12}id (?P<index>\d{1,2}) {1,12}b?['\"](?P<name>[^'\"\n]{3,80})['\"] {1,80}\[(?:NOT )?SUPPORTED"
_BOINC = r"NVIDIA GPU (?P<index>\d{1,2})[^:\n]{0,30}: (?P<name>[^\n(]{3,60}?) \(driver version (?P<driver>\d{3}\.\d{2,3}(?:\.\d{1,3})?)[^\n)]{0,60}compute capability (?P<capability>\d{1,2}\.\d)"
_MATLAB = r"^[ \t]{1,40}Name: ['\"](?P<name>[^'\"\n]{3,80})['\"][ \t]*\n[ \t]{1,40}Index: \d{1,2}[ \t]*\n[ \t]{1,40}ComputeCapability: ['\"](?P<capability>\d{1,2}\.\d)['\"]"
_GROMACS = r"#(?P<index>\d{1,2}): (?:N/A|NVIDIA) (?P<name>[^\n,]{3,60}), compute cap\.: (?P<capability>\d{1,2}\.\d), "
_JULIA = r"^[^\w\n]{0,8}NVIDIA driver (?P<version>\d{3}\.\d{1,3}(?:\.\d{1,3})?)(?:,|[ \t]*$)"
_THEANO = r"Mapped name \S{1,20} to device cuda\d{0,2}: (?P<name>[^\n(]{3,60}?)(?: \((?P<pci>[0-9a-fA-F:.]{7,16})\))?[ \t]*$"
_THEANO_OLD = r"Using gpu device (?P<index>\d{1,2}): (?P<name>[^\n(]{3,60}?) \("

_NCCL = r"^(?:[^\n]{0,60} )?(?P<host>[\w.-]{1,60}):\d{1,9}:\d{1,9} \[\d{1,2}\] NCCL INFO [^\n]{0,40}comm 0x[0-9a-f]{1,16} rank \d{1,5} nranks \d{1,5} cudaDev \d{1,2} (?:nvmlDev (?P<number>\d{1,2}) )?busId (?P<bus>[0-9a-f]{4,9})\b[^\n]{0,80}Init COMPLETE"
_LIGHTNING = (
    r"^(?:\[?rank ?\d{1,4}\]?:? ?)?LOCAL_RANK: (?P<rank>\d{1,3}) - CUDA_VISIBLE_DEVICES: \[(?P<cards>\d{1,2}(?:, ?\d{1,2}){0,15})\][ \t]*$"
)
_LIGHTNINGS_CARD = r"using a CUDA device \('(?P<name>[^'\n]{3,80})'\)"
_NCCL_TESTS = r"^# {1,4}Rank {1,4}\d{1,5} [^\n]{0,60}? on {1,20}[\w.-]{1,80} device {1,4}(?P<index>\d{1,2}) \[[0-9a-fx:.]{4,14}\] (?P<name>[^\n]{3,60}?)[ \t]*$"


@reads(adds=(Variable,), marks=("os.environ", "os.getenv"), process="program", rank=0)
def answers_of_the_environment(text: Text) -> Statements:
    """`>>> os.environ['CUDA_VISIBLE_DEVICES']` and the next line, which Python printed."""
    for hit in text.each(_ASKED):
        name = hit["name"] or hit["name2"]
        if re.fullmatch(_MASKS, name) and (hit["bare"] or hit.match["value"] is not None):
            yield hit.states(Variable, name=name, value=None if hit["bare"] == "None" else hit["bare"] or hit["value"])


@reads(adds=(Gpu,), marks=("SUPPORTED]", "compute cap.: ", "Mapped name ", "Using gpu device ", "  Rank "), rank=0)
def cards_of_a_framework(text: Text) -> Statements:
    """Each card with the number that CUDA gives it, as far as it is printed."""
    for form in (_NUMBA, _GROMACS, _THEANO, _THEANO_OLD, _NCCL_TESTS):
        for hit in text.each(form):
            groups = hit.found()
            draft = Draft(text, Gpu, hit.start)
            draft.add("vendor", vendor_of(groups.get("name", "")) or "nvidia")  # rccl-tests prints the same of cards of AMD
            draft.add("name", known_value(str(groups["name"]).removeprefix("NVIDIA NVIDIA")))
            draft.add("runtime_index", int(groups["index"]) if groups.get("index") else None)
            draft.add("isa", isa_of_capability(str(groups.get("capability") or "")))
            draft.add("pci_address", address(str(groups.get("pci") or "")))
            yield from draft.facts("vendor", "runtime_index", "pci_address")


@reads(adds=(Gpu,), marks=(" nGpus ",), rank=0)
def cards_that_nccl_tests_left_out(text: Text) -> Statements:
    """`# nThread 1 nGpus 8`: each process has so many, also where who pastes the list shortens it."""
    listed, count = list(text.each(_NCCL_TESTS)), text.first(r"^# nThread 1 nGpus (?P<count>\d{1,2}) ")
    if listed and count and len({hit["name"] for hit in listed}) == 1:
        for index in sorted(set(range(int(count["count"]))) - {int(hit["index"]) for hit in listed}):
            name = str(known_value(listed[0]["name"].removeprefix("NVIDIA NVIDIA")))
            yield listed[0].states(Gpu, vendor=vendor_of(name) or "nvidia", name=name, runtime_index=index)


@reads(adds=(Gpu,), marks=("cudaDev ", "LOCAL_RANK: "), rank=0)
def cards_of_ranks(text: Text) -> Statements:
    """NCCL's `cudaDev 1 nvmlDev 1 busId 65000 … Init COMPLETE` of the ranks on one machine; those that Lightning's processes see, of which it names the first."""
    ranks, rocm = list(text.each(_NCCL)), text.first(r"(?i)\bRCCL version|\+hip\d|\brocm\b")
    if len({hit["host"] for hit in ranks}) == 1:
        for hit in ranks:
            bus = hit["bus"].rjust(9, "0")  # domain, bus, device and function, without the signs between
            where = f"{bus[:-5].rjust(4, '0')}:{bus[-5:-3]}:{bus[-3:-1]}.{bus[-1]}"
            number = {"nvml_index": int(hit["number"])} if hit["number"] and not rocm else {}
            yield hit.states(Gpu, vendor="amd" if rocm else "nvidia", pci_address=address(where), **number)
    lists = list(text.each(_LIGHTNING))
    named = text.first(_LIGHTNINGS_CARD)
    maker = vendor_of(named["name"]) if named else None
    if named and maker and len({hit["cards"] for hit in lists}) == 1:
        for index in range(max(int(hit["rank"]) for hit in lists) + 1):
            yield named.states(Gpu, vendor=maker, name=named["name"], runtime_index=index)


@reads(adds=(Gpu, Driver), marks=("compute capability", "ComputeCapability: "), rank=0)
def card_with_its_capability(text: Text) -> Statements:
    """BOINC's `(driver version 470.63, CUDA version 11.4, compute capability 8.6, …)`, and MATLAB's gpuDevice."""
    for hit in text.each(_BOINC):
        isa = isa_of_capability(hit["capability"])
        yield hit.states(Gpu, vendor="nvidia", name=hit["name"], runtime_index=int(hit["index"]), isa=isa)
        yield hit.states(Driver, vendor="nvidia", version=hit["driver"])
    for hit in text.each(_MATLAB):
        yield hit.states(Gpu, vendor="nvidia", name=hit["name"], isa=isa_of_capability(hit["capability"]))


@reads(adds=(Driver,), marks=("NVIDIA driver ",), rank=0)
def driver_of_julia(text: Text) -> Statements:
    """CUDA.versioninfo()'s `NVIDIA driver 450.142.0, originally for CUDA 11.0`."""
    if hit := text.first(_JULIA):
        yield hit.states(Driver, vendor="nvidia", version=hit["version"])
