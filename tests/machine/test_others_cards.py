"""Cards of which people write that are no part of the machine: a friend's, one that is compared with, one to be bought."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from each import each, over
from rigup.knowledge import tables
from rigup.knowledge.others_cards import Elsewhere, form_of, without_others
from rigup.machine.kinds import Cpu, Gpu
from rigup.machine.look import look
from rigup.machine.sources import open_source

ROWS = tables.rows("gpu_words", "elsewhere", Elsewhere)


def names(tmp_path, words, kind=Gpu, field="name"):
    (tmp_path / "paste.txt").write_text("RuntimeError: CUDA error\n" + words + "\n", encoding="utf-8")
    return [fact.get(field) for fact in look(open_source(str(tmp_path / "paste.txt")), False).of(kind)]


def test_each_row_knows_its_example_and_not_its_near_miss():
    each(ROWS, knows_its_own, lambda row: f"{row.language} {row.kind}")


def knows_its_own(row):
    assert form_of(row).search(row.example)
    assert not form_of(row).search(row.near_miss)


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ("My RTX 3060 is slow, a friend's 4090 is fast", ["NVIDIA GeForce RTX 3060"]),
        ("my 3060 gives 12 it/s, my colleague has a 4090 and gets 40", ["NVIDIA GeForce RTX 3060"]),
        ("I replaced a GTX 1080 with an RTX 4070 SUPER", ["NVIDIA GeForce RTX 4070 SUPER"]),
        ("people on reddit get 50 tok/s with a 7900 XTX, I have an RX 6800 XT", ["AMD Radeon RX 6800 XT"]),
        ("should I buy a 5090 or keep my 3090?", ["NVIDIA GeForce RTX 3090"]),
        ("Ein Kumpel hat eine 4090, ich habe eine 3070", ["NVIDIA GeForce RTX 3070"]),
        ("A friend with a 4090 gets 35 tokens.", []),
        ("much slower than my old 1080 Ti", []),
        ("benchmarks for the RTX 4090 say 100", []),
        ("朋友的4090能跑35 token/s", []),
    ],
)
def test_what_others_have_is_no_card_of_this_machine(tmp_path, words, own):
    assert names(tmp_path, words) == own


@pytest.mark.parametrize("words", ["I bought this 4090 from a friend", "my labmate wants to use my 4090", "On my 4090 at home it crashes"])
def test_a_card_of_ones_own_stays_whoever_is_named_beside_it(tmp_path, words):
    assert names(tmp_path, words) == ["NVIDIA GeForce RTX 4090"]


def test_a_card_at_home_is_not_the_one_that_a_tool_shows(tmp_path):
    shown = "ggml_metal_init: found device: Apple M3 Max\nOn my 4090 at home it is faster."
    assert names(tmp_path, shown) == ["Apple M3 Max"]


@given(st.text(alphabet="friend's with a 4090 RTX\n.,vs", max_size=200))
def test_only_blanks_take_a_cards_place(text):
    told = without_others(text)
    assert len(told) == len(text)
    assert all(mine in (theirs, " ") for mine, theirs in zip(told, text, strict=True))


@over(["RTX 4070 SUPER", "RTX 4070 Ti", "RTX 4070 Ti SUPER", "RTX 4080 SUPER", "RTX 2080 Ti", "GTX 1660 SUPER"])
def test_a_name_that_a_table_cut_is_completed_by_any_that_is_whole(model, tmp_path):
    row = f"|   0  NVIDIA GeForce {model[:8]} ...   Off | 00000000:01:00.0  On |                  N/A |\n"
    usage = "| 29%   38C    P8              9W /  125W |    241MiB /  6144MiB |      3%      Default |"
    for whole in (f"Device: cuda:0 NVIDIA GeForce {model} : native", f"I have an {model}."):
        assert names(tmp_path, row + usage + "\n" + whole) == [f"NVIDIA GeForce {model}"]


def test_cards_that_torch_counts_beside_a_list_that_was_cut_are_there_too(tmp_path):
    row = "|   0  NVIDIA L40S                    On  |   00000000:19:00.0 Off |                    0 |\n"
    counted = '$ python -c "import torch; print(torch.cuda.is_available(), torch.cuda.device_count())"\nTrue '
    assert names(tmp_path, row + counted + "4") == ["NVIDIA L40S"] * 4
    assert names(tmp_path, row + counted + "1") == ["NVIDIA L40S"]


def test_what_python_warns_of_does_not_hide_the_count_behind_it(tmp_path):
    row = "0, NVIDIA H100 80GB HBM3, 550.144.03\n"
    head = "$ nvidia-smi --query-gpu=index,name,driver_version --format=csv,noheader | head -1\n"
    warned = "/v/torch/cuda/__init__.py:129: UserWarning: CUDA initialization: odd\n  return torch._C._cuda_getDeviceCount() > 0\n"
    asked = '$ python3 -c "import torch; print(torch.cuda.device_count(), torch.cuda.is_available())"\n'
    assert names(tmp_path, head + row + asked + warned + "4 False") == ["NVIDIA H100 80GB HBM3"] * 4


_FALLEN = "$ nvidia-smi\nUnable to determine the device handle for GPU2: 0000:B1:00.0: Unknown Error\nb1:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev ff)\n"


def test_slurm_counts_the_cards_that_are_not_listed(tmp_path):
    node = "$ scontrol show node n7 | grep Gres\n   Gres=gpu:%s\n"
    assert names(tmp_path, node % "a100:4(S:0-1)" + _FALLEN) == ["A100"] * 4
    assert names(tmp_path, node % "a100:4" + node.replace("n7", "n8") % "a100:8" + _FALLEN) == ["A100"]  # whose is not told
    assert names(tmp_path, node % "h100:4" + _FALLEN) == ["A100"]  # another model
    listed = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0c77b0a1-94d3-5e4f-8a52-7f1d92ce6b30)\n"
    assert names(tmp_path, node % "a100:4" + "$ nvidia-smi -L\n" + listed) == ["NVIDIA A100-SXM4-80GB"]  # those of a job


def test_ranks_tell_of_their_cards(tmp_path):
    rank = "{host}:91:93 [{n}] NCCL INFO comm 0x7f1c rank {n} nranks 2 cudaDev {n} nvmlDev {n} busId {bus} commId 0x11 - Init COMPLETE\n"
    one, two = rank.format(host="a", n=0, bus="17000"), rank.format(host="a", n=1, bus="11c000")
    assert names(tmp_path, one + two, Gpu, "pci_address") == ["0000:17:00.0", "0001:1c:00.0"]
    assert names(tmp_path, one + two.replace("a:91", "b:91"), Gpu, "pci_address") == []
    lightning = "You are using a CUDA device ('NVIDIA H100 80GB HBM3') that has Tensor Cores.\n"
    ranks = "LOCAL_RANK: 1 - CUDA_VISIBLE_DEVICES: [0,1]\nLOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1]\n"
    assert names(tmp_path, lightning + ranks) == ["NVIDIA H100 80GB HBM3"] * 2


@over(
    [
        ('python -c "\nimport torch\nprint(torch.__version__, torch.cuda.get_device_name(0))\nx = 1"\n2.8.0+cu128 Tesla T4', "Tesla T4"),
        ("python3 - <<'E'\nimport torch\nprint(torch.cuda.get_device_name())\nE\nOrin", "Orin"),
    ]
)
def test_a_script_of_several_lines_prints_a_name(case, tmp_path):
    assert names(tmp_path, "$ " + case[0]) == [case[1]]


@over(["32.0.12033.1030", "32.0.15.7652", "31.0.21924.61"])
def test_a_drivers_version_is_no_part_of_a_cards_name(version, tmp_path):
    table = f"Name                  DriverVersion\n----                  -------------\nAMD Radeon RX 6600    {version}\n"
    assert names(tmp_path, "> Get-CimInstance Win32_VideoController | Select-Object Name, DriverVersion\n" + table) == [
        "AMD Radeon RX 6600"
    ]


@pytest.mark.parametrize(
    ("words", "model"),
    [
        ("how do i install cuda on a macbook pro m1 pro (16gb)?", ["Apple M1 Pro"]),
        ("sur mon MacBook Pro M2 Max (32 Go)", ["Apple M2 Max"]),
        ("MacBook Pro M1 Pro. It is slow.", ["Apple M1 Pro"]),
        ("1154] Metal device set to: Apple M4 Max", ["Apple M4 Max"]),
        ("a MacBook Air M2, or rather a MacBook Pro M3", []),
        ("the macbook of the m3 owner", []),
    ],
)
def test_a_macs_chip_in_a_sentence_is_read_where_it_is_the_only_one(tmp_path, words, model):
    assert names(tmp_path, words, Cpu, "model") == model
