"""Questions and their answers on desktops, and names of packages that tell the system."""

from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.kinds import Gpu, Platform, TensorFlow, Variable
from rigup.machine.readers import desktops
from rigup.machine.texts import Text

_READERS = (desktops.tensorflow_of_windows, desktops.nvidia_devices_of_torch, desktops.powershell_answers)
_PIECES = st.sampled_from(
    [
        "tf.__version__",
        "is_built_with_cuda()",
        "list_physical_devices(",
        "2.18.0",
        "False",
        "[]",
        "tensorflow-intel",
        "==",
        "get_device_name(0)",
        "get_device_name(1)",
        "range(",
        "['NVIDIA GeForce RTX 3060']",
        "$env:CUDA_VISIBLE_DEVICES",
        "PS C:\\> ",
        "\n",
        "|",
        " ",
        "\0",
        "é",
    ]
)


def _told(reader, body, kind):
    facts = reader(Text("said.txt", body))
    return [{name: reading.value for name, reading in fact.fields.items()} for fact in facts if isinstance(fact, kind)]


@given(st.lists(_PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_readers_take_any_text(body):
    for reader in _READERS:
        assert len(list(reader(Text("said.txt", body)))) <= 2 * len(body) + 2


def test_tensorflow_has_none():
    for shown in (">>> tf.test.is_gpu_available()\nFalse\n", ">>> len(tf.config.list_physical_devices('GPU'))\n0\n"):
        assert _told(desktops.tensorflow_counts_none, shown, TensorFlow) == [{"gpus": 0}]
    assert _told(desktops.tensorflow_counts_none, ">>> tf.test.is_gpu_available()\nTrue\n", TensorFlow) == []


def test_a_package_tells_the_system():
    assert _told(desktops.tensorflow_of_windows, "tensorflow-intel          2.17.0\n", TensorFlow) == [{"version": "2.17.0"}]
    assert _told(desktops.tensorflow_of_windows, "tensorflow-intel==2.17.0\n", Platform) == [{"system": "windows"}]
    assert _told(desktops.tensorflow_of_windows, "tensorflow 2.17.0\n", Platform) == []


def test_torch_counts_nvidias_cards():
    listed = "[torch.cuda.get_device_name(i) for i in range(2)]\n['NVIDIA TITAN V', 'Tesla K80']\n"
    assert [one["runtime_index"] for one in _told(desktops.nvidia_devices_of_torch, listed, Gpu)] == [0, 1]
    pair = "print(torch.cuda.get_device_name(0), '|', torch.cuda.get_device_name(1))\nNVIDIA TITAN V | Tesla K80\n"
    assert [one["name"] for one in _told(desktops.nvidia_devices_of_torch, pair, Gpu)] == ["NVIDIA TITAN V", "Tesla K80"]
    amd = "[torch.cuda.get_device_name(i) for i in range(1)]\n['AMD Radeon RX 6800']\n"
    assert _told(desktops.nvidia_devices_of_torch, amd, Gpu) == []


def test_powershell_tells_a_variable_that_is_set():
    shown = "PS C:\\> $env:CUDA_VISIBLE_DEVICES\n1\nPS C:\\> "
    assert _told(desktops.powershell_answers, shown, Variable) == [{"name": "CUDA_VISIBLE_DEVICES", "value": "1"}]
    unset = "PS C:\\> $env:CUDA_VISIBLE_DEVICES\nPS C:\\> nvidia-smi\n"
    assert _told(desktops.powershell_answers, unset, Variable) == []
