"""What a text says that excludes a cause: no guess may gainsay it."""

import pytest

from rigup.diagnosis.ruled_out import ruled_out
from rigup.machine.look import look
from rigup.machine.sources import open_source

NODE = "$ ls -l /dev/nvidia0\ncrw-rw-{}- 1 root root 195, 0 Mar 14 08:21 /dev/nvidia0\n"
EXCLUDED = {
    "a link that carries atomics": ("pcie-atomics-missing", "DevCtl2: LTR+ OBFF Disabled, AtomicOpsCtl: ReqEn+\n"),
    "cards counted by the bus": ("cuda-device-order-differs", "$ export CUDA_DEVICE_ORDER=PCI_BUS_ID\n$ python train.py\n"),
    "a node that everybody may open": ("device-node-permissions", NODE.format("rw")),
    "no secure boot": ("secure-boot-module-unsigned", "$ mokutil --sb-state\nSecureBoot disabled\n"),
    "a Mac": ("wsl-windows-too-old", "$ uname -a\nDarwin studio 23.4.0 Darwin Kernel Version 23.4.0 arm64\n"),
}
LEFT_OPEN = {
    "a link that does not": ("pcie-atomics-missing", "DevCtl2: LTR+ OBFF Disabled, AtomicOpsCtl: ReqEn-\n"),
    "cards counted by their speed": ("cuda-device-order-differs", "$ export CUDA_DEVICE_ORDER=FASTEST_FIRST\n$ python train.py\n"),
    "a node of root's": ("device-node-permissions", NODE.format("--")),
    "secure boot": ("secure-boot-module-unsigned", "$ mokutil --sb-state\nSecureBoot enabled\n"),
    "no word of the system": ("wsl-windows-too-old", "it does not start\n"),
}


@pytest.fixture
def excluded(tmp_path):
    def by(text):
        (tmp_path / "said.txt").write_text(text, "utf-8")
        return ruled_out(look(open_source(str(tmp_path / "said.txt")), False))

    return by


@pytest.mark.parametrize(("cause", "text"), EXCLUDED.values(), ids=EXCLUDED)
def test_a_text_excludes_a_cause(cause, text, excluded):
    assert cause in excluded(text)


@pytest.mark.parametrize(("cause", "text"), LEFT_OPEN.values(), ids=LEFT_OPEN)
def test_its_neighbour_leaves_it_open(cause, text, excluded):
    assert cause not in excluded(text)
