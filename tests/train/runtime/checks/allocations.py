"""Arguments for the Trainer, from the variables of torchrun and Slurm."""

import torch

from rigup.torch import DeviceFacts
from rigup.train import AllocationError, allocation, trainer_args
from rigup.train.runtime.allocation import tasks_per_node
from rigup.train.runtime.precision import has_bf16


def chips(kind, isa, count):
    vendor = {"cuda": "nvidia", "rocm": "amd", "mps": "apple", "xpu": "intel"}[kind]
    name = "cuda" if kind == "rocm" else kind
    return [DeviceFacts(torch.device(name, n), kind, vendor, "", isa, has_code=True) for n in range(count)]


OLD, NEW, CARD = chips("rocm", "gfx906", 8), chips("cuda", "sm_89", 4), chips("cuda", "sm_75", 1)
STEP = {
    "SLURM_JOB_ID": "7",
    "SLURM_STEP_TASKS_PER_NODE": "4(x2)",
    "SLURM_NTASKS_PER_NODE": "4",
    "SLURM_NTASKS": "8",
    "SLURM_PROCID": "5",
    "SLURM_LOCALID": "1",
    "SLURM_GPUS_ON_NODE": "4",
    "SLURM_JOB_NUM_NODES": "2",
}
RUN = {"LOCAL_WORLD_SIZE": "4", "WORLD_SIZE": "8", "RANK": "6", "LOCAL_RANK": "2"}
BATCH = {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_LOCALID": "0", "SLURM_JOB_NUM_NODES": "1"}


def refused(words, variables, seen, **given):
    try:
        taken = trainer_args(variables=variables, chips=seen, **given)
    except AllocationError as error:
        taken = str(error)
    assert isinstance(taken, str), taken
    assert [word for word in words if word not in taken] == [], taken


def args(variables, seen, **given):
    return tuple(trainer_args(variables=variables, chips=seen, **given).values())


def test_arguments_agree_with_the_launcher():
    assert args(STEP, NEW) == ("gpu", 4, 2, "ddp", "bf16-mixed")
    assert args(RUN, NEW) == ("gpu", 4, 2, "ddp", "bf16-mixed")
    assert args(RUN, []) == ("cpu", 4, 2, "ddp", "32-true")
    assert args({**STEP, "SLURM_STEP_TASKS_PER_NODE": "8(x2)", "SLURM_NTASKS_PER_NODE": "8", "SLURM_GPUS_ON_NODE": "8"}, OLD) == (
        "gpu",
        8,
        2,
        "ddp",
        "16-mixed",
    )
    assert args(BATCH, NEW) == ("gpu", 4, 1, "ddp", "bf16-mixed")
    assert args({}, CARD) == ("gpu", 1, 1, "auto", "16-mixed")
    assert args({}, chips("mps", "", 1)) == ("mps", 1, 1, "auto", "32-true")
    assert args({}, []) == ("cpu", 1, 1, "auto", "32-true")
    assert args({}, NEW, accelerator="cpu", devices=2, precision="bf16-mixed") == ("cpu", 2, 1, "ddp", "bf16-mixed")
    assert args({}, NEW, devices=2, strategy="fsdp", precision="16-mixed") == ("gpu", 2, 1, "fsdp", "16-mixed")
    assert args({**STEP, "SLURM_STEP_TASKS_PER_NODE": "1(x2)", "SLURM_NTASKS_PER_NODE": "1"}, NEW, devices=1) == (
        "gpu",
        1,
        2,
        "ddp",
        "bf16-mixed",
    )
    single = {**STEP, "SLURM_STEP_TASKS_PER_NODE": "1", "SLURM_NTASKS_PER_NODE": "1", "SLURM_GPUS_ON_NODE": "1"}
    assert args(single, CARD)[:4] == ("gpu", 1, 1, "auto")


def test_what_does_not_agree_is_refused_with_what_to_change():
    refused(["7,1", "--ntasks-per-node"], {**STEP, "SLURM_STEP_TASKS_PER_NODE": "7,1"}, NEW)
    refused(["--ntasks-per-node=4", "bare srun"], {**STEP, "SLURM_STEP_TASKS_PER_NODE": "2"}, NEW)
    refused(["2 nodes", "srun before"], {**BATCH, "SLURM_JOB_NUM_NODES": "2"}, NEW)
    refused(["4 tasks", "srun before"], {**BATCH, "SLURM_NTASKS": "4"}, NEW)
    refused(["--gpus-per-task", "--gpus-per-node=4"], STEP, NEW[:1])
    refused(["4 processes", "2 GPUs"], {**STEP, "SLURM_GPUS_ON_NODE": "2"}, NEW[:2])
    idle = {**STEP, "SLURM_STEP_TASKS_PER_NODE": "1(x2)", "SLURM_NTASKS_PER_NODE": "1"}
    refused(["4 GPUs", "--ntasks-per-node=4"], idle, NEW)
    refused(["4 GPUs", "--ntasks-per-node=4"], {**BATCH, "SLURM_NTASKS": "1", "SLURM_GPUS_ON_NODE": "4"}, NEW)
    refused(["devices=2", "Slurm starts 4"], STEP, NEW, devices=2)
    refused(["devices=2", "torchrun starts 4", "--nproc-per-node=2"], RUN, NEW, devices=2)
    refused(["devices=8", "4 GPUs"], {}, NEW, devices=8)
    refused(["gfx906", "no bfloat16", "16-mixed"], {}, OLD, precision="bf16-mixed")
    refused(["no GPU", "rigup doctor"], {}, [], accelerator="gpu")
    refused(["xpu"], {}, chips("xpu", "", 1))
    refused(["WORLD_SIZE=7", "--nproc-per-node"], {**RUN, "WORLD_SIZE": "7"}, NEW)
    refused(["devices=0"], {}, [], devices=0)


def test_a_rank_that_is_no_number_is_refused_and_others_are_read():
    for text in ("", "x", "-1", "9" * 40, "²"):
        refused(["WORLD_SIZE"], {**RUN, "WORLD_SIZE": text}, NEW)
    job = allocation({**STEP, "SLURM_RESTART_COUNT": "2"})
    assert (job.rank, job.local_rank, job.world_size, job.restarts, job.job) == (5, 1, 8, 2, "7")
    assert allocation({**BATCH, "SLURM_GPUS_PER_NODE": "a100:4"}).gpus == 4
    assert allocation({"SLURM_JOB_ID": "no"}).launcher == ""


def test_counts_of_tasks():
    assert tasks_per_node("2(x2),1") == [2, 2, 1]
    assert tasks_per_node("4") == [4]
    assert tasks_per_node("4(x2") == tasks_per_node("") == tasks_per_node("9" * 9) == []


def test_bfloat16_is_what_the_chip_has_in_itself():
    answers = {"sm_70": False, "sm_75": False, "sm_80": True, "sm_89": True, "sm_120": True}
    assert {isa: has_bf16(chips("cuda", isa, 1)[0]) for isa in answers} == answers
    answers = {
        "gfx906": False,
        "gfx900": False,
        "gfx1030": False,
        "gfx908": True,
        "gfx90a": True,
        "gfx942": True,
        "gfx1100": True,
        "gfx1201": True,
        "": None,
    }
    assert {isa: has_bf16(chips("rocm", isa, 1)[0]) for isa in answers} == answers
    assert has_bf16(chips("mps", "", 1)[0]) is None
