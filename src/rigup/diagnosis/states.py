"""Each device's honest state: verified, expected to work, on trial, will not work; why, and what next."""

from typing import Any, NamedTuple

from rigup.diagnosis.at_work import is_at_work
from rigup.diagnosis.cards_at_work import cards_at_work, cards_reached
from rigup.diagnosis.causes.rocm_overrides import harms
from rigup.diagnosis.findings import Finding, is_guess
from rigup.diagnosis.foreign_builds import is_of_unknown_hands
from rigup.diagnosis.rule import wordings
from rigup.diagnosis.verifications import failed_on, proof_text, proven_on
from rigup.knowledge.amd_ways import torch_of_amd
from rigup.knowledge.chips import runs_on
from rigup.knowledge.gpus import architecture_of, gpus_beginning
from rigup.knowledge.intel import validated
from rigup.knowledge.torch_builds import index_url, newest_build
from rigup.knowledge.torch_changes import ever_built
from rigup.language import _
from rigup.machine.kinds import Driver, Gpu, Platform, Symptom, Torch, Variable
from rigup.machine.store import Facts

OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
_WITHOUT_CODE = wordings("no-kernel-image", tag="no-code-for-amd-chip")
Device = dict[str, Any]
_EVERYDAY = "everyday"  # the family of causes that lie in what a program asks
_OF_ONE_CARD = ("hardware", "running")  # families of causes that one card has and its like beside it has not
_OF_ITS_SLOT = ("firmware", "bus")  # layers of the same
_RUNTIMES = {"nvidia": "cuda", "amd": "hip"}
_MODULES = {"nvidia": "nvidia", "nouveau": "nvidia", "amdgpu": "amd"}
_OF_ONE_PROGRAM = ("library", "framework", "program")  # layers of what may fail while the card computes for others
TORCH_DEVICES = {"nvidia": "cuda", "amd": "cuda", "apple": "mps", "intel": "xpu"}  # torch's own names of devices


class State(NamedTuple):
    """What may be expected of a device; `following` is the next action, `use` what was seen of it."""

    state: str
    because: str
    following: str
    use: str = ""


def device_states(devices: list[Device], findings: list[Finding], titles: list[str], facts: Facts) -> None:
    """Add `state`, `because` and `next` to each device of the inventory, and `use` where it is known. `titles` are those of the findings."""
    seen = _seen(devices, facts) if facts.pasted else {}
    for device in devices:
        like = [device, *(other for other in devices if other is not device and _is_like(device, other))]
        works = seen.get(id(device))
        computes = bool(works and works.use)
        state = _fault(like, findings, titles, facts, computes) or _failure_state(device, facts) or _proof_state(device, facts)
        expected = _by_sight(works, (_by_override(device, facts) if computes else None) or _by_build(device, facts))
        state = state or _doubt(like, findings, titles) or _held_back(like, findings, titles, expected)
        device.update(state=state.state, because=state.because, next=state.following, **({"use": state.use} if state.use else {}))


def _seen(devices: list[Device], facts: Facts) -> dict[int, State]:
    """What the text shows of cards at work, or reached."""
    listed = State("expected", _("its driver lists it"), "")
    reached = State("expected", _("what was given shows that a program reaches it"), "")
    computes = State("expected", _("what was given shows a program computing on it"), "", "computes")
    states = {id(device): listed for device in devices if device.get("uuid") and not device.get("integrated")}
    states |= {id(device): reached for device in cards_reached(devices, facts)}
    return states | {id(device): computes for device in cards_at_work(devices, facts)}


def _by_sight(seen: State | None, expected: State) -> State:
    """What computes is known to work; what is merely reached says more than that nothing speaks against it."""
    return seen if seen and (seen.use or expected.use or expected.because == _no_objection_shown()) else expected


def _is_like(device: Device, other: Device) -> bool:
    """Whether both are of one model, which the same drivers and builds serve or refuse."""
    alike = all(device.get(key) == other.get(key) for key in ("vendor", "isa", "name"))
    return alike and bool(device.get("isa") or device.get("name"))


