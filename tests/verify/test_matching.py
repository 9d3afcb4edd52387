"""Which of the machine's devices a framework's device is."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from rigup.schemas.shared import SeenDevice
from rigup.verify import matching
from rigup.verify.observe import Listed

BIG = {"vendor": "nvidia", "name": "NVIDIA GeForce RTX 3090", "isa": "sm_86", "pci_address": "0000:41:00.0"}
SMALL = {"vendor": "nvidia", "name": "NVIDIA GeForce GTX 1080 Ti", "isa": "sm_61", "pci_address": "0000:01:00.0"}
APU = {"vendor": "amd", "name": "AMD Radeon 780M", "isa": "gfx1103", "pci_address": "0000:c1:00.0"}


def matched(theirs, ours):
    known = [{name: value for name, value in device.items() if value is not None} for device in ours]
    return matching.matched(msgspec.convert(theirs, list[Listed]), msgspec.convert(known, list[SeenDevice]))


def theirs(**fields):
    return {"id": "cuda:" + str(fields.pop("at", 0)), **fields}


def test_an_address_decides_whatever_the_order():
    seen = [theirs(at=0, pci_address="00000000:41:00.0"), theirs(at=1, pci_address="0000:01:00.0")]
    assert matched(seen, [SMALL, BIG]) == {"cuda:0": 1, "cuda:1": 0}


def test_an_identity_decides_without_an_address():
    ours = [{**BIG, "uuid": "GPU-aa"}, {**BIG, "uuid": "GPU-bb", "pci_address": "0000:42:00.0"}]
    assert matched([theirs(properties={"uuid": "bb"})], ours) == {"cuda:0": 1}


def test_names_are_written_in_many_ways():
    assert matched([theirs(vendor="nvidia", name="GeForce RTX 3090")], [SMALL, BIG]) == {"cuda:0": 1}


def test_a_chip_decides_where_names_do_not():
    assert matched([theirs(vendor="amd", name="AMD Radeon Graphics", isa="gfx1103")], [BIG, APU]) == {"cuda:0": 1}


def test_cards_alike_are_matched_in_order():
    seen = [theirs(at=n, vendor="nvidia", name=BIG["name"]) for n in range(2)]
    assert matched(seen, [{**BIG, "pci_address": None}, {**BIG, "pci_address": None}]) == {"cuda:0": 0, "cuda:1": 1}


def test_parts_of_one_card_are_that_card():
    seen = [theirs(at=n, pci_address="0000:41:00.0", name="NVIDIA A100 MIG 1g.5gb") for n in range(2)]
    assert matched(seen, [BIG]) == {"cuda:0": 0, "cuda:1": 0}


def test_another_makers_device_is_none_of_ours():
    assert matched([theirs(vendor="amd", isa="gfx1100")], [BIG, SMALL]) == {}
    assert matched([theirs(vendor="nvidia", isa="sm_90")], [BIG]) == {}


def test_a_framework_that_tells_no_maker_means_the_only_one():
    assert matched([theirs(vendor="")], [BIG]) == {"cuda:0": 0}
    assert matched([theirs(vendor="")], [BIG, APU]) == {}


DEVICES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "vendor": st.sampled_from(["nvidia", "amd", "", None]),
            "name": st.none() | st.text(max_size=12),
            "isa": st.sampled_from(["sm_86", "gfx1103", ""]),
            "pci_address": st.none() | st.text(max_size=14),
        },
    ),
    max_size=4,
)


@given(DEVICES, DEVICES)
def test_every_match_is_one_of_ours(seen, ours):
    seen = [{**device, "id": "cuda:" + str(number)} for number, device in enumerate(seen)]
    found = matched(seen, ours)
    assert set(found) <= {device["id"] for device in seen}
    assert all(0 <= place < len(ours) for place in found.values())
