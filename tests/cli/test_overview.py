"""The lines of what was looked at: each thing has one, and its mark is true."""

import io

import click
import pytest
from msgspec import structs

from packs import machine_folder
from rigup.cli.overview import ASIDE, BAD, GOOD, OPEN, WEAK, overview
from rigup.cli.report import marks, text
from rigup.diagnosis.answer import diagnose
from rigup.schemas.doctor import FailedVerification
from rigup.schemas.shared import Finding


def lines(folder, verbose=0):
    return overview(diagnose(str(folder)), verbose)


def of(told, title):
    return [line for line in told if line.title.startswith(title)]


def test_a_healthy_machine_shows_each_thing_with_a_good_mark():
    told = lines(machine_folder("nvidia-workstation"))
    assert [line.title for line in told] == ["System", "GPU 0", "Containers", "Environment", "Notebooks"]
    assert {line.mark for line in told} == {GOOD}
    assert "driver nvidia 550.120 (CUDA 12.4)" in of(told, "GPU")[0].facts
    assert "torch 2.5.1+cu124" in of(told, "Environment")[0].facts


def test_cards_alike_share_a_line_and_have_their_own_where_more_is_asked():
    folder = machine_folder("rhel-h100-hgx")
    (line,) = of(lines(folder), "GPU")
    assert line.facts[0].startswith("8 × ")
    assert len(of(lines(folder, 1), "GPU")) == 8


SMI = """
========================= ROCm System Management Interface =========================
Device  [Model : Revision]    Temp    Power  Partitions      SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%
        Name (20 chars)       (Edge)  (Avg)  (Mem, Compute)
====================================================================================
"""
ROW = "{index}       [0x0b0c : 0x00]       45.0c   89.0W  N/A, N/A        800Mhz  1600Mhz  0%   auto  560.0W    0%   0%\n        {name}\n"


def test_cards_of_two_dies_are_told_from_the_gpus_that_are_counted(tmp_path):
    for name, cards in (("AMD Instinct MI250X", True), ("AMD Instinct MI210", False)):
        (tmp_path / "smi.txt").write_text(SMI + "".join(ROW.format(index=index, name=name) for index in range(4)), "utf-8")
        (line,) = of(lines(tmp_path), "GPU")
        assert ("2 cards of 2 GPUs each" in line.facts) is cards


def test_a_scheduler_has_its_line():
    assert "Slurm" in of(lines(machine_folder("slurm-a40")), "Scheduler")[0].facts[0]


def test_no_gpu_is_told_where_somebody_looked():
    assert of(lines(machine_folder("cpu-server")), "GPU")[0].facts == ("none in this machine",)


def test_the_bad_mark_is_at_what_has_to_be_mended_and_not_at_the_card_that_waits_for_it(tmp_path):
    (tmp_path / "out.txt").write_text(
        "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n"
        "$ python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'\n2.5.1+cpu False\n"
    )
    (card,), (environment,) = (of(lines(tmp_path), title) for title in ("GPU", "Environment"))
    assert (card.mark, environment.mark) == (GOOD, BAD)
    assert card.state == "kept from its work: cpu-only-torch"


def marks_of(tmp_path, text):
    (tmp_path / "out.txt").write_text(text)
    return {line.title: (line.mark, line.facts) for line in lines(tmp_path)}


def test_the_system_has_a_bad_mark_where_it_is_what_is_wrong(tmp_path):
    told = marks_of(
        tmp_path, "PS C:\\> wsl -l -v\n  NAME      STATE      VERSION\n* Ubuntu    Running    1\n$ uname -r\n4.4.0-22621-Microsoft\n"
    )
    assert told["System"][0] == BAD


def test_a_python_for_another_processor_has_a_bad_mark(tmp_path):
    asked = '% which python3\n/usr/local/bin/python3\n% python3 -c "import platform; print(platform.machine())"\nx86_64\n'
    refused = "ERROR: Could not find a version that satisfies the requirement torch==2.6.0 (from versions: 2.1.0, 2.2.2)\n"
    told = marks_of(tmp_path, "% sysctl -n machdep.cpu.brand_string\nApple M3\n" + asked + "% pip install torch==2.6.0\n" + refused)
    assert told["Environment"][0] == BAD


def test_a_container_that_was_started_is_not_the_system(tmp_path):
    run = "$ podman run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi -L\nError: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all\n"
    told = marks_of(tmp_path, run)
    assert "System" not in told
    assert told["Containers"] == (BAD, ("podman",))


def test_cards_of_which_nobody_says_the_name_are_expected_to_work_where_nccl_has_joined_them(tmp_path):
    rank = "a:91:93 [0] NCCL INFO comm 0x7f1c rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId 17000 commId 0x11 - Init COMPLETE\n"
    assert marks_of(tmp_path, rank)["GPU 0"][0] in (GOOD, OPEN)


def test_a_card_that_computes_wrong_in_the_type_in_use_is_not_marked_as_good(tmp_path):
    said = "modules.devices.NansException: A tensor with all NaNs was produced in Unet.\n"
    told = marks_of(tmp_path, "GPU 0: NVIDIA GeForce GTX 1650 (UUID: GPU-e1a7d204-9c3b-47f8-b560-18d2f7ac3e11)\n" + said)
    assert told["GPU 0"][0] == WEAK