def _fault(like: list[Device], findings: list[Finding], titles: list[str], facts: Facts, computes: bool) -> State | None:
    """A grounded error about this device, or about the whole machine; what one program lacks stops no card that computes for another."""
    vendor = like[0].get("vendor", "")
    works = computes or any(torch.get("available") and made_for(torch, vendor, facts) for torch in facts.of(Torch))
    for finding, title in zip(findings, titles, strict=True):
        if works and not finding.subject.name and finding.row.layer in _OF_ONE_PROGRAM:
            continue
        grounded = finding.severity == "error" and finding.confidence != "possible"
        if grounded and finding.row.stops and _concerns(finding, like):
            return State("no", title, _("Mend {cause} first.").format(cause=finding.cause))
    return None


def _doubt(like: list[Device], findings: list[Finding], titles: list[str]) -> State | None:
    """An error that is no more than possible, or that names a card which computes for others: then nobody can say that nothing speaks against the device."""
    for finding, title in zip(findings, titles, strict=True):
        aside = finding.row.family == _EVERYDAY and not finding.row.stops
        named = aside and str(like[0].get("name") or "\n") in title
        if finding.severity == "error" and (named or _failed_on(finding, like[0])):
            return State("on-trial", title, "")
        loud = finding.severity == "error" or (is_guess(finding) and finding.severity != "note")
        if loud and finding.confidence == "possible" and _concerns(finding, like):
            return State("on-trial", title, "")
    return None


def _failed_on(finding: Finding, device: Device) -> bool:
    """Whether the message on which a finding about a library rests tells that it was this device that failed, by its number."""
    held = list(finding.params.values()) if finding.row.layer == "library" else []
    numbers = {str(fact.get("index")) for fact in held if isinstance(fact, Symptom) and fact.get("index")}
    failed = (fact for fact in held if isinstance(fact, Gpu) and str(fact.get("runtime_index")) in numbers)
    return any(card.get("name") and card.get("name") == device.get("name") for card in failed)


def _held_back(like: list[Device], findings: list[Finding], titles: list[str], state: State) -> State:
    """The same, with what makes such a card slower, or what else is wrong: nobody can say that nothing speaks against it."""
    for finding, title in zip(findings, titles, strict=True):
        named = _concerns(finding, like) or str(like[0].get("name") or "\n") in title
        if finding.severity == "warning" and finding.row.layer in _OF_ITS_SLOT and named and state.state == "expected":
            return state._replace(because=_("less well than it could, see {cause}").format(cause=finding.cause))
    wrong = next((finding.cause for finding in findings if finding.severity != "note"), "")
    if wrong and state.because == _no_objection_shown():
        return state._replace(because=_("nothing in what was given speaks against the card itself; see {cause}").format(cause=wrong))
    return state


def _number_of_card(finding: Finding) -> str:
    """Of several like cards the one that a message names; empty where none does."""
    indices = (held.get("index") for held in finding.params.values() if isinstance(held, Symptom))
    number = next((str(index) for index in indices if index), "") if finding.row.about == "Gpu" else ""
    return number if number.isdigit() else ""


def _concerns(finding: Finding, like: list[Device]) -> bool:
    """Whether it is of the first of some cards of one model: what a driver or a build refuses of one it refuses of all."""
    if finding.row.family in _OF_ONE_CARD or finding.row.layer in _OF_ITS_SLOT:
        return _is_about(finding, like[0])
    return any(_is_about(finding, device) for device in like)


def _is_about(finding: Finding, device: Device) -> bool:
    """A card's fault is its own, and one maker's driver does not stop another maker's card.

    What a program asks of a machine that is in order is no fault of any card.
    """
    if (finding.row.family == _EVERYDAY and finding.row.layer not in _OF_ITS_SLOT) or (finding.row.discrete and device.get("integrated")):
        return False
    if finding.subject.name and finding.subject.name in (device.get("pci_address"), device.get("uuid")):
        return True
    number = _number_of_card(finding)
    if number and device.get("index") is not None:
        return str(device["index"]) == number
    if finding.subject.kind == "Gpu" and finding.subject.name:
        return finding.subject.name in {str(device.get(key)) for key in ("pci_address", "name", "uuid", "isa", "index")}
    makers = {gpu.fields["vendor"].value for gpu in finding.params.values() if hasattr(gpu, "fields") and "vendor" in gpu.fields}
    makers |= {maker for maker in TORCH_DEVICES if finding.params.get("vendor") == maker} | set(finding.row.makers)
    makers |= {maker for module, maker in _MODULES.items() if str(finding.params.get("module") or "").startswith(module)}
    return not makers or device.get("vendor") in makers


