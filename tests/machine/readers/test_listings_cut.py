"""Listings and reports in pieces: plans of package managers, a machine in a few words, rows without their heads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.kinds import DeviceNode, Driver, Gpu, JobRequest, Package, Platform, Torch, World
from rigup.machine.readers import asked_versions, fact_lists, package_plans, reports_cut, tools_cut
from rigup.machine.texts import Text

_MODULES = (asked_versions, fact_lists, package_plans, reports_cut, tools_cut)
_READERS = [
    read
    for module in _MODULES
    for read in vars(module).values()
    if getattr(read, "__module__", "") == module.__name__
    and getattr(read, "__annotations__", {}).get("text") is Text
    and read.__name__[0] != "_"
]
_PIECES = st.sampled_from(
    [
        "GPU: ",
        "gpu = ",
        "RTX 3090",
        ", driver 535.129.03",
        " | ",
        "Ubuntu 22.04",
        "torch: 2.3.0",
        "+cpu",
        "pytorch  pytorch/linux-64::pytorch-2.1.0-py3.10_cpu_0",
        " --> ",
        "Downloading torch-2.3.1-cp310-x.whl",
        "pytorch.version:   2.2.1+cpu",
        "- CPU capability usage: AVX2\n",
        "0, NVIDIA A100-SXM4-40GB, 535.104.12",
        "TRES_PER_NODE",
        "N/A",
        "FB Memory Usage\n",
        "  Total    : 24564 MiB\n",
        "# file: dev/nvidia0\n",
        "user::rw-\n",
        "torch.__version__",
        "('2.1.0', '0.15.2')",
        "6.8.0-45-generic\n",
        "\n",
        "\0",
        "é",
        "│",
        "\t",
    ]
)


def told(reader, body, kind):
    facts = reader(Text("said.txt", body))
    return [{name: reading.value for name, reading in fact.fields.items()} for fact in facts if isinstance(fact, kind)]


@given(st.lists(_PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_readers_take_any_text(body):
    for reader in _READERS:
        assert len(list(reader(Text("said.txt", body)))) <= 4 * len(body) + 4


def test_all_readers_are_tried():
    assert len(_READERS) > 15


@pytest.mark.parametrize(
    "line",
    [
        "RTX 3090, driver 535.129.03, Ubuntu 22.04",
        "| GPU | NVIDIA GeForce RTX 3090 |\n| Driver | 535.129.03 |\n| OS | Ubuntu 22.04 |",
        "gpu = RTX 3090\ndriver = 535.129.03\nos = Ubuntu 22.04",
        '"gpu": "RTX 3090 24GB",\n"driver": "535.129.03",\n"os": "Ubuntu 22.04",',
    ],
)
def test_a_machine_in_a_few_words(line):
    read = fact_lists.machine_in_a_few_words
    assert [card["isa"] for card in told(read, line, Gpu)] == ["sm_86"]
    assert [driver["version"] for driver in told(read, line, Driver)] == ["535.129.03"]
    assert told(read, line, Platform) == [{"system": "linux"}]


@pytest.mark.parametrize(
    "line", ["The driver 535.129.03 of an RTX 3090 is newer, and faster", "GPU >= RTX 2080, or newer", "step 3090, loss 0.2, torch"]
)
def test_a_sentence_is_no_list(line):
    assert not told(fact_lists.machine_in_a_few_words, line, Gpu)
    assert not told(fact_lists.machine_in_a_few_words, line, Driver)


def test_a_pair_of_versions_by_keys():
    pairs = told(fact_lists.machine_in_a_few_words, "torch: 2.3.0\ntorchvision: 0.17.2\n", Package)
    assert [(row["name"], row["version"]) for row in pairs] == [("torch", "2.3.0"), ("torchvision", "0.17.2")]
    assert not told(fact_lists.machine_in_a_few_words, "torch-directml in use\ntorch: 2.3.0\n", Package)


@pytest.mark.parametrize(
    ("line", "build"),
    [
        ("  pytorch            pytorch/linux-64::pytorch-2.1.0-py3.10_cpu_0", "py3.10_cpu_0"),
        ("  pytorch   pytorch::pytorch-1.12.1-py3.9_cuda11.3_cud~ --> pkgs/main::pytorch-1.12.1-cpu_py39h5e1f01c_0", "cpu_py39h5e1f01c_0"),
        ("  pytorch   2.1.0-py3.11_cuda12.1_cudnn8.9.2_0 --> 2.1.0-py3.11_cpu_0", "py3.11_cpu_0"),
        ("pytorch   2.4.0   cpu_generic_py311h0e4a5b0_1   22 MiB   conda  pytorch", "cpu_generic_py311h0e4a5b0_1"),
        ("  + pytorch  2.5.1  cuda126_py312h1763f6d_306  conda-forge     25MB", "cuda126_py312h1763f6d_306"),
    ],
)
def test_a_plan_tells_the_state_that_it_leads_to(line, build):
    assert [row["build"] for row in told(package_plans.planned_packages, line, Package)] == [build]


def test_a_plan_that_was_asked_for_the_processor_is_not_told():
    asked = "$ conda install pytorch cpuonly -c pytorch\n  pytorch   pytorch/linux-64::pytorch-2.1.0-py3.10_cpu_0"
    assert not told(package_plans.planned_packages, asked, Package)


def test_packages_and_folders_of_one_system_alone():
    read = package_plans.system_of_packages
    assert told(read, "Location: c:\\users\\ada\\site-packages\n", Platform) == [{"system": "windows"}]
    assert told(read, "tensorflow-macos==2.13.0\n", Platform) == [{"system": "macos"}]
    assert not told(read, "ERROR: torch-2.1.0-cp310-cp310-win_amd64.whl is not a supported wheel\n", Platform)


def test_wheels_that_are_fetched():
    rows = told(
        package_plans.collected_wheels, "  Downloading https://x.org/torch-2.4.1%2Bcpu-cp311-cp311-linux_x86_64.whl (194.9 MB)", Package
    )
    assert [(row["name"], row["version"]) for row in rows] == [("torch", "2.4.1+cpu")]


def test_xformers_and_bitsandbytes_tell_of_torch():
    said = "pytorch.version:      2.2.1+cpu\npytorch.cuda:         not available\n"
    assert told(reports_cut.xformers_info, said, Torch) == [{"version": "2.2.1+cpu"}, {"available": False}]
    said = "PyTorch: 2.7.1+cpu\n  CUDA: N/A\n  HIP: N/A\n=== bitsandbytes v0.46.0 ===\n"
    assert told(reports_cut.bitsandbytes_report, said, Torch) == [{"version": "2.7.1+cpu", "cuda": None, "hip": None}]


def test_a_build_whose_settings_follow_its_processor():
    read = reports_cut.build_without_cuda
    assert told(read, "  - CPU capability usage: AVX2\nTorchVision: 0.13.1\n", Torch) == [{"cuda": None, "hip": None}]
    assert not told(read, "  - CPU capability usage: AVX2\n  - CUDA Runtime 11.3\n", Torch)


def test_a_plain_torch_among_nvidias_packages():
    read = reports_cut.torch_among_nvidias_packages
    assert [row["cuda"] for row in told(read, "nvidia-cublas-cu12   12.4.5.8\ntorch   2.6.0\n", Torch)] == ["12.4"]
    assert not told(read, "nvidia-cublas-cu11   11.10.3.66\ntorch   2.6.0\n", Torch)


def test_a_container_that_asked_for_no_device():
    rows = told(reports_cut.inspected_container, '"Runtime": "runc",\n"DeviceRequests": null,\n', World)
    assert rows == [{"container": "docker", "gpu_requested": False}]
    assert not told(reports_cut.inspected_container, '"Runtime": "nvidia",\n"DeviceRequests": null,\n', World)


def test_a_job_by_one_line():
    read = reports_cut.job_by_one_line
    assert told(read, "JOBID PARTITION TRES_PER_NODE NODELIST\n99812 gpu N/A gpu07\n", JobRequest) == [{"asked": False}]
    assert told(read, "   TresPerNode=gres:gpu:2\n", JobRequest) == [{"asked": True, "gpus_per_node": 2}]


def test_a_row_of_values_without_its_head():
    row = "0, NVIDIA GeForce RTX 5090, 12.0, 572.60\n"
    card = told(reports_cut.row_of_values, row, Gpu)[0]
    assert (card["nvml_index"], card["isa"]) == (0, "sm_120")
    assert [driver["version"] for driver in told(reports_cut.row_of_values, row, Driver)] == ["572.60"]
    assert not told(reports_cut.row_of_values, "index, name\n" + row, Gpu)


def test_nodes_and_rights():
    listed = "crw-rw----  1 root render 226, 128 May  1 10:00 renderD128\n"
    rows = told(reports_cut.nodes_without_their_folder, listed, DeviceNode)
    assert [(row["path"], row["group"]) for row in rows] == [("/dev/dri/renderD128", "render")]
    rights = "# file: dev/nvidia0\n# owner: root\n# group: gpu\nuser::rw-\ngroup::rw-\nother::---\n"
    rows = told(tools_cut.listed_rights, rights, DeviceNode)
    assert [(row["path"], row["mode"], row["acl"]) for row in rows] == [("/dev/nvidia0", "crw-rw----", False)]


@pytest.mark.parametrize("line", ["DRIVER version      : 550.54.15", "NVIDIA-SMI 550.54.15", "| NVIDIA-SMI 550.54.15 |"])
def test_a_driver_on_one_line(line):
    assert [row["version"] for row in told(tools_cut.driver_on_one_line, line + "\n", Driver)] == ["550.54.15"]


def test_a_card_on_one_line():
    read = tools_cut.card_on_one_line
    assert told(read, "  Card-1: NVIDIA GM107 [GeForce GTX 750 Ti] driver: nouveau v: kernel\n", Gpu)[0]["driver"] == "nouveau"
    assert told(read, "    Product Name                          : Tesla K80\n", Gpu)[0]["isa"] == "sm_37"
    assert not told(read, "GPU 00000000:01:00.0\n    Product Name                          : Tesla K80\n", Gpu)


def test_the_running_kernel_alone():
    read = tools_cut.release_of_the_kernel_alone
    assert told(read, "6.11.0-17-generic\n", Platform) == [{"system": "linux", "release": "6.11.0-17-generic"}]
    assert not told(read, "$ ls /lib/modules\n6.11.0-17-generic\n", Platform)


def test_versions_by_question_and_by_table():
    rows = told(
        asked_versions.versions_asked_for, ">>> torch.__version__, torchvision.__version__\n('2.1.0+cu118', '0.15.2+cu118')\n", Package
    )
    assert [row["version"] for row in rows] == ["2.1.0+cu118", "0.15.2+cu118"]
    rows = told(asked_versions.packages_in_a_table, "│ torch       │ 2.0.1 │\n│ torchvision │ 0.16.0 │\n", Package)
    assert [row["name"] for row in rows] == ["torch", "torchvision"]
    assert told(asked_versions.version_and_truth, "2.9.0+cu130 False\n", Torch) == [{"version": "2.9.0+cu130", "available": False}]
    assert (
        told(asked_versions.version_cut_out_of_show, "!pip show torch | grep Version\nVersion: 2.0.1+cpu\n", Package)[0]["version"]
        == "2.0.1+cpu"
    )


def test_memory_and_processes_without_their_card():
    block = (
        "    FB Memory Usage\n        Total                             : 24564 MiB\n        Used                              : 310 MiB\n"
    )
    assert told(asked_versions.memory_block, block, Gpu)[0]["memory_used"] == 310 * 2**20
    row = "|    0   N/A  N/A      1830      G   /usr/lib/xorg/Xorg                           35MiB |\n"
    assert told(asked_versions.card_of_a_process, row, Gpu)[0]["nvml_index"] == 0
