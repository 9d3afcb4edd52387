"""What somebody believes of an output is answered as a question is; where nobody says anything only what decides is told, under another head."""

import pytest
from click.testing import CliRunner

from answer_data import diagnose
from rigup.cli import main

MAC = ">>> torch.cuda.is_available()\nFalse\n>>> torch.backends.mps.is_available()\n{mps}\n"
SLURM = """\
$ cat slurm-1.out
SLURM_JOB_ID=1 CUDA_VISIBLE_DEVICES=0
GPU 0: NVIDIA L40S (UUID: GPU-91b0c2d4-55aa-8f1e-0b1c-7f00a1b2c3d4)
$ cat slurm-2.out
SLURM_JOB_ID=2 CUDA_VISIBLE_DEVICES=0
GPU 0: NVIDIA L40S (UUID: GPU-{second}-55aa-8f1e-0b1c-7f00a1b2c3d4)
"""
PODS = """\
NAME    READY   STATUS    RESTARTS   AGE
tgi-0   1/1     Running   {restarts}          14m
  Warning  Unhealthy  11m (x18 over 14m)   kubelet  Startup probe failed: Get "http://10.1.4.22:80/health": connection refused
"""
LINK = "pstate, pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, pcie.link.width.max\nP8, 1, 4, 16, 16\nP2, {gen}, 4, 16, 16\n"
VULKAN = (
    "ggml_vulkan: 0 = AMD Radeon RX 580 (RADV POLARIS10) (radv) | uma: 0 | fp16: 0 | warp size: 64 | int dot: 0 | matrix cores: {cores}\n"
)
SHOWN = [
    ("cuda-false-beside-another-device", MAC, {"mps": "True"}, {"mps": "False"}),
    ("cards-that-each-job-counts", SLURM, {"second": "07aa31fe"}, {"second": "91b0c2d4"}),
    ("probe-that-failed-before-ready", PODS, {"restarts": "0"}, {"restarts": "7"}),
    ("idle-clocks-and-links", LINK, {"gen": "4"}, {"gen": "1"}),
    ("line-of-ggml-vulkan", VULKAN, {"cores": "none"}, {"cores": "KHR_coopmat"}),
]


@pytest.fixture
def paste(tmp_path):
    def written(text):
        (tmp_path / "said.txt").write_text(text, "utf-8")
        return str(tmp_path)

    return written


@pytest.mark.parametrize(("row", "form", "as_described", "otherwise"), SHOWN, ids=[row[0] for row in SHOWN])
def test_an_output_that_decides_is_explained_though_nobody_asks(paste, row, form, as_described, otherwise):
    (answer,) = diagnose(paste(form.format(**as_described)))["answers"]
    assert (answer["id"], answer["asked"], answer["outright"]) == (row, "", False)
    assert diagnose(paste(form.format(**otherwise)))["answers"] == []


@pytest.mark.parametrize(
    "belief",
    [
        "Both jobs print 0, so they share one card.",
        "Beide Jobs melden 0, vermutlich teilen sie sich die Karte.",
        "Обе задачи печатают 0, похоже, карта одна на двоих.",
        "两个任务都是 0，感觉用的是同一张卡。",
        "Los dos trabajos dicen 0, creo que comparten la GPU.",
    ],
)
def test_what_somebody_believes_is_answered_under_a_head_of_its_own(paste, belief):
    source = paste(f"{belief}\n\n{SLURM.format(second='07aa31fe')}")
    (answer,) = diagnose(source)["answers"]
    assert answer["asked"] == belief
    told = CliRunner().invoke(main, ["--lang", "en", "doctor", "--from", source]).output
    assert "On what was said" in told
    assert "What was asked" not in told
    assert "Worth knowing" not in told


def test_a_question_is_answered_under_its_own_head(paste):
    source = paste(f"Do both jobs share one GPU?\n\n{SLURM.format(second='07aa31fe')}")
    told = CliRunner().invoke(main, ["doctor", "--from", source], env={"LANG": "C"}).output
    assert "What was asked" in told
    assert "Worth knowing" not in told


@pytest.mark.parametrize(
    "line",
    [
        "[rank0]:[W612 11:48:52.093 ProcessGroupNCCL.cpp:1479] Warning: destroy_process_group() was not called, which can leak resources.",
        "/x/data_connector.py:425: The 'train_dataloader' does not have many workers which may be a bottleneck.",
        "  operator: aten::geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)",
    ],
)
def test_a_line_of_a_log_asks_nothing(paste, line):
    assert diagnose(paste(f"{line}\nloss: 2.1174\nloss: 1.4820\nloss: 1.1937\n"))["answers"] == []


FULL = """\
| N/A   36C    P0            118W /  700W |   72914MiB /  81559MiB |      0%      Default |
|  No running processes found                                                             |
INFO 10-02 11:20:40 [gpu_model_runner.py:2338] Model loading took 14.99 GiB and 4.112 seconds
INFO 10-02 11:20:41 [gpu_worker.py:298] Available KV cache memory: {cache} GiB
INFO 10-02 11:20:41 [kv_cache_utils.py:864] GPU KV cache size: 452,848 tokens
INFO:     Application startup complete.
"""


@pytest.mark.parametrize(("cache", "adds_up"), [("54.10", True), ("30.10", False)])
def test_an_engine_that_answers_holds_its_own_memory(paste, cache, adds_up):
    answer = diagnose(paste(f"Is this a memory leak?\n\n{FULL.format(cache=cache)}"))
    assert not [one for one in answer["findings"] if one["severity"] != "note"]
    (told,) = (one["answer"] for one in answer["answers"] if one["id"] == "memory-that-vllm-takes")
    assert told.startswith("It is no leak")
    assert ("together" in told) is adds_up


def test_whether_something_is_broken_gets_no_first(paste):
    whisper = "UserWarning: FP16 is not supported on CPU; using FP32 instead"
    told = diagnose(paste(f"Is something broken here? I have no graphics card at all.\n\n>>> torch.__version__\n'2.8.0+cpu'\n{whisper}"))
    assert told["verdict"] == "healthy"
    assert told["answers"][0]["answer"].startswith("No: ")
    assert not any("broken" in one["id"] for one in diagnose(paste(f"Is the card broken?\n\n{whisper}"))["answers"])