def test_a_chip_that_torch_does_not_serve_is_neither_good_nor_bad(tmp_path):
    (tmp_path / "out.txt").write_text("00:02.0 VGA compatible controller: Intel Corporation HD Graphics 530 (rev 06)\n")
    (card,) = of(lines(tmp_path), "GPU")
    assert card.mark == ASIDE
    assert card.state.startswith("not used by torch: ")


def test_a_hot_card_is_marked_as_one_that_works_less_well(tmp_path):
    slowed = (
        "    Clocks Event Reasons\n        HW Slowdown                       : Active\n            HW Thermal Slowdown           : Active\n"
    )
    assert marks_of(tmp_path, "name, temperature.gpu\nTesla P40, 93\n" + slowed)["GPU 0"][0] == WEAK


def test_the_environment_of_tensorflow_has_the_bad_mark_where_its_build_is_the_fault(tmp_path):
    shown = "PS C:\\> nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 4060 (UUID: GPU-7d3a9c10-88f2-0b6e-4c57-e1a2b95d3f64)\n"
    asked = ">>> import tensorflow as tf\n>>> tf.__version__\n'2.19.0'\n>>> tf.config.list_physical_devices('GPU')\n[]\n"
    told = marks_of(tmp_path, shown + asked)
    assert (told["GPU 0"][0], told["Environment"][0]) == (GOOD, BAD)


def test_where_somebody_complains_nothing_is_marked_as_good_unseen(tmp_path):
    (tmp_path / "out.txt").write_text(
        "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-00000000-0000-0000-0000-000000000001)\n"
        "It does not work, what is wrong with my GPU? Please help.\nTraceback (most recent call last):\nValueError: odd\n"
    )
    answer = diagnose(str(tmp_path))
    assert answer.verdict == "unknown"
    assert of(overview(answer), "GPU")[0].mark == OPEN


def test_a_failed_verification_marks_its_environment():
    answer = diagnose(str(machine_folder("nvidia-workstation")))
    failed = FailedVerification(
        environment="/home/ada/venv",
        device="",
        framework="torch",
        build="2.5.1",
        failed="matmul",
        date="2026-11-01",
        asked=True,
        next="rigup verify /home/ada/venv",
    )
    line = of(overview(structs.replace(answer, failed_verifications=[failed])), "Environment")[0]
    assert line.mark == BAD
    assert "matmul" in line.state


def test_a_warning_about_a_card_marks_it_as_weak():
    answer = diagnose(str(machine_folder("nvidia-workstation")))
    finding = Finding(
        severity="warning",
        cause="cuda-device-order-differs",
        subject=answer.machine.accelerators[0].pci_address,
        title="",
        evidence=[],
        place="",
        confidence="certain",
        guess=False,
        because="",
        make_sure="",
        in_vain="",
        explains=[],
        mends="",
        fixes=[],
    )
    assert of(overview(structs.replace(answer, findings=[finding])), "GPU")[0].mark == WEAK


@pytest.mark.parametrize(("encoding", "sign"), [("utf-8", "✓"), ("ascii", "ok"), ("cp1252", "ok"), ("koi8-r", "ok")])
def test_a_terminal_without_signs_gets_letters(encoding, sign, monkeypatch):
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), encoding))
    assert click.unstyle(marks()[GOOD]).startswith(sign)


def test_a_healthy_report_fits_a_screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    told = text(diagnose(str(machine_folder("nvidia-workstation")))).splitlines()
    assert len(told) <= 24


def test_the_command_stands_before_the_reasons(tmp_path):
    (tmp_path / "out.txt").write_text("RuntimeError: CUDA error: device-side assert triggered\n")
    told = text(diagnose(str(tmp_path)))
    places = [told.index(label) for label in ("Mend:", "Why:", "Seen:", "In vain:")]
    assert places == sorted(places)


def test_evidence_quotes_the_answer_and_not_the_prompt(tmp_path):
    (tmp_path / "out.txt").write_text(">>> llama_cpp.llama_supports_gpu_offload()\nFalse\n")
    (finding,) = diagnose(str(tmp_path)).findings
    assert [line.value for line in finding.evidence] == ["llama_supports_gpu_offload()\nFalse"]


def test_a_kernel_whose_interpreter_is_gone_has_a_bad_mark_and_tells_what_to_do():
    told = diagnose(str(machine_folder("nvidia-workstation")))
    old = {"name": "old", "shown": "Old one", "python": "/home/ada/old/bin/python", "gone": True}
    kernels = [*(told.machine.jupyter_kernels or ()), old]
    machine = structs.replace(told.machine, jupyter_kernels=kernels)
    good, bad = of(overview(structs.replace(told, machine=machine), 0), "Notebooks")
    assert (good.mark, bad.mark) == (GOOD, BAD)
    assert "Old one" not in " ".join(good.facts)
    assert "jupyter kernelspec remove old" in bad.facts[0]
