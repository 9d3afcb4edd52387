"""What a rank can tell before torch, and meetings that do not come about: in this process, with sockets on loopback."""

import argparse
import importlib
import socket
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from launching import wait_for

import rigup.train.preflight as scripts
from free_ports import free_port

FOLDER = str(Path(scripts.__file__).parent)


@pytest.fixture(scope="module")
def checks():
    sys.path.insert(0, FOLDER)
    yield importlib.import_module("rigup_checks")
    sys.path.remove(FOLDER)


@pytest.fixture(scope="module")
def meeting(checks):
    return importlib.import_module("rigup_meeting")


def asked(**numbers):
    return argparse.Namespace(**{"nodes": 2, "tasks_per_node": 2, "gpus_per_node": 0, "vendor": ""} | numbers)


def of_slurm(**variables):
    return {
        "SLURM_PROCID": "1",
        "SLURM_NTASKS": "4",
        "SLURM_LOCALID": "1",
        "SLURM_NODEID": "0",
        "SLURM_STEP_TASKS_PER_NODE": "2(x2)",
    } | variables


def test_ranks_are_numbered_for_torch_and_not_as_by_torchrun(checks):
    rank = checks.Rank(of_slurm())
    assert checks.right_numbers(rank, asked()) == "4"
    assert rank.variables(2) == {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2", "NODE_RANK": "0"}
    assert "GROUP_RANK" not in rank.variables(2), "Lightning would take srun for torchrun"


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"SLURM_NTASKS": "3"}, "3 ranks run and 4 were asked for"),
        ({"SLURM_STEP_TASKS_PER_NODE": "3,1"}, "spread over nodes as 3,1"),
        ({"SLURM_PROCID": None}, "without srun or torchrun"),
    ],
)
def test_numbers_that_do_not_agree_are_told_of(checks, variables, says):
    settings = {name: value for name, value in of_slurm(**variables).items() if value is not None}
    with pytest.raises(checks.Refused, match=says):
        checks.right_numbers(checks.Rank(settings), asked())


@given(some.text(max_size=30))
def test_any_text_may_stand_for_the_spread(text):
    sys.path.insert(0, FOLDER)
    try:
        assert all(count >= 0 for count in importlib.import_module("rigup_checks").spread_of(text))
    finally:
        sys.path.remove(FOLDER)


@pytest.mark.parametrize(
    ("variables", "vendor", "harm"),
    [
        ({"ROCR_VISIBLE_DEVICES": "4,5", "HIP_VISIBLE_DEVICES": "4,5"}, "amd", True),
        ({"ROCR_VISIBLE_DEVICES": "1", "CUDA_VISIBLE_DEVICES": "1"}, "", True),
        ({"ROCR_VISIBLE_DEVICES": "4,5", "HIP_VISIBLE_DEVICES": "0,1"}, "amd", False),
        ({"ROCR_VISIBLE_DEVICES": "4,5"}, "amd", False),
        ({"ROCR_VISIBLE_DEVICES": "4,5", "CUDA_VISIBLE_DEVICES": "4,5"}, "nvidia", False),
        ({"CUDA_VISIBLE_DEVICES": "4,5"}, "", False),
    ],
)
def test_a_second_mask_harms_where_it_chooses_what_the_first_left_out(checks, variables, vendor, harm):
    if harm:
        with pytest.raises(checks.Refused, match=r"leave \w+ unset"):
            checks.single_mask(variables, vendor)
    else:
        checks.single_mask(variables, vendor)


def test_an_interface_is_found_by_its_address(checks):
    name = checks.interface_of("127.0.0.1")
    assert name in {name for _index, name in socket.if_nameindex()}
    assert checks.interface_of("203.0.113.7") == ""
    assert checks.interface_variables("eth0", {"GLOO_SOCKET_IFNAME": "mine"}) == {"NCCL_SOCKET_IFNAME": "=eth0"}
    assert checks.interface_variables("", {}) == {}


def met(meeting, checks, messages, world, word="job"):
    """The verdict on a meeting with these messages. A rank that does not come is waited for only where that is what is tried."""
    port = free_port()
    room = meeting.Meeting(port, world, "job")
    voices = []
    for rank, node, own, more in messages:
        numbered = checks.Rank(of_slurm(SLURM_PROCID=str(rank), SLURMD_NODENAME=node))
        voices.append(meeting.Voice(numbered, "127.0.0.1", port, word))
        voices[-1].send("hello", own, **more)
    if len(messages) < world:  # what was sent has to be here before the time is over
        seen_all = [voice.rank.rank for voice in voices] if word == "job" else []
        wait_for(lambda: all(rank in room.gather("hello", 0.0) for rank in seen_all))
    verdict = meeting.judged(room, "hello", 1.0 if len(messages) < world or word != "job" else 60.0, "")
    verdicts = [voice.hear(10) for voice in voices] if word == "job" else []
    assert all(received == verdict for received in verdicts)
    room.close()
    for voice in voices:
        voice.close()
    return verdict


