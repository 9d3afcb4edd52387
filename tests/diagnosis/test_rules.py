"""The runner: joining in one place, evidence, unknowns, confidence, isolation, folding."""

import pytest

from rigup.diagnosis import findings as finding_rows
from rigup.diagnosis import judge as runner
from rigup.diagnosis.findings import Finding, explained, folded, merged
from rigup.diagnosis.judge import judged
from rigup.diagnosis.rule import Every, Rule, every, lacks, needs_of, one, seen
from rigup.knowledge.doctor_tables import Cause
from rigup.machine.facts import Look, Place, Reading, Subject, Where
from rigup.machine.kinds import Account, DeviceNode, Gpu, Symptom, Torch, Variable
from rigup.machine.store import Facts
from rigup.schemas.shared import Evidence

HOST, SHELL = Place(world="host"), Place(world="host", process="shell")
SERVICE, INSIDE = Place(world="host", process="service:s"), Place(world="container:c")


def said(kind, place=Place(), source="src", **fields):
    return kind(place, {name: Reading(value, Where(source, 1, f"{name}={value}")) for name, value in fields.items()})


def gathered(*facts, looks=()):
    store = Facts()
    for fact in facts:
        store.state(fact)
    store.looks += looks
    return store


@pytest.fixture
def judge(monkeypatch):
    """Judge facts by one rule of the test's own."""
    rows = {name: Cause(id=name, layer="driver", about="Torch") for name in ("cause", "other")}
    monkeypatch.setattr(finding_rows, "causes", lambda: rows)
    explained.cache_clear()

    def use(facts, function, strength="certain"):
        rules = [Rule("cause", function, needs_of(function), strength, function.__name__)]
        monkeypatch.setattr(runner, "rules_for", lambda *_given: rules)
        monkeypatch.setattr(runner, "rules_of_table", lambda _heard: ())
        return judged(facts)

    yield use
    explained.cache_clear()


def test_a_rule_is_called_for_every_way_of_choosing(judge):
    def cpu_build(torch: Torch, gpu: Gpu):
        return torch.cuda is None and gpu.vendor == "nvidia"

    facts = gathered(*(said(Torch, env=env, cuda=None) for env in "ab"), said(Gpu, nvml_index=0, vendor="nvidia"))
    found, _ = judge(facts, cpu_build)
    assert {finding.subject.name for finding in found} == {"a", "b"}


def test_what_it_asked_for_and_read_is_the_evidence(judge):
    def set_wrong(wish: Variable = one(name="X")):
        return wish.value == "1"

    found, _ = judge(gathered(said(Variable, SHELL, name="X", value="1")), set_wrong)
    assert [line.fact for line in found[0].evidence] == ["Variable.name", "Variable.value"]
    assert found[0].evidence[0] == Evidence(fact="Variable.name", value="name=X", source="src", line=1)


def test_an_unknown_field_skips_the_rule_and_says_what_it_would_decide(judge):
    def needs_version(torch: Torch):
        return torch.version == "1"

    found, skipped = judge(gathered(said(Torch, env="a")), needs_version)
    assert not found
    assert skipped == {"Torch.version": {"cause"}}


def test_a_rule_that_raises_is_a_finding_about_rigup(judge):
    def broken(torch: Torch):
        return 1 / 0

    found, _ = judge(gathered(said(Torch, env="a")), broken)
    assert [finding.cause for finding in found] == ["rigup-rule-failed"]


def test_parts_are_joined_in_one_place(judge):
    def both(node: DeviceNode, who: Account):
        return node.group not in who.groups

    facts = gathered(
        said(DeviceNode, HOST, path="/dev/kfd", group="render"), said(Account, Place(world="container:c", process="shell"), groups=[])
    )
    assert not judge(facts, both)[0]
    facts.state(said(Account, SHELL, groups=["video"]))
    assert len(judge(facts, both)[0]) == 1


def test_a_text_that_tells_no_place_goes_with_any(judge):
    def both(node: DeviceNode, who: Account):
        return node.group not in who.groups

    assert judge(gathered(said(DeviceNode, HOST, path="/dev/kfd", group="render"), said(Account, groups=[])), both)[0]


def test_at_names_another_place_of_the_same_machine(judge):
    def elsewhere(error: Symptom = seen("refused", at="service"), wish: Variable = one(name="X", at="shell")):
        return True

    facts = gathered(said(Symptom, SERVICE, id="refused"), said(Variable, SHELL, name="X", value="1"))
    assert judge(facts, elsewhere)[0]
    facts = gathered(said(Symptom, SERVICE._replace(node="a"), id="refused"), said(Variable, SHELL._replace(node="b"), name="X", value="1"))
    assert not judge(facts, elsewhere)[0]


def test_before_and_after_are_not_mixed(judge):
    def both(node: DeviceNode, who: Account):
        return node.group not in who.groups

    before, after = HOST._replace(moment="before"), SHELL._replace(moment="after")
    assert not judge(gathered(said(DeviceNode, before, path="/dev/kfd", group="render"), said(Account, after, groups=[])), both)[0]


