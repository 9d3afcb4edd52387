"""What every way to mend is held against before it is shown."""

import pytest

from answer_data import diagnose

OLD = "RuntimeError: The NVIDIA driver on your system is too old (found version {found}).\n"
TABLE = "| NVIDIA-SMI {driver}       Driver Version: {driver}       CUDA Version: {cuda}     |\n"


def titles(text: str, tmp_path) -> list[str]:
    (tmp_path / "said.txt").write_text(text)
    found = diagnose(str(tmp_path / "said.txt"))["findings"]
    return [way["title"] for finding in found for way in finding["fixes"]]


@pytest.mark.parametrize(
    ("card", "driver", "ends"),
    [("Tesla P100-PCIE-16GB", "410.79", "580"), ("GeForce GTX 1080 Ti", "410.79", "580"), ("GeForce RTX 3090", "455.23", "")],
)
def test_a_newer_driver_ends_at_the_last_branch_for_the_card(card, driver, ends, tmp_path):
    listed = f"GPU 0: {card} (UUID: GPU-8a7b6c5d-1111-2222-3333-444455556666)\n"
    said = titles(listed + TABLE.format(driver=driver, cuda="10.0") + OLD.format(found="10000"), tmp_path)
    drivers = [title for title in said if "NVIDIA driver" in title]
    assert drivers
    assert all(("or newer" in title) != bool(ends) for title in drivers), drivers
    assert all(ends in title for title in drivers)


def test_the_oldest_card_of_several_bounds_the_driver_of_all(tmp_path):
    listed = "".join(
        f"GPU {index}: {card} (UUID: GPU-8a7b6c5d-1111-2222-3333-44445555666{index})\n"
        for index, card in enumerate(("GeForce RTX 3090", "Tesla P100-PCIE-16GB"))
    )
    said = titles(listed + TABLE.format(driver="410.79", cuda="10.0") + OLD.format(found="10000"), tmp_path)
    assert any("580" in title and "none newer" in title for title in said), said
    assert not any("or newer" in title and "NVIDIA driver" in title for title in said), said
