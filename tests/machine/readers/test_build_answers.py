"""What short pieces of a session tell of builds."""

from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.kinds import Distribution, Driver, Gpu, Package, Platform, TensorFlow, Toolkit, Torch
from rigup.machine.readers import build_answers
from rigup.machine.texts import Text

_READERS = (
    build_answers.torch_served_list,
    build_answers.card_on_a_line,
    build_answers.installed_just_now,
    build_answers.tensorflow_build_info,
    build_answers.tensorflow_on_one_line,
    build_answers.tensorflow_physical_devices,
    build_answers.tensorflow_local_devices,
    build_answers.carried_cuda,
    build_answers.deepspeed_report,
    build_answers.release_on_a_line,
    build_answers.wheel_by_its_name,
    build_answers.torch_self_report,
    build_answers.libraries_of_torch,
    build_answers.torch_build_settings,
)
_PIECES = st.sampled_from(
    [
        "- 7.5 which supports hardware CC",
        "NVIDIA ",
        "Tesla T4",
        ", 7.5",
        "Successfully installed ",
        "torch-2.4.1+cpu",
        " + torch==",
        "is_cuda_build",
        "False",
        'device_type: "CPU"',
        "PhysicalDevice(",
        "[",
        "]",
        "\n",
        "_cuda_getDriverVersion()",
        "9010",
        "nvcc version ....",
        "CentOS release 7",
        "/whl/cu100/torch-",
        "libtorch_cpu.so",
        "TORCH_VERSION=",
        "USE_CUDA=0",
        "tensor([1], device='cuda:0')",
        "\0",
        "é",
        " ",
    ]
)


def _fields(facts, kind):
    return [{name: reading.value for name, reading in fact.fields.items()} for fact in facts if isinstance(fact, kind)]


def _told(reader, body, kind):
    return _fields(reader(Text("said.txt", body)), kind)


@given(st.lists(_PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_readers_take_any_text(body):
    for reader in _READERS:
        assert len(list(reader(Text("said.txt", body)))) <= 2 * len(body) + 2


def test_capabilities_that_torch_lists_are_what_it_was_built_for():
    body = (
        "Found GPU0 Tesla V100-PCIE-16GB which is of compute capability (CC) 7.0.\n- 7.5 which supports hardware CC >=7.5,<8.0\n"
        "- 9.0 which supports hardware CC >=9.0,<10.0\n"
    )
    assert _told(build_answers.torch_served_list, body, Torch) == [{"code": ["sm_75", "sm_90"]}]
    assert _told(build_answers.torch_served_list, body, Gpu)[0]["isa"] == "sm_70"


def test_a_card_of_amd_is_no_card_of_nvidia_by_its_number():
    body = "Found GPU0 AMD Radeon VII which is of compute capability (CC) 9.0.\n"
    assert not _told(build_answers.torch_served_list, body, Gpu)


def test_a_row_without_a_head_names_a_card():
    assert _told(build_answers.card_on_a_line, "Tesla T4, 7.5\n", Gpu)[0]["isa"] == "sm_75"
    assert not _told(build_answers.card_on_a_line, "Tesla T4 and its friends, 7.5 times faster\n", Gpu)


def test_what_was_installed_is_there():
    body = "Successfully installed filelock-3.1 nvidia-cudnn-cu12-9.1.0.70 torch-2.4.1+cpu\n"
    assert {(found["name"], found["version"]) for found in _told(build_answers.installed_just_now, body, Package)} == {
        ("nvidia-cudnn-cu12", "9.1.0.70"),
        ("torch", "2.4.1+cpu"),
    }
    assert _told(build_answers.installed_just_now, " + torch==2.7.0+cpu\n", Package)[0]["version"] == "2.7.0+cpu"


def test_tensorflow_tells_how_it_was_built():
    assert _told(build_answers.tensorflow_build_info, "OrderedDict([('is_cuda_build', False)])", TensorFlow) == [{"built_with_cuda": False}]
    assert _told(build_answers.tensorflow_build_info, "('msvcp_dll_names', 'msvcp140.dll')", Platform)


def test_devices_of_tensorflow_are_counted():
    cpu = "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]\n"
    both = cpu.replace(")]", "), PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]")
    assert [_told(build_answers.tensorflow_physical_devices, body, TensorFlow)[0]["gpus"] for body in (cpu, both)] == [0, 1]
    assert _told(build_answers.tensorflow_local_devices, 'device_type: "CPU"\n', TensorFlow) == [{"gpus": 0}]


def test_numbers_of_cuda_are_read():
    assert _told(build_answers.carried_cuda, "torch._C._cuda_getDriverVersion()\n9010\n", Driver)[0]["cuda"] == "9.1"
    report = "torch cuda version ............... 12.1\nnvcc version ..................... 11.2\n"
    assert _told(build_answers.deepspeed_report, report, Torch) == [{"cuda": "12.1"}]
    assert _told(build_answers.deepspeed_report, report, Toolkit) == [{"name": "cuda", "version": "11.2"}]


def test_release_files_name_a_distribution():
    body = "Red Hat Enterprise Linux Server release 7.9 (Maipo)\n"
    assert _told(build_answers.release_on_a_line, body, Distribution)[0]["version"] == "7.9"


def test_a_wheel_tells_its_build_by_its_name():
    frozen = "torch @ https://mirror.example/whl/cpu/torch-2.0.1%2Bcpu-cp310-cp310-linux_x86_64.whl\n"
    locked = '[[package]]\nname = "torch"\nversion = "2.6.0+cpu"\n'
    assert [_told(build_answers.wheel_by_its_name, body, Package)[0]["version"] for body in (frozen, locked)] == ["2.0.1+cpu", "2.6.0+cpu"]


def test_a_listing_without_the_part_for_cuda_is_a_build_for_processors():
    listed = "libc10.so libtorch_cpu.so libtorch_global_deps.so libtorch_python.so\n"
    assert _told(build_answers.libraries_of_torch, listed, Torch) == [{"cuda": None, "hip": None}]
    assert not _told(build_answers.libraries_of_torch, listed + "libtorch_cuda.so\n", Torch)
    assert not _told(build_answers.libraries_of_torch, "frame #3: at::add in libtorch_cpu.so\n", Torch)


def test_a_tensor_printed_from_the_gpu_shows_that_it_computes():
    assert _told(build_answers.torch_self_report, "tensor([1., 2.], device='cuda:0')\n", Torch) == [{"available": True}]
    assert not _told(build_answers.torch_self_report, ">>> x = torch.tensor([1.], device='cuda:0')\n", Torch)


def test_build_settings_without_cuda():
    body = "- Build settings: TORCH_VERSION=2.1.0, USE_CUDA=0, USE_CUDNN=OFF\n"
    assert _told(build_answers.torch_build_settings, body, Torch) == [{"version": "2.1.0", "cuda": None, "hip": None}]