def _failure_state(device: Device, facts: Facts) -> State | None:
    """A failure on record whose facts still stand, until a later verification passes."""
    proof = failed_on(device, facts)
    if proof is None:
        return None
    command = "rigup verify " + str(proof.get("prefix") or proof.get("env", ""))
    return State("no", proof_text(proof), _("When it was mended: {command}").format(command=command))


def _proof_state(device: Device, facts: Facts) -> State | None:
    """A proof on record whose facts still hold."""
    proof = proven_on(device, facts)
    if proof is None:
        return None
    sentence = _("{framework} {build} was proven on it on {date} (`rigup verify {environment}`)")
    named = {"framework": proof.framework, "build": proof.build, "date": proof.recorded_at[:10]}
    return State("verified", sentence.format(**named, environment=proof.get("prefix") or proof.env), "")


def _by_override(device: Device, facts: Facts) -> State | None:
    """A card that is seen to compute while it is told to be another chip."""
    if device.get("vendor") != "amd" or not _is_overridden(device, facts):
        return None
    return State("expected", _("it is seen to compute under the override, which is to be kept"), "")


def _by_build(device: Device, facts: Facts) -> State:
    """As the torch builds that are here let it expect."""
    vendor, isa = device.get("vendor", ""), device.get("isa")
    builds = [torch for torch in facts.of(Torch) if made_for(torch, vendor, facts)]
    coded = [torch for torch in builds if torch.get("code") and not is_of_unknown_hands(torch, isa or "")]
    fitting = [torch for torch in coded if isa and runs_on(isa, torch.code)]
    if doubt := _doubt_of_builds(device, builds, facts):
        unused = vendor == "intel" and not builds
        return State("on-trial", doubt, "" if unused else _try_it(vendor), "none" if unused else "")
    reaching = [torch for torch in builds if torch.get("available")]
    if fitting or (reaching and not _lacks_code(device, builds, facts)):
        known = fitting or any(torch.knows("version") or torch.knows("code") for torch in reaching)
        because = _("the torch that is here has code for it") if known else _("what was given shows that a program reaches it")
        return State("expected", because, _try_it(vendor))
    if builds and not coded:
        if _is_refused(device, facts):
            return State("on-trial", _("torch says that it does not support it officially"), _try_it(vendor))
        return State("expected", _("a torch for it is here"), _try_it(vendor))
    if not coded or not isa:
        return _without_torch(device, facts)
    return State("no", _("no torch that is here has code for {isa}").format(isa=isa), _install(device, facts))


def _is_unserved(device: Device, facts: Facts) -> bool:
    """Whether torch's builds for Intel's chips are made for others."""
    known = device.get("vendor") == "intel" and _system(facts) != "macos" and not _is_refused(device, facts)
    return known and validated(str(device.get("pci_id", "")).partition(":")[2], architecture_of(device)) is False


def _doubt_of_builds(device: Device, builds: list[Torch], facts: Facts) -> str:
    """Why nothing may be expected though a torch for the card is here; "" for no doubt."""
    vendor = str(device.get("vendor", ""))
    if vendor == "amd" and _is_overridden(device, facts):
        return _("an override tells the runtime that it is another chip")
    if builds and all(finds_none(torch, vendor) for torch in builds):
        return _("a torch that is built for it is here, and answers that it finds none")
    return _("it is not among the chips for which PyTorch's builds for Intel are made") if _is_unserved(device, facts) else ""


def finds_none(torch: Torch, vendor: str) -> bool:
    """Whether a torch that is built for a maker's cards answers that there is none."""
    if vendor == "intel":
        return torch.get("xpu_available") is False and "+xpu" in str(torch.get("version"))
    if vendor == "apple":
        return torch.get("mps_built") is True and torch.get("mps_available") is False
    built = torch.get({"nvidia": "cuda", "amd": "hip"}.get(vendor, ""))
    return bool(built) and torch.get("available") is False


def _lacks_code(device: Device, builds: list[Torch], facts: Facts) -> bool:
    """Whether all builds told themselves for which chips they have code, and a program found none for this one."""
    told = all(torch.get("code") and torch.fields["code"].rank >= 0 for torch in builds)
    return bool(device.get("isa")) and told and bool(facts.heard(*_WITHOUT_CODE))


def _is_refused(device: Device, facts: Facts) -> bool:
    """Whether torch warns of that device by its name."""
    lines = (symptom.fields["id"].where.text for symptom in facts.heard("xpu-names-the-processors-graphics"))
    return bool(device.get("name")) and any(str(device["name"]) in line for line in lines)


