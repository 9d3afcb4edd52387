"""Every cause row, of every family: it is explained in words, its fixes can be made, and its precedence has no circle."""

import graphlib
import re

from each import over
from rigup.diagnosis.findings import SEVERITIES
from rigup.diagnosis.loading import load_all
from rigup.diagnosis.rule import MENDS, RULES
from rigup.diagnosis.rule_rows import rules_of_rows
from rigup.diagnosis.wording import holes
from rigup.knowledge.doctor_tables import causes, elsewhere, layers, signatures, texts
from rigup.knowledge.tags import ids_of_tag
from rigup.machine.facts import kinds
from rigup.steps import parse, step_kinds
from rigup.watch.findings import causes_of_rules

load_all()
CAUSES = causes()
SYMPTOMS = {row.id for row in signatures()}
HOLE = re.compile(r"\{(\w+)\}")
BLANK = {word: "x" for row in CAUSES.values() for specs in row.fixes for spec in specs for word in HOLE.findall(spec)}


@over(list(CAUSES))
def test_a_row_is_whole(cause):
    row = CAUSES[cause]
    assert row.layer in layers()
    assert row.severity in SEVERITIES
    assert row.about == "" or row.about in kinds(), row.about
    unknown = {name for name in row.explains if not name.startswith("#") or not ids_of_tag(name[1:])} - set(CAUSES) - SYMPTOMS
    assert not unknown, unknown
    assert row.fixes, "a cause without a fix"


@over(list(CAUSES))
def test_a_person_can_read_about_it(cause):
    text = texts("en").get(cause)
    assert text is not None, "no text"
    assert text.title
    assert not holes(text.title[-1]), "the plainest title can always be said"
    for part in (text.meaning, text.recognise, text.mends, text.in_vain):
        assert part.strip()
        assert "\n" not in part.strip()
    assert not holes(text.meaning)
    assert all(holes(part) for part in (*text.meaning_where, *text.in_vain_where)), "what asks for nothing is said everywhere"
    assert text.sources
    assert all(source.strip() for source in text.sources)


@over(list(CAUSES))
def test_every_fix_is_a_list_of_known_steps(cause):
    for specs in CAUSES[cause].fixes:
        assert isinstance(specs, list)
        assert specs
        for spec in specs:
            kind, params = parse(spec, BLANK)
            assert kind in step_kinds(), kind
            missing = set(step_kinds()[kind].params) - set(params)
            assert not missing, (spec, missing)


@over(list(CAUSES))
def test_some_fix_can_always_be_told(cause):
    """What a fix needs may be unknown: then another that needs nothing, or a work-out beside the rules."""
    plain = any(not HOLE.search(spec) for specs in CAUSES[cause].fixes for spec in specs)
    assert (
        plain
        or cause in MENDS
        or any(rule.cause == cause for rule in (*RULES, *rules_of_rows()))
        or any(row.means == cause for row in signatures())
        or cause in causes_of_rules()  # with ways or, where none holds, sentences
    )


def test_texts_belong_to_causes():
    assert set(texts("en")) <= set(CAUSES), set(texts("en")) - set(CAUSES)


def test_what_explains_has_no_circle():
    graph = {name: [other for other in row.explains if other in CAUSES] for name, row in CAUSES.items()}
    assert list(graphlib.TopologicalSorter(graph).static_order())


def test_every_cause_can_be_found():
    """By a rule, by a message that decides alone, by a watch, or by the session in which it stands."""
    ways = {rule.cause for rule in (*RULES, *rules_of_rows())} | {row.means for row in signatures()} | causes_of_rules()
    ways |= {"other-python-asked"}  # of `diagnosis/other_pythons.py`
    assert set(CAUSES) <= ways, set(CAUSES) - ways


def test_rules_and_work_outs_speak_of_known_causes():
    assert {rule.cause for rule in RULES} | set(MENDS) <= set(CAUSES)


def test_a_cause_that_can_be_on_some_systems_alone_is_elsewhere_on_the_others():
    assert "mps-macos-too-old" in elsewhere({"linux"})
    assert "mps-macos-too-old" not in elsewhere({"linux", "macos"})
    assert "oom-model-too-large" not in elsewhere({"macos"})
    assert elsewhere(()) == frozenset()


def test_systems_of_causes_are_those_that_platforms_have():
    assert {system for row in causes().values() for system in row.systems} <= {"linux", "windows", "macos"}
