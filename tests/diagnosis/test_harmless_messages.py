"""Messages that worry people and are without consequence are named with what they mean, and only where nothing is wrong."""

import pytest

from answer_data import diagnose, typed
from each import each
from rigup.cli.page import page
from rigup.cli.report import text
from rigup.diagnosis.at_work import AT_WORK
from rigup.knowledge.doctor_tables import signatures

MEANT = [row for row in signatures() if row.meaning]
THREADS = "Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded"
OUT_OF_MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 7.78 GiB of which 1.00 GiB is free."
SKIPPED = 'level=INFO source=amd_linux.go:296 msg="unsupported Radeon iGPU detected skipping" id=1 total="512.0 MiB"'
COMPUTES = (
    'level=INFO source=types.go:130 msg="inference compute" id=GPU-5d1c07a2e8b3f964 library=rocm variant="" compute=gfx1100 '
    'driver=0.0 name=1002:744c total="24.0 GiB" available="23.2 GiB"'
)


def named(tmp_path, body):
    (tmp_path / "paste.txt").write_text(body, encoding="utf-8")
    answer = diagnose(str(tmp_path / "paste.txt"))
    return answer, {message["symptom"]: message for message in answer["harmless"]}


@pytest.mark.long
def test_each_is_named_from_its_own_example(tmp_path):
    assert len(MEANT) > 40

    def is_named(row):
        assert row.harmless or row.idle_beside
        assert row.meaning.endswith(".")
        if row.harmless and not row.idle_beside:
            answer, messages = named(tmp_path, row.example)
            loud = [finding for finding in answer["findings"] if finding["severity"] != "note"]
            assert loud == []
            assert row.id in messages
            assert messages[row.id]["said"] in row.example

    each(MEANT, is_named)


def test_the_report_and_the_page_say_what_it_means(tmp_path):
    answer, messages = named(tmp_path, f"Is this bad? My first run with two cards.\n{THREADS}\n")
    assert answer["verdict"] == "healthy"
    meaning = messages["torchrun-sets-omp-threads"]["meaning"]
    assert "the messages below (torchrun) are known" in " ".join(text(typed(answer), here=False).split())
    assert meaning[:30] in " ".join(text(typed(answer)).split())
    assert meaning[:30] in page(typed(answer))


def test_beside_what_is_wrong_it_is_not_worth_a_word(tmp_path):
    answer, messages = named(tmp_path, f"{THREADS}\n{OUT_OF_MEMORY}\n")
    assert answer["findings"]
    assert messages == {}


@pytest.mark.parametrize(
    "words",
    [
        "It prints this at each start, is my installation broken?",
        'I see a "Failed" and an error here. Should I worry?',
        "Меня смущает это предупреждение, установка сломана?",
        "是不是没装好？",
    ],
)
def test_who_worries_over_it_alone_is_told_that_all_is_well(tmp_path, words):
    answer, _messages = named(tmp_path, f"{words}\n\n{THREADS}\n")
    assert answer["verdict"] == "healthy"
    assert answer["near"] == []


@pytest.mark.parametrize(
    "beside",
    [
        "Then it hangs at the first step.",
        "Is this why it crashes?",
        "为什么训练很慢？",
        "Из-за этого всё зависает?",
        "loader: could not open the index",
        "SomeError: the shard is broken",
    ],
)
def test_beside_a_complaint_of_something_else_nothing_is_called_well(tmp_path, beside):
    answer, messages = named(tmp_path, f"It prints this.\n{THREADS}\n{beside}\n")
    assert answer["verdict"] != "healthy"
    assert "torchrun-sets-omp-threads" in messages or answer["findings"]


def test_the_same_message_said_again_in_other_words_is_no_complaint(tmp_path):
    lines = [
        f"E external/local_xla/xla/stream_executor/cuda/cuda_{name}.cc:485] Unable to register {plugin} factory: Attempting to register "
        f"factory for plugin {plugin} when one has already been registered"
        for name, plugin in (("fft", "cuFFT"), ("dnn", "cuDNN"), ("blas", "cuBLAS"))
    ]
    answer, _messages = named(tmp_path, "\n".join(["Is that bad?", *lines]))
    assert answer["verdict"] == "healthy"


@pytest.mark.long
def test_no_row_hides_what_is_wrong_beside_it(tmp_path):
    def is_left_out(row):
        answer, messages = named(tmp_path, f"{row.example}\n{OUT_OF_MEMORY}\n")
        assert [finding["cause"] for finding in answer["findings"]][:1] == ["oom-model-too-large"]
        assert messages == {}

    each([row for row in MEANT if row.harmless and row.id not in AT_WORK][::6], is_left_out)


@pytest.mark.parametrize(
    ("slow", "operator", "severity"),
    [("", "aten::nonzero", "note"), ("training is very slow\n", "aten::nonzero", "warning"), ("", "aten::lerp.Scalar_out", "warning")],
)
def test_an_operator_of_directml_on_the_processor_is_a_fault_where_it_costs(tmp_path, slow, operator, severity):
    """Speed is missed, or an optimizer pays for it at every step though it has a plain form."""
    falls_back = (
        f"UserWarning: The operator '{operator}' is not currently supported on the DML backend and will fall back to run on the CPU."
    )
    answer, _messages = named(tmp_path, f"torch-directml on a RX 6600\n{slow}{falls_back}\n")
    assert [finding["severity"] for finding in answer["findings"]] == [severity]


@pytest.mark.parametrize(("body", "is_idle"), [(f"{COMPUTES}\n{SKIPPED}\n", True), (f"{SKIPPED}\n", False)])
def test_a_graphics_chip_left_aside_is_no_fault_beside_a_card_that_computes(tmp_path, body, is_idle):
    _answer, messages = named(tmp_path, body)
    assert ("ollama-small-igpu-skipped" in messages) is is_idle


@pytest.mark.parametrize(
    ("told", "is_told"),
    [
        ("Everything works on our server w/o any GPU.", True),
        ("Everything works on a small office PC without graphics card.", True),
        ("Everything works on our server.", False),
    ],
)
def test_nvidia_smi_may_be_missing_only_where_no_card_is(told, is_told, tmp_path):
    _answer, messages = named(tmp_path, f"{told}\n\n$ nvidia-smi\nbash: nvidia-smi: command not found\n")
    assert ("nvidia-smi-missing-where-no-card-is" in messages) is is_told


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("gcsfs 2025.3.2 requires fsspec==2025.3.2, but you have fsspec 2024.9.0 which is incompatible.", True),
        ("google-colab 1.0.0 requires pandas==2.2.2, but you have pandas 2.3.0 which is incompatible.", True),
        ("torchvision 0.20.1 requires torch==2.5.1, but you have torch 2.6.0 which is incompatible.", False),
    ],
)
def test_versions_that_clash_are_no_fault_unless_they_are_of_torch(line, is_told, tmp_path):
    head = "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed."
    _answer, messages = named(tmp_path, f"{head} This behaviour is the source of the following dependency conflicts.\n{line}\n")
    assert ("pip-lists-packages-of-before" in messages) is is_told
