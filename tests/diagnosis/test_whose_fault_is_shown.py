"""Which card, which interface, which rank and which time a text speaks of; each from both sides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer_data import diagnose
from rigup.machine.kinds import Gpu
from rigup.machine.readers.nvidia_query import nvidia_report
from rigup.machine.texts import Text

ECC = """{command}
==============NVSMI LOG==============
Driver Version                            : 580.95.05
GPU 00000000:{bus}:00.0
    ECC Errors
        Volatile
            DRAM Uncorrectable            : 2
    Remapped Rows
        Uncorrectable Error               : 8
        Pending                           : No
        Remapping Failure Occurred        : Yes
$ nvidia-smi --query-gpu=index,memory.used,temperature.gpu --format=csv,noheader
0, 4 MiB, 34
1, 4 MiB, 36
2, 4 MiB, 35
RuntimeError: CUDA error: uncorrectable ECC error encountered
"""
LIST = "$ nvidia-smi -L\n{rows}$ sudo dmesg | grep Xid\n[ 9.1] NVRM: Xid (PCI:0000:{bus}:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
ROW = "GPU {number}: NVIDIA L40S (UUID: GPU-{number}f1b0b0c-5f2a-9a3e-6d47-6f0b4a3d1c90)\n"
LOST = "Unable to determine the device handle for GPU{number}: 0000:{bus}:00.0: Unknown Error\n"
NCCL = """$ torchrun --nnodes 2 --node-rank 1 --nproc-per-node 4 --master-addr 10.3.0.1 train.py
n2:411:411 [0] NCCL INFO Bootstrap: Using {name}:{address}<0>
n2:411:411 [0] misc/socket.cc:578 NCCL WARN socketPollConnect: connect to {address}<38419> returned {why}, exceeded error retry count after 35 attempts
torch.distributed.DistBackendError: NCCL error in: NCCLUtils.cpp:94, remote process exited or there was a network error, NCCL version 2.27.5
$ ip -br -4 addr
lo               UNKNOWN        127.0.0.1/8
{name}           UNKNOWN        {address}/24
eno2             UP             10.3.0.2/24
"""
WAITED = "[rank{rank}]:[E318 02:41:09.1 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={number}, OpType={operation}, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for 600024 milliseconds before timing out.\n"
ONE_RANK = "if rank == 0:\n    with FSDP.state_dict_type(model, FULL):\n        sd = model.state_dict()\n    torch.save(sd, path)\n"
DEEPSPEED = "    if dist.get_rank() == 0:  # once\n        print('saving')\n        model_engine.save_checkpoint(out, step)\n"
MISMATCH = "$ nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.172\n"
ANSWERS = "$ uptime -p; nvidia-smi --query-gpu=index,name,driver_version,memory.used --format=csv\nup 3 minutes\nindex, name, driver_version, memory.used [MiB]\n0, NVIDIA L4, 570.172.08, 1 MiB\n"


def answer(tmp_path, body):
    (tmp_path / "paste.txt").write_text(body, encoding="utf-8")
    return diagnose(str(tmp_path / "paste.txt"))


def broken(shown):
    return [card["index"] for card in shown["machine"]["accelerators"] if card["state"] == "no"]


def finding_of(shown, cause):
    return next(one for one in shown["findings"] if one["cause"] == cause)


def titles(finding):
    return " / ".join(way["title"] for way in finding["fixes"])


@pytest.mark.parametrize(
    ("command", "bus", "card"),
    [("$ nvidia-smi -i 2 -q -d ECC", "81", 2), ("# nvidia-smi -q --id=1 -d ECC,ROW_REMAPPER", "C1", 1), ("$ nvidia-smi -q -i 0", "01", 0)],
)
def test_a_report_that_was_asked_of_one_card_is_of_that_card(tmp_path, command, bus, card):
    assert broken(answer(tmp_path, ECC.format(command=command, bus=bus))) == [card]


@given(st.text(alphabet="-i0123456789, =qdnvidsm\n", max_size=60))
def test_the_card_of_a_report_is_a_number_that_its_command_names(command):
    text = Text("a.txt", f"$ nvidia-smi {command}\nNVSMI LOG\nGPU 00000000:81:00.0\n    Product Name : NVIDIA L4\n")
    for gpu in nvidia_report(text):
        if isinstance(gpu, Gpu) and gpu.knows("nvml_index"):
            assert str(gpu.nvml_index) in command


@pytest.mark.parametrize(("number", "bus"), [(1, "41"), (2, "81"), (0, "01")])
def test_a_card_without_a_handle_is_the_one_of_its_number(tmp_path, number, bus):
    rows = "".join(LOST.format(number=at, bus=bus) if at == number else ROW.format(number=at) for at in range(3))
    shown = answer(tmp_path, LIST.format(rows=rows, bus=bus))
    assert broken(shown) == [number]
    assert len(shown["machine"]["accelerators"]) == 3


def test_a_list_without_a_gap_has_no_more_cards_than_rows(tmp_path):
    shown = answer(tmp_path, "$ nvidia-smi -L\n" + ROW.format(number=0) + ROW.format(number=1))
    assert [card["index"] for card in shown["machine"]["accelerators"]] == [0, 1]


@pytest.mark.parametrize(
    ("name", "address", "why"),
    [
        ("usb0", "169.254.7.2", "Connection refused"),
        ("enx0a1b2c3d4e5f", "169.254.95.120", "Connection timed out"),
        ("virbr0", "192.168.122.1", "Connection refused"),
    ],
)
def test_an_interface_that_ends_in_the_machine_is_the_cause_and_another_is_named(tmp_path, name, address, why):
    shown = answer(tmp_path, NCCL.format(name=name, address=address, why=why))
    finding = shown["findings"][0]
    assert finding["cause"] == "multinode-wrong-interface"
    assert "NCCL_SOCKET_IFNAME" in titles(finding)
    assert all(one["cause"] != "rank-ended-first" for one in shown["findings"])


def test_the_one_interface_that_leads_out_is_named(tmp_path):
    shown = answer(tmp_path, NCCL.format(name="usb0", address="169.254.7.2", why="Connection refused"))
    assert "NCCL_SOCKET_IFNAME=eno2" in titles(shown["findings"][0])


def test_a_network_between_the_nodes_is_no_wrong_interface(tmp_path):
    shown = answer(tmp_path, NCCL.format(name="ens5", address="10.3.0.7", why="Connection refused"))
    assert all(one["cause"] != "multinode-wrong-interface" for one in shown["findings"])
    assert finding_of(shown, "rank-ended-first")


@pytest.mark.parametrize(("code", "call"), [(ONE_RANK, "FSDP.state_dict_type"), (DEEPSPEED, "model_engine.save_checkpoint")])
def test_a_call_of_all_ranks_that_one_rank_makes_is_named(tmp_path, code, call):
    body = code + "\n" + WAITED.format(rank=0, number=812, operation="_ALLGATHER_BASE")
    ways = titles(finding_of(answer(tmp_path, body), "collective-timed-out"))
    assert call in ways
    assert "longer timeout" not in ways


@pytest.mark.parametrize("operations", [("_ALLGATHER_BASE", "ALLREDUCE"), ("BROADCAST", "ALLREDUCE")])
def test_ranks_at_different_collectives_ran_different_code(tmp_path, operations):
    body = "".join(WAITED.format(rank=at, number=812, operation=one) for at, one in enumerate(operations))
    way = finding_of(answer(tmp_path, body), "collective-timed-out")["fixes"][0]["title"]
    assert all(one in way for one in operations)


def test_ranks_at_the_same_collective_are_looked_through_by_their_logs(tmp_path):
    code = "sd = get_model_state_dict(model)\nif rank == 0:\n    torch.save(sd, path)\n\n"
    body = code + "".join(WAITED.format(rank=at, number=812, operation="ALLREDUCE") for at in range(2))
    ways = titles(finding_of(answer(tmp_path, body), "collective-timed-out"))
    assert "look through the logs" in ways
    assert "condition" not in ways
    assert "longer timeout" in ways


@pytest.mark.parametrize(
    "told", ["I raised the timeout to two hours, it still hangs.", "Увеличил timeout до часа - висит час.", "把 timeout 调到两小时也没用。"]
)
def test_a_longer_timeout_that_was_tried_in_vain_is_not_offered(tmp_path, told):
    body = f"{told}\n\n" + WAITED.format(rank=0, number=812, operation="ALLREDUCE")
    assert "longer timeout" not in titles(finding_of(answer(tmp_path, body), "collective-timed-out"))


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        "Drained the box, rebooted, and:",
        "Rebooted it.",
        "Перезагрузил и:",
        "Neu gestartet:",
        "重启了：",
        "J'ai redémarré :",
        "Reinicié el servidor:",
    ],
)
def test_what_works_after_a_restart_that_is_told_is_the_present(tmp_path, words):
    shown = answer(tmp_path, f"{MISMATCH}\n{words}\n\n{ANSWERS}")
    assert all(one["severity"] != "error" for one in shown["findings"])


def test_what_still_fails_after_a_restart_stands(tmp_path):
    shown = answer(tmp_path, f"{ANSWERS}\nRebooted, and:\n\n{MISMATCH}")
    assert finding_of(shown, "nvml-driver-library-mismatch")["severity"] == "error"
