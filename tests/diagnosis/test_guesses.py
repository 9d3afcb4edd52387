"""When the doctor guesses: of a pasted complaint that no rule decides, and of nothing else."""

import subprocess
import sys
from pathlib import Path

import pytest

from answer_data import diagnose
from rigup.diagnosis.judge import usual
from rigup.machine.look import look
from rigup.machine.sources import open_source

COMPLAINT = (
    "In the terminal my script finds the graphics card. In a notebook the same lines do not find it.\n"
    "I have installed the package again in my shell, twice. Where should I look?\n"
)
LOADED = "import rigup.diagnosis.answer as a; a.diagnose(); from rigup.knowledge import text_classifier; print(text_classifier._model.cache_info().currsize)"
OUTPUTS = Path(__file__).parents[2] / "learning" / "outputs"
EVERY = 4  # text of the outputs is tried, for the time that it takes
LEFT_ALONE_OF = 0.9  # of the sound machines' outputs, at least
NAMED_OF = 0.75  # of the others, at least: the weights have learned from these, a little


def outputs(cause):
    return (OUTPUTS / f"{cause}.txt").read_text(encoding="utf-8").split("\n----\n")[::EVERY]


@pytest.fixture
def told(tmp_path):
    def of(text):
        (tmp_path / "post.txt").write_text(text, encoding="utf-8")
        return diagnose(str(tmp_path / "post.txt"))

    return of


_UNKNOWN = 'error: could not compile `sched` (bin "sched") due to 1 previous error\n'


def test_a_complaint_that_nothing_decides_is_guessed_at(told):
    answer = told(COMPLAINT)
    first = answer["findings"][0]
    assert (first["cause"], first["confidence"], first["guess"]) == ("jupyter-kernel-other-env", "possible", True)
    assert first["evidence"][0]["value"] in COMPLAINT
    assert first["make_sure"]
    assert first["mends"]
    assert not first["fixes"], "words choose no version and no vendor"
    assert answer["near"] == []


def test_what_a_rule_decides_is_not_guessed_at(told):
    answer = told(COMPLAINT + "\nFailed to initialize NVML: Driver/library version mismatch\n")
    assert not any(finding["guess"] for finding in answer["findings"])


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("RuntimeError: No CUDA GPUs are available\n", "cuda-visible-devices-wrong"),
        ("AssertionError: Megatron requires CUDA.\n", "cpu-only-torch"),
        ("E: Unable to locate package linux-headers-6.8.0-31-generic\n", "kernel-module-not-built"),
    ],
)
def test_of_a_message_that_decides_nothing_the_usual_cause_is_possible(message, cause, told):
    first = told(message)["findings"][0]
    assert (first["cause"], first["confidence"]) == (cause, "possible")


def test_where_more_is_told_the_usual_cause_is_left_to_the_rules(tmp_path):
    text, message = tmp_path / "said.txt", "RuntimeError: No CUDA GPUs are available\n"
    text.write_text(message)
    assert [finding.cause for finding in usual(look(open_source(str(text)), False), ())]
    text.write_text(message + "$ ls -l /dev/nvidia0\ncrw-rw-rw- 1 root root 195, 0 Mar 14 08:21 /dev/nvidia0\n")
    assert not usual(look(open_source(str(text)), False), ())


def test_what_a_text_rules_out_is_not_guessed_at(told):
    report = "        DevCap2: Completion Timeout: Range ABCD, TimeoutDis+ NROPrPrP- LTR+\n                 AtomicOpsCap: 32bit+ 64bit+ 128bitCAS-\n"
    causes = [finding["cause"] for finding in told(report + "        DevCtl2: LTR+ OBFF Disabled, AtomicOpsCtl: ReqEn+\n")["findings"]]
    assert "pcie-atomics-missing" not in causes


def test_a_question_is_no_complaint(told):
    answer = told("Which notebook server do you like best for a machine with two graphics cards?\n")
    assert answer["findings"] == []
    assert answer["near"] == []


def test_a_complaint_is_never_told_that_nothing_is_wrong(told):
    answer = told("$ nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-1b6f3c52-7a10-4b7e-9a55-0c2d9f1e8a44)\nIt does not work.\n")
    assert answer["verdict"] != "healthy"


def test_a_cause_of_another_system_is_not_guessed(told):
    failed = """  File "{}/lib/python3.12/site-packages/torch/cuda/__init__.py", line 403, in _lazy_init
    raise AssertionError("Torch not compiled with CUDA enabled")
AssertionError: Torch not compiled with CUDA enabled
"""
    mac, other = (told(failed.format(path)) for path in ("/Users/ada/tools/.venv", "/home/ada/tools/.venv"))
    assert "cpu-only-torch" in [finding["cause"] for finding in other["findings"]]
    assert "cpu-only-torch" not in [finding["cause"] for finding in mac["findings"]]
    assert "cpu-only-torch" not in mac.get("near", [])


def test_a_machine_that_is_asked_itself_is_not_guessed_at():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "0", "the weights are not even read"


def loud(answer):
    return [finding["cause"] for finding in answer["findings"] if finding["severity"] != "note"]


@pytest.mark.slow
def test_outputs_of_sound_machines_are_left_alone(told):
    sound = outputs("healthy")
    assert sum(not loud(told(text)) for text in sound) >= LEFT_ALONE_OF * len(sound)


@pytest.mark.slow
def test_what_ails_a_machine_is_named_from_its_output_alone(told):
    texts = [(path.stem, text) for path in sorted(OUTPUTS.glob("*.txt")) for text in outputs(path.stem)[:2]]
    named = [loud(told(text))[:1] == [cause] for cause, text in texts if cause != "healthy"]
    assert sum(named) >= NAMED_OF * len(named)


def test_a_guess_stands_before_what_is_only_possible_if_more_speaks_for_it(told):
    answer = told(
        "MES_KIQ feature version: 6, firmware version: 0x0000006c\n1 agent found, linux-firmware 20250311\n"
        "Memory access fault by GPU node-1 (Agent handle: 0x5581) on address (nil). "
        "Reason: Page not present or supervisor privilege.\n"
    )
    first, second = answer["findings"][:2]
    assert (first["cause"], first["guess"]) == ("amd-firmware-regression", True)
    assert (second["confidence"], second["guess"]) == ("possible", False)


@pytest.mark.parametrize(
    ("asked", "named"), [("", False), ("Please help, how do I fix this?\n", True)], ids=["nobody asks", "somebody asks"]
)
def test_the_nearest_are_told_to_who_asks_for_help(told, asked, named):
    answer = told(asked + _UNKNOWN)
    assert not answer["findings"]
    assert bool(answer["near"]) is named
