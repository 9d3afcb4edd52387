"""Whose job is meant, what an account may ask for, what is at work, and what must not be ended: each with its neighbours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer_data import diagnose
from rigup.diagnosis.causes.everyday.slurm_request_refused import associations
from rigup.steps import step_kinds

QUEUE = (
    "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
    "             51200       gpu    llama     chen  R    7:12:40      1 gn01\n"
    "             51302       gpu  asr-pre     chen PD       0:00      2 (Resources)\n"
    "             51310       gpu   my-sft    tariq PD       0:00      1 (Priority)\n"
)
MISMATCH = "$ nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\n"
NO_XPU = (
    "UserWarning: XPU device count is zero! (Triggered internally at /pytorch/c10/xpu/XPUFunctions.cpp:115.)\n"
    "2.7.1+xpu False\nUbuntu 24.04\n"
)


@pytest.fixture
def answered(tmp_path):
    """The answer to a text."""

    def found(body):
        (tmp_path / "paste.txt").write_text(body, "utf-8")
        return diagnose(str(tmp_path))

    return found


def titles(answer):
    return [finding["title"] for finding in answer["findings"]]


def kinds(answer):
    return [[step["kind"] for step in way["steps"]] for way in answer["findings"][0]["fixes"]]


# -- whose job it is
@pytest.mark.parametrize(
    "before",
    [
        "Why does my job 51310 not start?\n$ squeue -p gpu\n",
        "[tariq@login2 ~]$ squeue -p gpu\n",
        "$ sbatch a.sh\nSubmitted batch job 51310\n$ squeue\n",
        "我的作业 51310 一直在排队\n$ squeue\n",
    ],
)
def test_the_job_of_who_asks_is_told_and_not_the_first_of_the_list(answered, before):
    assert titles(answered(before + QUEUE)) == ["The job 51310 waits: Priority"]


def test_the_planned_start_is_that_of_the_same_job(answered):
    planned = (
        "$ squeue --me --start\n             JOBID PARTITION     NAME     USER ST          START_TIME  NODES SCHEDNODES           NODELIST(REASON)\n"
        "             51310       gpu   my-sft    tariq PD 2025-05-21T19:40:00      1 gn02                (Priority)\n"
    )
    assert titles(answered("$ squeue -p gpu\n" + QUEUE + planned)) == [
        "The job 51310 waits: Priority; Slurm means to start it at 2025-05-21 19:40"
    ]


def test_where_nobody_tells_whose_is_whose_the_first_that_waits_is_told(answered):
    assert titles(answered("$ squeue -p gpu\n" + QUEUE)) == ["The job 51302 waits: Resources"]


def test_of_others_jobs_alone_nothing_is_told_to_one_whose_own_runs(answered):
    assert titles(answered("my job 51200 is slow\n$ squeue -p gpu\n" + QUEUE)) == []


# -- what an account may ask for
REFUSED = "$ sbatch train.sbatch\nsbatch: error: Batch job submission failed: "
ACCOUNTS = (
    "$ sacctmgr show assoc user=$USER format=Account,Partition,QOS%24\n   Account  Partition                      QOS \n"
    "---------- ---------- ------------------------ \n  bio_lab7                       normal,gpu_std \n"
)


@pytest.mark.parametrize(
    ("body", "option", "former"),
    [
        (
            "Invalid account or account/partition combination specified\n#SBATCH -A bio_lab2\n" + ACCOUNTS,
            "--account=bio_lab7",
            "--account=bio_lab2",
        ),
        ("Invalid qos specification\n#SBATCH --qos=long\n" + ACCOUNTS, "--qos=normal|gpu_std", "--qos=long"),
        (
            "Invalid partition name specified\n#SBATCH -p a100\n$ sinfo\nPARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\nh100*       up 2-00:00:00      6    mix gn[01-06]\n",
            "--partition=h100",
            "--partition=a100",
        ),
        (
            "Invalid account or account/partition combination specified\n#SBATCH -A bio_lab2\n$ sacctmgr -P show assoc user=ana format=account,qos\nAccount|QOS\nbio_lab7|normal\n",
            "--account=bio_lab7",
            "--account=bio_lab2",
        ),
    ],
)
def test_what_is_listed_is_said_in_place_of_what_was_refused(answered, body, option, former):
    step = answered(REFUSED + body)["findings"][0]["fixes"][0]["steps"][0]
    assert (step["kind"], step["params"]) == ("batch-option-instead", {"option": option, "former": former})


@pytest.mark.parametrize(
    "body",
    [
        "Invalid account or account/partition combination specified\n#SBATCH -A bio_lab7\n" + ACCOUNTS,
        "Invalid account or account/partition combination specified\n#SBATCH -A bio_lab2\n",
        "Invalid qos specification\n#SBATCH --qos=normal\n" + ACCOUNTS,
    ],
)
def test_what_is_allowed_or_not_listed_is_no_ground_for_another(answered, body):
    assert kinds(answered(REFUSED + body))[0] == ["list-associations"]


@given(st.text(max_size=300))
def test_any_table_of_associations_is_read(rows):
    found = associations("sacctmgr\n" + rows)
    assert all(value and len(value) <= len(rows) for values in found.values() for value in values)


# -- what must not be ended
@pytest.mark.parametrize(
    "words",
    [
        "A training that was started yesterday is still running on it.\n",
        "之前已经在跑的那个任务好像还在正常训练\n",
        "Чужое обучение на ней всё ещё идёт\n",
        "the job from before continues to run\n",
    ],
)
def test_no_way_ends_a_run_that_goes_on_unsaid(answered, words):
    assert all(way[0] == "let-work-end" for way in kinds(answered(words + MISMATCH)))


@pytest.mark.parametrize("words", ["", "The training is still to be started.\n", "I still get it after a restart.\n"])
def test_where_nothing_runs_nobody_is_told_to_wait(answered, words):
    assert not any("let-work-end" in way for way in kinds(answered(words + MISMATCH)))


def test_what_is_a_way_is_not_told_to_be_in_vain(answered):
    finding = answered(MISMATCH)["findings"][0]
    assert kinds(answered(MISMATCH)) == [["reload-driver"], ["restart-machine"]]
    assert "ending" not in finding["in_vain"]
    assert "once no work runs" in step_kinds()["reload-driver"].title


# -- a group that is held
@pytest.mark.parametrize(
    ("groups", "is_told"), [("ben adm sudo render video", False), ("ben adm sudo video", True), ("ben adm sudo", True)]
)
def test_no_group_is_missing_that_is_listed(answered, groups, is_told):
    causes = [finding["cause"] for finding in answered(f"$ id -nG\n{groups}\n" + NO_XPU)["findings"]]
    assert ("render-group-missing" in causes) == is_told


# -- the device of the card's maker
WITHOUT_XPU = "AssertionError: Torch not compiled with XPU enabled\n>>> torch.__version__\n'2.8.0+cpu'\n"


@pytest.mark.parametrize("before", ["", "Intel Arc B580, Windows 11\n", "Arc A770 on Ubuntu 24.04\n"])
def test_torch_for_intels_card_is_of_its_index_and_asked_for_its_device(answered, before):
    way = answered(before + WITHOUT_XPU)["findings"][0]["fixes"][0]
    assert way["steps"][0]["params"]["index"].endswith("/whl/xpu")
    assert way["check"]["commands"][0][-1] == "xpu"


def test_beside_a_card_of_nvidias_torch_is_asked_for_cuda(answered):
    body = ">>> torch.__version__\n'2.8.0+cpu'\n>>> torch.cuda.is_available()\nFalse\nGPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-1a2b3c4d-0000-0000-0000-000000000000)\n"
    assert answered(body)["findings"][0]["fixes"][0]["check"]["commands"][0][-1] == "cuda"


def test_what_is_asked_of_the_cause_is_answered_beside_it(answered):
    asked = "Do I need to install oneAPI?\n\n"
    assert [row["id"] for row in answered(asked + WITHOUT_XPU)["answers"]] == ["oneapi-for-torch"]
    assert answered(asked + MISMATCH).get("answers", []) == []


# -- what is seen to work
SAMPLE = "[Vector addition of 50000 elements]\nCUDA kernel launch with 196 blocks of 256 threads\nTest {}\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (SAMPLE.format("PASSED"), "Test PASSED"),
        (">>> ov.Core().available_devices\n['CPU', 'GPU', 'NPU']\n", "['CPU', 'GPU', 'NPU']"),
        ("[print(d) for d in c.available_devices]\nCPU | Intel(R) Core(TM) i7\nGPU | Intel(R) Arc(TM)\n", "GPU | Intel(R) Arc(TM)"),
        (
            "NAME         ID              SIZE      PROCESSOR    UNTIL\nqwen3:8b       500a1f067a9f    6.5 GB    100% GPU     4096       4 minutes from now\n",
            "100% GPU",
        ),
    ],
)
def test_what_is_at_work_is_named_though_somebody_asks_whether_it_fails(answered, body, words):
    answer = answered("Is that a failure?\n\n" + body)
    assert answer["findings"] == []
    assert [words in row["said"] for row in answer["harmless"] if row["works"]] == [True]


@pytest.mark.parametrize("body", [SAMPLE.format("FAILED"), ">>> ov.Core().available_devices\n['CPU']\n"])
def test_what_does_not_work_is_not_named(answered, body):
    assert not any(row["works"] for row in answered(body).get("harmless", []))


def test_a_report_of_torch_that_could_not_collect_something_complains_of_nothing(answered):
    report = (
        "PyTorch version: 2.7.1+cu128\nClang version: Could not collect\nIs CUDA available: True\n"
        "GPU models and configuration: GPU 0: NVIDIA GeForce RTX 4080 SUPER\nNvidia driver version: 570.169\n"
    )
    assert answered(report)["verdict"] == "healthy"


LIST = (
    "+-----------------------------------------------------------------------------------------+\n"
    "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |\n"
    "|-----------------------------------------+------------------------+----------------------+\n"
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
    "|=========================================+========================+======================|\n"
    "|   0  Tesla T4                       Off |   00000000:00:04.0 Off |                    0 |\n"
    "| N/A   61C    P0             29W /   70W |    9240MiB /  15360MiB |      0%      Default |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
)
NO_PROCESSES = (
    "+-----------------------------------------------------------------------------------------+\n"
    "| Processes:                                                                              |\n"
    "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |\n"
    "|        ID   ID                                                               Usage      |\n"
    "|=========================================================================================|\n"
    "|  No running processes found                                                             |\n"
    "+-----------------------------------------------------------------------------------------+\n"
)
ORDERS = "The GPU index that torch uses does not match the one that nvidia-smi shows.\n"


def causes_of(answer):
    return [finding["cause"] for finding in answer["findings"]]


def test_the_only_card_of_a_list_has_no_order(answered):
    assert "cuda-device-order-differs" in causes_of(answered(ORDERS))
    assert "cuda-device-order-differs" not in causes_of(answered(ORDERS + LIST))
    second = LIST.replace("|   0  Tesla T4 ", "|   1  Tesla T4 ").replace("00:04.0", "00:05.0").splitlines()[-3:]
    two = LIST.splitlines()[:-1] + second
    assert "cuda-device-order-differs" in causes_of(answered(ORDERS + "\n".join(two) + "\n"))


def test_memory_that_the_askers_own_torch_keeps_is_held_by_nobody_else(answered):
    own = "print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())\n8830452 9569304576\n\n"
    assert "gpu-memory-held-by-others" in causes_of(answered(LIST + "\n" + NO_PROCESSES))
    assert "gpu-memory-held-by-others" not in causes_of(answered(own + LIST + "\n" + NO_PROCESSES))