def test_all_ranks_meet(meeting, checks, capsys):
    assert met(meeting, checks, [(0, "n1", [], {}), (1, "n1", [], {})], 2)["passed"]
    assert capsys.readouterr().err == ""


def test_who_does_not_come_is_named(meeting, checks, capsys):
    assert not met(meeting, checks, [(0, "n1", [], {}), (2, "n2", [], {})], 3)["passed"]
    assert "rank 1 did not come to the meeting within 1 s; the others, on n1, n2, did" in capsys.readouterr().err


def test_what_failed_on_one_rank_ends_all_with_its_cause(meeting, checks, capsys):
    wrong = {"check": "visibility-not-doubled", "passed": False, "because": "two masks", "rank": 1, "node": "n2"}
    assert not met(meeting, checks, [(0, "n1", [], {}), (1, "n2", [wrong], {})], 2)["passed"]
    assert capsys.readouterr().err == "rigup pre-flight: visibility-not-doubled: rank 1 on n2: two masks\n"


def test_ranks_that_share_a_gpu_or_a_number(meeting, checks, capsys):
    assert not met(meeting, checks, [(0, "n1", [], {"device": "a"}), (1, "n1", [], {"device": "a"})], 2)["passed"]
    assert "ranks 0 and 1 have the same device (a)" in capsys.readouterr().err
    assert met(meeting, checks, [(0, "n1", [], {"device": "a"}), (1, "n2", [], {"device": "a"})], 2)["passed"]
    assert not met(meeting, checks, [(0, "n1", [], {}), (0, "n1", [], {})], 2)["passed"]
    assert "two processes call themselves rank 0" in capsys.readouterr().err


def test_who_does_not_know_the_word_is_not_heard(meeting, checks, capsys):
    assert not met(meeting, checks, [(0, "n1", [], {})], 1, word="other")["passed"]
    assert "rank 0 did not come" in capsys.readouterr().err


def test_who_comes_after_the_end_hears_of_it(meeting, checks, capsys):
    """A rank that is slower than the verdict is told it, and does not take rank 0 for lost."""
    room = meeting.Meeting(free_port(), 2, "job")
    port = room._socket.getsockname()[1]
    wrong = {"check": "visibility-not-doubled", "passed": False, "because": "two masks", "rank": 1, "node": "n2"}
    verdict = {}
    for number, own in ((1, [wrong]), (0, [])):
        voice = meeting.Voice(checks.Rank(of_slurm(SLURM_PROCID=str(number))), "127.0.0.1", port, "job")
        voice.send("hello", own)
        verdict = verdict or meeting.judged(room, "hello", 60.0, "")
        assert voice.hear(60) == verdict
        voice.close()
    room.close()
    assert capsys.readouterr().err == "rigup pre-flight: visibility-not-doubled: rank 1 on n2: two masks\n"


def test_hostile_lines_do_not_end_a_meeting(meeting, checks):
    port = free_port()
    room = meeting.Meeting(port, 1, "job")
    for line in (b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"{}\n", b'{"word": "job", "rank": "x"}\n', b"x" * 2_000_000, b""):
        with socket.create_connection(("127.0.0.1", port)) as stranger:
            try:
                stranger.sendall(line)
                stranger.shutdown(socket.SHUT_WR)
            except OSError:
                continue
    voice = meeting.Voice(checks.Rank(of_slurm(SLURM_PROCID="0")), "127.0.0.1", port, "job")
    threading.Thread(target=meeting.judged, args=(room, "hello", 10.0, "")).start()
    voice.send("hello", [])
    assert voice.hear(20)["passed"]
    voice.close()
    room.close()


def test_a_port_that_another_program_has(meeting, checks):
    with (
        socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True) as other,
        pytest.raises(checks.Refused, match="another program of the node has it"),
    ):
        meeting.Meeting(other.getsockname()[1], 1, "job")


def test_nobody_answers(meeting, checks, monkeypatch):
    monkeypatch.setattr(meeting, "MEET", 0.3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(checks.Refused, match=r"nobody answers at 127\.0\.0\.1 port"):
            meeting.Voice(checks.Rank(of_slurm()), "127.0.0.1", free.getsockname()[1], "job")
