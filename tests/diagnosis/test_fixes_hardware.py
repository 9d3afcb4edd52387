"""What the doctor tells people to do about cards."""

import pytest

from answer_data import diagnose
from rigup.steps import step_kinds


@pytest.fixture
def steps(tmp_path):
    """The steps of the ways that the first finding tells."""

    def told(body):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        return [fix["steps"] for fix in diagnose(str(tmp_path))["findings"][0]["fixes"]]

    return told


def test_the_card_of_the_kernels_line_is_reset(steps):
    body = "NVRM: Xid (PCI:0000:3b:00): 94, pid=91027, name=python3, Contained: SM (0x1). RST: No, D-RST: No\n"
    first = steps(body)[0]
    assert first[0]["commands"] == [["nvidia-smi", "--gpu-reset", "-i", "0000:3b:00.0"]]
    assert first[-1]["kind"] == "replace-card-later"


def test_a_card_without_spare_memory_is_exchanged(steps):
    assert steps("    Remapping Failure Occurred        : Yes\n")[0][0]["kind"] == "replace-card"


def test_whose_errors_they_are_is_looked_up_where_nobody_tells_it(steps):
    first = steps("RuntimeError: CUDA error: uncorrectable ECC error encountered\n")[0]
    assert first[0]["commands"][0][:3] == ["nvidia-smi", "-q", "-d"]


def test_nvidias_tool_is_not_told_for_amds_card(steps):
    body = "amdgpu 0000:c1:00.0: amdgpu: socket: 0, die: 0 1 uncorrectable hardware errors detected in umc block\n"
    assert not any(word == "nvidia-smi" for way in steps(body) for step in way for argv in step["commands"] for word in argv)


def test_the_manager_gets_the_drivers_version_where_none_is_shown(steps):
    first = steps("RuntimeError: CUDA error: system not yet initialized (error 802)\ncudaErrorSystemNotReady\n")[0]
    assert [step["kind"] for step in first] == ["fabric-manager-of-driver", "enable-service"]


def test_a_part_is_named_with_the_command_that_lists_it():
    assert step_kinds()["name-mig-device"].commands == (("nvidia-smi", "-L"),)


def test_all_cards_are_let_go_where_nobody_tells_which(steps):
    told = steps("RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable\n")
    assert any(step["commands"] == [["nvidia-smi", "-c", "0"]] for way in told for step in way)


@pytest.mark.parametrize("kind", ["raise-shared-memory", "set-kernel-argument"])
def test_a_title_leaves_the_restart_to_what_is_said_of_all_such_steps(kind):
    assert step_kinds()[kind].restart
    assert "restart" not in step_kinds()[kind].title


def test_an_argument_of_the_kernel_is_not_set_with_one_distributions_tool():
    assert not step_kinds()["set-kernel-argument"].commands


@pytest.mark.parametrize(
    ("row", "ways"),
    [
        ("|    0   N/A  N/A   3051088      C   ...envs/r/bin/python            14902MiB |", 1),
        ("kill: kill 7712 failed: no such process", 2),
    ],
)
def test_a_card_is_reset_only_for_what_no_program_holds(steps, row, ways):
    body = f"CUDA error: out of memory\n|   0  NVIDIA A100-SXM4-16GB          On  |   00000000:07:00.0 Off |                    0 |\n| N/A   34C    P0              61W / 400W |   15900MiB /  16384MiB |      0%      Default |\n{row}\n"
    kinds = [step["kind"] for way in steps(body) for step in way]
    assert kinds == (["look-at-process"] if ways == 1 else ["find-holders", "reset-gpu"])


@pytest.mark.parametrize(("kernel", "node"), [("5.15.167.4-microsoft-standard-WSL2", False), ("6.8.0-45-generic", True)])
def test_wsl_has_no_node_of_the_cards_to_ask(steps, kernel, node):
    body = f"Linux box {kernel} #1 SMP x86_64 GNU/Linux\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.10 GiB is free. Process 24188 has 19.02 GiB memory in use. Including non-PyTorch memory, this process has 3.41 GiB memory in use. Of the allocated memory 3.01 GiB is allocated by PyTorch, and 80.10 MiB is reserved by PyTorch but unallocated.\n"
    (way,) = steps(body)
    assert bool(way[0]["commands"]) is node