def _without_torch(device: Device, facts: Facts) -> State:
    """No torch is here, or none that is for this maker's cards."""
    vendor, isa = device.get("vendor", ""), device.get("isa")
    if any(torch.knows("version") and torch.get("available") is False for torch in facts.of(Torch)):
        return State("no", _("the torch that is here is not built for it"), _install(device, facts))
    if vendor in _RUNTIMES and not isa and not device.get("name"):
        if facts.pasted or is_at_work(facts):  # who pastes an output leaves out what it was not asked for
            return State("expected", _no_objection(facts), "")
        return State("on-trial", _("nothing here tells which chip it has"), "")
    if not _has_builds(device, facts):
        return State("on-trial", _("no build of torch that is offered today is known for it"), "")
    return State("expected", _no_objection(facts), _install(device, facts))


def _no_objection(facts: Facts) -> str:
    """Only where somebody looked for torch can be said that there is none: a text tells what its writer thought of."""
    if facts.pasted:
        return _no_objection_shown()
    if facts.of(Torch):
        return _("nothing speaks against it; no torch for it was seen")
    return _("nothing speaks against it; no torch was seen")


def _no_objection_shown() -> str:
    return _("nothing in what was given speaks against it")


def _has_builds(device: Device, facts: Facts) -> bool:
    """Whether the tables know a build for the chip, on this system; of Apple's chips all are served."""
    vendor, isa = device.get("vendor", ""), str(device.get("isa") or "")
    system = _system(facts)
    if vendor == "apple":
        return True
    if vendor == "intel":
        return system != "macos"
    if system == "macos":
        return False
    if not isa:  # a narrow table cuts names: then all count that begin so
        chips = {gpu.isa for gpu in gpus_beginning(str(device.get("name", "")))}
        return bool(chips) and all(chip and ever_built(chip, "linux") for chip in chips)
    return ever_built(isa, system) or ever_built(isa, "linux") or torch_of_amd(isa, system) is not None


def _system(facts: Facts) -> str:
    return next((str(fact.get("system")) for fact in facts.of(Platform) if fact.get("system") and not fact.get("wsl")), "linux")


def made_for(torch: Torch, vendor: str, facts: Facts) -> bool:
    """Whether a build has a backend for this maker's cards, as far as its version and fields tell."""
    if vendor in _RUNTIMES:
        untold = not any(torch.knows(runtime) for runtime in _RUNTIMES.values())
        return bool(torch.get(_RUNTIMES[vendor])) or (untold and torch.get("available") is True)
    if vendor == "intel":
        return "+xpu" in str(torch.get("version", ""))
    elsewhere = any(platform.get("system") not in (None, "macos") for platform in facts.of(Platform))
    told = torch.knows("version") or torch.get("mps_available") is True
    return vendor == "apple" and not elsewhere and told and torch.get("mps_built") is not False  # every build for macOS has MPS


def _try_it(vendor: str) -> str:
    """A computation that a person can try; being available proves nothing."""
    code = "import torch; print(torch.ones(3, device='" + TORCH_DEVICES.get(vendor, "cuda") + "') * 2)"
    return _("Try it: {command}").format(command='python -c "' + code + '"')


def _install(device: Device, facts: Facts) -> str:
    """The newest build for the device, as the tables know it."""
    driver = next((d.get("version") for d in facts.of(Driver) if d.get("vendor") == device.get("vendor")), None)
    platform = next(iter(facts.of(Platform)), None)
    system = (platform and platform.get("system")) or "linux"
    row = newest_build(device["isa"], driver=driver, system=system) if device.get("isa") else None
    if row is None:
        return ""
    command = "pip install torch==" + row.torch + " --index-url " + index_url(row.variant)
    return _("Install a build for it: {command}").format(command=command)


def _is_overridden(device: Device, facts: Facts) -> bool:
    """By a variable for all cards, or by one whose number is the card's node; where nobody tells that, whose chip such a name suits."""
    set_ = [v for v in facts.of(Variable) if str(v.get("name", "")).startswith(OVERRIDE) and v.get("value")]
    for variable in set_:
        number = str(variable.name).removeprefix(OVERRIDE).removeprefix("_")
        node = device.get("kfd_node")
        if (
            not number
            or (node is not None and str(node) == number)
            or (node is None and not harms(str(device.get("isa") or ""), str(variable.value)))
        ):
            return True
    return False