def test_an_optional_part_is_none_where_nobody_has_seen_one(judge):
    def maybe(torch: Torch, gpu: Gpu | None = None):
        return gpu is None

    assert judge(gathered(said(Torch, env="a")), maybe)[0]
    assert not judge(gathered(said(Torch, env="a"), said(Gpu, nvml_index=0)), maybe)[0]


@pytest.mark.parametrize("annotation", [Gpu | Torch, Gpu | Torch | None])
def test_a_part_of_two_kinds_is_refused_where_the_rule_is_written(annotation):
    def of_two_kinds(part: annotation = None):
        return True

    with pytest.raises(TypeError, match="of one kind"):
        needs_of(of_two_kinds)


def test_an_optional_part_of_another_place_is_none_here(judge):
    def maybe(error: Symptom = seen("refused"), wish: Variable | None = one(name="X")):
        return wish is None

    facts = gathered(said(Symptom, SERVICE, id="refused"), said(Variable, SHELL, name="X", value="1"))
    assert judge(facts, maybe)[0]
    facts.state(said(Variable, SERVICE, name="X", value="1"))
    assert not judge(facts, maybe)[0]


def test_a_lack_needs_somebody_who_looked(judge):
    def unset(torch: Torch, missing: Every[Variable] = lacks(Variable, name="X")):
        return True

    facts = gathered(said(Torch, env="a"))
    assert not judge(facts, unset)[0]
    facts.looks.append(Look(Variable, SHELL, "env"))
    found, _ = judge(facts, unset)
    assert found[0].confidence == "certain"
    assert found[0].evidence[-1] == Evidence(fact="no Variable X", value=None, source="env", line=None)
    facts.state(said(Variable, SHELL, name="X", value="1"))
    assert not judge(facts, unset)[0]


def test_what_is_missing_from_an_excerpt_is_only_possibly_missing(judge):
    def unset(torch: Torch, missing: Every[Variable] = lacks(Variable, name="X")):
        return True

    found, _ = judge(gathered(said(Torch, env="a"), looks=[Look(Variable, SHELL, "paste", "excerpt")]), unset)
    assert found[0].confidence == "possible"


def test_a_refused_look_shows_nothing(judge):
    def unset(torch: Torch, missing: Every[Variable] = lacks(Variable, name="X")):
        return True

    assert not judge(gathered(said(Torch, env="a"), looks=[Look(Variable, SHELL, "env", "refused")]), unset)[0]


def test_all_of_a_kind_are_counted_where_somebody_looked(judge):
    def too_many(mask: Variable = one(name="M"), gpus: Every[Gpu] = every(Gpu)):
        return int(mask.value) >= len(gpus)

    facts = gathered(said(Variable, SHELL, name="M", value="1"), said(Gpu, nvml_index=0), looks=[Look(Gpu, Place(), "smi")])
    assert judge(facts, too_many)[0]
    facts.state(said(Gpu, nvml_index=1))
    assert not judge(facts, too_many)[0]


def finding(cause, confidence="certain", subject=Subject(), place=Place()):
    return Finding(cause, subject, place, confidence, [], {})


@pytest.fixture
def causes(monkeypatch):
    rows = {
        "deep": Cause(id="deep", layer="module", explains=["middle"]),
        "middle": Cause(id="middle", layer="driver", explains=["shallow"]),
        "shallow": Cause(id="shallow", layer="framework"),
        "aside": Cause(id="aside", layer="firmware", severity="warning"),
        "of-card": Cause(id="of-card", layer="driver", about="Gpu", explains=["card-echo"]),
        "card-echo": Cause(id="card-echo", layer="framework", about="Gpu"),
    }
    monkeypatch.setattr(finding_rows, "causes", lambda: rows)
    explained.cache_clear()
    yield rows
    explained.cache_clear()


def test_the_root_goes_first_and_folds_its_echoes_through_others(causes):
    found = folded([finding("shallow"), finding("aside"), finding("deep")])
    assert [f.cause for f in found] == ["deep", "aside"]
    assert found[0].folds == {"shallow"}


def test_a_guess_never_folds_what_is_certain(causes):
    assert [f.cause for f in folded([finding("shallow"), finding("deep", "possible")])] == ["shallow", "deep"]


def test_one_cards_fault_does_not_fold_anothers(causes):
    cards = [finding("of-card", subject=Subject("Gpu", "0")), finding("card-echo", subject=Subject("Gpu", "1"))]
    assert len(folded(cards)) == 2
    cards[1].subject = Subject("Gpu", "0")
    assert len(folded(cards)) == 1


def test_one_nodes_fault_does_not_fold_anothers(causes):
    found = [finding("deep", place=Place(node="a")), finding("shallow", place=Place(node="b"))]
    assert len(folded(found)) == 2


def test_ways_to_know_one_thing_are_one_finding_as_sure_as_the_surest(causes):
    (one_finding,) = merged([finding("deep", "possible"), finding("deep", "certain"), finding("deep", "likely")])
    assert one_finding.confidence == "certain"


def test_the_later_state_goes_before_the_earlier(causes):
    before, after = (finding("deep", place=Place(moment=moment)) for moment in ("before", "after"))
    assert [f.place.moment for f in folded([before, after])] == ["after", "before"]
