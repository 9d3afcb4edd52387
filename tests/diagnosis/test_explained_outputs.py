"""An output that worries people is explained in whatever words they ask, and only where it is as described."""

import pytest

from answer_data import diagnose

SLURM = """\
$ srun --gres=gpu:1 nvidia-smi -L
GPU 0: NVIDIA A40 (UUID: GPU-0a1b2c3d-1111-2222-3333-444455556666)
$ srun --gres=gpu:1 nvidia-smi -L
GPU 0: NVIDIA A40 (UUID: GPU-{second}-1111-2222-3333-444455556666)
"""
CAP = "    Clocks Event Reasons\n        SW Power Cap                      : {cap}\n            HW Thermal Slowdown           : {heat}\n"
PODS = "NAME  READY  STATUS  RESTARTS  AGE\nnvidia-cuda-validator-x2   0/1   Completed   0   9m\nnvidia-device-plugin-a1   1/1   {plugin}   0   9m\n"
LINK = "pstate, pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current\n{state}, 1, 4, 16\n"
JAX = """\
>>> jax.devices()
[CudaDevice(id=0)]
| 30%   44C    P2             71W /  300W |   {used}MiB /  24564MiB |     38%      Default |
"""
SYCL = "[level_zero:gpu][level_zero:0] Intel(R) Arc(TM) A770\n[opencl:{kind}][opencl:0] Intel(R) OpenCL Graphics, Intel(R) Arc(TM) A770\n"

SHOWN = [
    ("cards-that-each-job-counts", "Are both of us on one card?", SLURM, {"second": "ffff2c3d"}, {"second": "0a1b2c3d"}),
    ("power-cap-at-work", "Тротлинг, это брак?", CAP, {"cap": "Active", "heat": "Not Active"}, {"cap": "Active", "heat": "Active"}),
    ("pods-that-are-completed", "One pod is never ready, I'm worried.", PODS, {"plugin": "Running"}, {"plugin": "CrashLoopBackOff"}),
    ("idle-clocks-and-links", "Is the slot broken?", LINK, {"state": "P8"}, {"state": "P0"}),
    ("memory-that-jax-takes", "¿Es una fuga de memoria?", JAX, {"used": "18734"}, {"used": "934"}),
    ("card-that-sycl-lists-twice", "I bought one card and see two?", SYCL, {"kind": "gpu"}, {"kind": "cpu"}),
]


@pytest.fixture
def told(tmp_path):
    def answers(question, outputs):
        (tmp_path / "said.txt").write_text(f"{question}\n\n{outputs}", "utf-8")
        return diagnose(str(tmp_path))

    return answers


@pytest.mark.long
@pytest.mark.parametrize(("row", "question", "form", "as_described", "otherwise"), SHOWN, ids=[row[0] for row in SHOWN])
def test_an_output_is_explained_where_it_is_as_described(told, row, question, form, as_described, otherwise):
    assert row in [one["id"] for one in told(question, form.format(**as_described))["answers"]]
    assert row not in [one["id"] for one in told(question, form.format(**otherwise))["answers"]]


def test_nobody_who_does_not_ask_is_told(told):
    assert not told("Here is the log.", CAP.format(cap="Active", heat="Not Active"))["answers"]


def test_nothing_is_explained_away_where_a_program_fails(told):
    failing = "Traceback (most recent call last):\nRuntimeError: it failed\n"
    assert not told("Is the slot broken?", LINK.format(state="P8") + failing)["answers"]


@pytest.mark.parametrize(("value", "works"), [("90.5238", True), ("nan", False)])
def test_a_printed_result_of_the_gpu_is_seen_to_work(told, value, works):
    said = told("Fine?", f">>> x = torch.randn(64, 64, device='cuda'); (x @ x).std()\ntensor({value}, device='cuda:0')\n")
    assert any(one["works"] for one in said["harmless"]) is works


def test_a_warning_that_is_harmless_after_a_good_end_raises_no_guess(told):
    said = told(
        "Conda env, 4x L40S. Are my checkpoints corrupted, do the GPUs leak memory?",
        "[rank0]:[W521 10:33:02.12 ProcessGroupNCCL.cpp:1496] Warning: WARNING: destroy_process_group() was not called "
        "before program exit, which can leak resources.\n$ echo $?\n0\n",
    )
    assert said["findings"] == []
