"""What is asked beside a fault is answered from what was found, and nothing is denied where that is not sure."""

import pytest

from answer_data import diagnose
from rigup.cli.head_sentence import head_sentence, verdict_word
from rigup.diagnosis.answer import diagnose as diagnosed
from rigup.knowledge.doctor_tables import causes
from rigup.knowledge.questions import questions

MISMATCH = """\
$ nvidia-smi
Failed to initialize NVML: Driver/library version mismatch
NVML library version: 550.107
$ cat /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024
"""
LOST = """\
$ nvidia-smi
Unable to determine the device handle for GPU0000:41:00.0: Unknown Error
[190412.551223] NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
"""
SHARED = """\
RuntimeError: DataLoader worker (pid 1234) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.
$ df -h /dev/shm
shm              64M   64M     0 100% /dev/shm
"""
CPU_BUILD = """\
$ python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'
2.9.0+cpu False
$ nvidia-smi -L
GPU 0: NVIDIA GeForce RTX 4070 (UUID: GPU-3d5e0f0a-8a57-2c10-9d35-cc1a4b0d5a5e)
"""
NO_MODULE = """\
{system}
$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.
$ dkms status
nvidia-current/535.183.01, 6.1.0-21-amd64, x86_64: installed
$ uname -r
6.1.0-25-amd64
"""
NO_GPU_ASKED = """\
$ squeue --me
   JOBID PARTITION  NAME  USER ST  TIME  NODES NODELIST(REASON)
  918211       gpu train  anna  R  0:10      1 gnode07
[anna@gnode07 ~]$ nvidia-smi
No devices were found
[anna@gnode07 ~]$ scontrol show job $SLURM_JOB_ID | grep -i tres
   ReqTRES=cpu=8,mem=64G,node=1,billing=8
   AllocTRES=cpu=8,mem=64G,node=1,billing=8
"""


@pytest.fixture
def answered(tmp_path):
    """The answers with their commands, by the id of their question."""

    def answers(question, outputs=""):
        (tmp_path / "said.txt").write_text(f"{outputs}\n{question}\n", "utf-8")
        told = diagnose(str(tmp_path))
        return {one["id"]: " ".join([one["answer"], *one["commands"]]) for one in told["answers"]}

    return answers


ASKED = [
    *(
        (question, MISMATCH, "broken-card-suspected", "No: nothing that is shown speaks of a broken card. “The loaded NVIDIA module")
        for question in (
            "Is the card dead, yes or no?",
            "Ist die Grafikkarte kaputt?",
            "显卡是不是坏了？",
            "Сгорела видеокарта?",
            "¿Está rota la tarjeta?",
            "La carte est morte ?",
            "A placa está queimada?",
        )
    ),
    ("A colleague says the cards are too old for it. Is that right?", MISMATCH, "old-card-suspected", "No: the cards are not too old"),
    ("Should I downgrade to 470?", MISMATCH, "driver-changed", "No: neither again nor back"),
    ("My ubuntu does that. How do we keep this from happening every month?", MISMATCH, "mended-for-good", "52nvidia-not-unattended"),
    ("It is a Fedora. How do I keep this from happening again?", MISMATCH, "mended-for-good", "versionlock add"),
    ("Is a simple reboot going to fix this?", MISMATCH, "restart-suffices", "Yes: a restart loads the module"),
    ("Will a reboot fix it?", CPU_BUILD, "restart-suffices", "No: a restart of the machine leaves it"),
    ("Will my old checkpoints still load with the new torch?", CPU_BUILD, "weights-under-another-torch", "They stay good"),
    ("Does it need a reboot?", MISMATCH, "restart-needed", "Not by all means"),
    ("Can the running jobs go on?", MISMATCH, "work-meanwhile", "goes on to its end"),
    ("Is the second card dead?", LOST, "broken-card-suspected", "That is not proven"),
    ("Could it be the riser?", LOST, "power-and-riser-suspected", "may well be"),
    ("I suspect a bad DIMM.", SHARED, "main-memory-suspected", "No: the memory is neither broken nor full"),
    ("Is that a bug of the image?", SHARED, "bug-suspected", "Neither the image nor"),
    ("Is there a workaround until then?", SHARED, "work-meanwhile", "num_workers=0"),
    ("Do I have to reinstall Windows?", CPU_BUILD, "system-set-up-anew", "No: nothing has to be set up anew"),
    ("Do I lose my environment?", CPU_BUILD, "data-kept", "packages of that one environment"),
    ("How long does it take?", CPU_BUILD, "time-it-takes", "As long as the downloads"),
    ("How do I prevent that with the next kernel?", NO_MODULE.format(system="Debian 12"), "mended-for-good", "linux-headers-amd64"),
    ("How do I prevent that with the next kernel?", NO_MODULE.format(system="Ubuntu 22.04"), "mended-for-good", "linux-headers-generic"),
    ("Is the new kernel to blame?", NO_MODULE.format(system="Debian 12"), "new-kernel-suspected", "The kernel itself has no fault"),
    ("Is the node broken?", NO_GPU_ASKED, "broken-node-suspected", "No: nothing that is shown speaks against the node"),
    ("Can I fix it myself or do I tell the admin?", NO_GPU_ASKED, "root-needed", "needs no administrator"),
]


