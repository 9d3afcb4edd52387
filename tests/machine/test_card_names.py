"""Names of cards as the bus and the maker's tool write them."""

import pytest

from rigup.machine.names import same_name


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("AD107M [GeForce RTX 4050 Max-Q / Mobile]", "NVIDIA GeForce RTX 4050 Laptop GPU", True),
        ("TU106M [GeForce RTX 2070 Mobile / Max-Q]", "NVIDIA GeForce RTX 2070 Laptop GPU", True),
        ("GA104M [GeForce RTX 3080 Mobile / Max-Q 8GB/16GB]", "NVIDIA GeForce RTX 3080 Ti Laptop GPU", False),
        ("Navi 31 [Radeon RX 7900 XT/7900 XTX]", "AMD Radeon RX 7900 XTX", True),
        ("NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3090 Ti", False),
    ],
)
def test_spellings_of_one_model_are_alike_and_of_two_are_not(one, other, same):
    assert same_name(one, other) is same_name(other, one) is same
