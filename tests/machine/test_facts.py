"""Facts: what is known, what is known to be absent, and what nobody saw."""

import pytest

from rigup.machine.facts import Place, Reading, Subject, Unknown, Where
from rigup.machine.kinds import Gpu, Torch, Variable
from rigup.machine.store import Facts

HERE = Where("somewhere", 1, "text")


def said(kind, place=Place(), rank=0, **fields):
    return kind(place, {name: Reading(value, HERE, rank) for name, value in fields.items()})


def test_an_unknown_field_ends_the_rule_and_is_named():
    with pytest.raises(Unknown, match=r"Torch\.cuda"):
        _ = said(Torch, version="2.6").cuda


def test_known_absence_is_a_value():
    assert said(Torch, cuda=None).cuda is None


def test_an_optional_field_may_stay_unknown():
    assert said(Torch).get("cuda", "dark") == "dark"


def test_what_is_read_is_the_evidence():
    log = []
    torch = said(Torch, version="2.6", cuda="12.4").watched(log)
    assert torch.version == "2.6"
    assert [name for name, _ in log] == ["Torch.version"]


@pytest.mark.parametrize(
    ("one", "other", "met"),
    [
        (Place(), Place(world="host"), Place(world="host")),
        (Place(world="container"), Place(world="container:web"), Place(world="container:web")),
        (Place(world="container:web"), Place(world="container:db"), None),
        (Place(world="host"), Place(world="container"), None),
        (Place(node="a"), Place(node="b"), None),
        (Place(moment="before"), Place(moment="after"), None),
        (Place(world="container", process="service:ollama"), Place(world="container"), Place("", "container", "service:ollama")),
    ],
)
def test_places_meet_where_they_do_not_contradict_each_other(one, other, met):
    assert one.meet(other) == met == other.meet(one)


def test_a_chip_is_the_same_in_every_container_and_a_variable_is_not():
    inside = Place(world="container", process="service:x")
    assert said(Gpu, inside, name="A").place == Place()
    assert said(Torch, inside, env="e").place == Place(world="container")
    assert said(Variable, inside, name="N").place == inside


def test_one_card_known_by_address_and_by_index_is_one_card():
    facts = Facts()
    facts.state(said(Gpu, pci_address="0000:01:00.0", vendor="nvidia", name="GA102 [GeForce RTX 3090]"))
    facts.state(said(Gpu, nvml_index=0, vendor="nvidia", name="NVIDIA GeForce RTX 3090"))
    facts.unite_gpus()
    (gpu,) = facts.of(Gpu)
    assert (gpu.pci_address, gpu.nvml_index) == ("0000:01:00.0", 0)


def test_cards_alike_are_matched_in_order():
    facts = Facts()
    for bus in ("21", "01"):
        facts.state(said(Gpu, pci_address=f"0000:{bus}:00.0", vendor="nvidia", name="NVIDIA A100"))
    for index in (0, 1):
        facts.state(said(Gpu, runtime_index=index, vendor="nvidia", name="NVIDIA A100"))
    facts.unite_gpus()
    assert {gpu.pci_address: gpu.runtime_index for gpu in facts.of(Gpu)} == {"0000:01:00.0": 0, "0000:21:00.0": 1}


def test_unlike_cards_are_told_apart_by_name_whatever_their_order():
    facts = Facts()
    facts.state(said(Gpu, pci_address="0000:01:00.0", vendor="nvidia", name="NVIDIA GeForce GT 710"))
    facts.state(said(Gpu, pci_address="0000:02:00.0", vendor="nvidia", name="NVIDIA GeForce RTX 3090"))
    facts.state(said(Gpu, runtime_index=0, vendor="nvidia", name="NVIDIA GeForce RTX 3090"))
    facts.unite_gpus()
    assert {gpu.pci_address: gpu.get("runtime_index") for gpu in facts.of(Gpu)} == {"0000:01:00.0": None, "0000:02:00.0": 0}


@pytest.mark.parametrize("other", ["NVIDIA GeForce RTX 3090 Ti", "NVIDIA A100-SXM4-80GB"])
def test_another_model_is_another_card(other):
    facts = Facts()
    facts.state(said(Gpu, runtime_index=0, name="NVIDIA GeForce RTX 3090"))
    facts.state(said(Gpu, nvml_index=0, name=other))
    facts.unite_gpus()
    assert len(facts.of(Gpu)) == 2


def test_two_makers_are_two_cards():
    facts = Facts()
    facts.state(said(Gpu, pci_address="0000:01:00.0", vendor="nvidia"))
    facts.state(said(Gpu, runtime_index=0, vendor="amd"))
    facts.unite_gpus()
    assert len(facts.of(Gpu)) == 2


def test_a_third_source_shows_that_two_statements_are_one_card():
    facts = Facts()
    facts.state(said(Gpu, pci_address="0000:01:00.0", power="active"))
    facts.state(said(Gpu, nvml_index=0, compute_mode="Default"))
    facts.state(said(Gpu, pci_address="0000:01:00.0", nvml_index=0, uuid="GPU-1"))
    (gpu,) = facts.of(Gpu)
    assert (gpu.power, gpu.compute_mode, gpu.uuid) == ("active", "Default", "GPU-1")


def test_of_two_values_the_higher_rank_counts_and_the_other_is_kept():
    facts = Facts()
    facts.state(said(Gpu, pci_address="0", isa="gfx1030"))
    facts.state(said(Gpu, pci_address="0", rank=2, isa="gfx1031"))
    (gpu,) = facts.of(Gpu)
    assert gpu.isa == "gfx1031"
    assert [reading.value for reading in gpu.others["isa"]] == ["gfx1030"]


def test_a_statement_without_a_key_goes_to_the_only_candidate():
    facts = Facts()
    facts.state(said(Torch, env="/venv", version="2.6"))
    facts.state(said(Torch, available=True))
    (torch,) = facts.of(Torch)
    assert torch.available


def test_a_statement_without_a_key_chooses_none_of_two():
    facts = Facts()
    for env in ("/a", "/b"):
        facts.state(said(Torch, env=env))
    facts.state(said(Torch, available=True))
    assert [torch.get("available") for torch in facts.of(Torch)] == [None, None, True]


def test_places_are_not_mixed():
    facts = Facts()
    facts.state(said(Variable, Place(world="host", process="shell"), name="X", value="1"))
    facts.state(said(Variable, Place(world="host", process="service:y"), name="X", value="2"))
    assert {v.place.process: v.value for v in facts.of(Variable)} == {"shell": "1", "service:y": "2"}


def test_nodes_are_not_mixed():
    facts = Facts()
    for node in ("a", "b"):
        facts.state(said(Gpu, Place(node=node), nvml_index=0, name="NVIDIA A100"))
    assert len(facts.of(Gpu)) == 2


def test_a_machines_fault_touches_every_device_and_one_devices_does_not_touch_anothers():
    assert Subject().touches(Subject("Gpu", "0"))
    assert Subject("Torch", "e").touches(Subject("Gpu", "0"))
    assert not Subject("Gpu", "1").touches(Subject("Gpu", "0"))