@pytest.mark.parametrize(("question", "outputs", "row", "words"), ASKED, ids=[f"{one[2]}-{number}" for number, one in enumerate(ASKED)])
def test_it_is_answered_from_what_was_found(answered, question, outputs, row, words):
    assert words in answered(question, outputs)[row]


@pytest.mark.parametrize(
    ("question", "outputs"),
    [
        ("Is the card broken?", ""),
        ("Is the fan of the card broken?", MISMATCH),
        ("The card was dead last year. What is missing?", MISMATCH),
        ("Is the driver broken?", NO_MODULE.format(system="") + "NVRM: RmInitAdapter failed! (0x26:0x56:1474)\n"),
    ],
)
def test_it_is_not_denied_where_nothing_or_something_else_is_asked_or_found(answered, question, outputs):
    assert not any(answer.startswith("No:") for answer in answered(question, outputs).values())


def test_what_is_only_possible_denies_nothing(answered):
    possible = "CUDA error: out of memory\n"
    assert "broken-card-suspected" not in answered("Is the card broken?", possible)


def test_the_watts_of_a_supply_are_weighed(answered):
    two = "01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)\n41:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] (rev ff)\n"
    csv = "0, 68, 347.11 W\n1, 66, 349.80 W\n"
    small = answered("Is the 850W supply enough?", LOST + two + csv)["power-and-riser-suspected"]
    assert small.startswith("850 W are too little for 2 × GeForce RTX 3090 under full load: at 347 W each")
    assert "too little" not in answered("Is the 1600W supply enough?", LOST + two + csv)["power-and-riser-suspected"]


@pytest.mark.parametrize(("text", "denies"), [(MISMATCH, True), (CPU_BUILD, True), (LOST, False)])
def test_the_first_line_says_that_no_card_is_broken_where_nothing_speaks_of_one(tmp_path, text, denies):
    (tmp_path / "said.txt").write_text(text, "utf-8")
    answer = diagnosed(str(tmp_path))
    assert answer.verdict == "broken"
    assert verdict_word(answer) == "A fault was found"
    assert ("broken card" in head_sentence(answer, here=False)) is denies


def test_rows_name_causes_and_families_that_are_there():
    rows = [row for row in questions() if row.causes]
    named = {name for row in rows for name in [*row.causes, *(cause for told in row.by for cause in told.causes)]}
    families = {cause.family + "/" for cause in causes().values()}
    assert named - set(causes()) - families - {"*", "#card"} == set()
