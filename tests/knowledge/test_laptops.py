"""Which products are built into laptops alone."""

import pytest

from rigup.knowledge.gpu_words import is_of_laptops


@pytest.mark.parametrize(
    "name", ["NVIDIA GeForce RTX 3070 Laptop GPU", "GeForce GTX 1650 Mobile / Max-Q", "NVIDIA GeForce MX450", "AMD Radeon RX 7700S"]
)
def test_names_of_laptops_products(name):
    assert is_of_laptops(name)


@pytest.mark.parametrize(
    "name",
    ["NVIDIA GeForce RTX 3070", "Quadro M4000", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "AMD Radeon RX 6800M", ""],
)
def test_other_names_tell_nothing_of_it(name):
    assert not is_of_laptops(name)
