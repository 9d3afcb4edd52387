"""Which kernels give an integrated GPU mapped memory, and how much of it is asked for."""

import pytest

from rigup.knowledge.gtt import maps_always, pages_to_share

GIB = 2**30


@pytest.mark.parametrize(
    ("kernel", "always"), [("6.8.0-40-generic", False), ("6.10.3", True), ("6.11.0-9-generic", True), ("6.12.1", False), ("", False)]
)
def test_mapped_memory_whatever_the_carve_out(kernel, always):
    assert maps_always(kernel) is always


@pytest.mark.parametrize(("gib", "pages"), [(128, 29884416), (8, 0), (4, 0)])
def test_room_is_left_for_the_system(gib, pages):
    assert pages_to_share(gib * GIB) == pages
