"""What a job asks of Slurm, what the launcher inside it was told, and what programs do to the devices they see."""

import re
from pathlib import Path

import pytest

from rigup.machine import readers  # noqa: F401  (registers them)
from rigup.machine.kinds import CardCount, Cpu, Gpu, JobRequest, Launch, Mask, NetInterface, Platform, PythonEnv, Torch, Variable
from rigup.machine.look import look
from rigup.machine.sources import open_source

SHARED = Path(__file__).parents[4] / "shared" / "cluster"


@pytest.fixture
def facts(tmp_path):
    def told(text, *more):
        for number, body in enumerate((text, *more)):
            (tmp_path / f"{number}.txt").write_text(body)
        found = look(open_source(str(tmp_path)))
        assert not found.troubles, found.troubles
        return found

    return told


def only(found, kind):
    (fact,) = found.of(kind)
    return without_script(fact)


def without_script(fact):
    return {name: value for name, value in fact.values().items() if name != "script"}


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("--gres=gpu:a100:4", {"gpus_per_node": 4, "request": "--gres=gpu:a100:4", "asked": True}),
        ("--gres=gpu:4", {"gpus_per_node": 4, "request": "--gres=gpu:4", "asked": True}),
        ("--gres gpu", {"gpus_per_node": 1, "request": "--gres=gpu", "asked": True}),
        ("--gres=shard:2,gpu:v100:1", {"gpus_per_node": 1, "request": "--gres=shard:2,gpu:v100:1", "asked": True}),
        ("--gres=gpu:0", {"gpus_per_node": 0, "asked": False}),
        ("-G 8", {"gpus": 8, "asked": True}),
        ("-G8", {"gpus": 8, "asked": True}),
        ("--gpus=h100:8", {"gpus": 8, "asked": True}),
        ("--gpus-per-task=1", {"gpus_per_task": 1, "asked": True}),
        ("--tres-per-task=gres/gpu:2", {"gpus_per_task": 2, "asked": True}),
        ("-N 2-4", {"nodes": 2}),
        ("--nodes=2   # two of them", {"nodes": 2}),
        ("-n16 -c 4", {"tasks": 16, "cpus_per_task": 4}),
        ("--tasks-per-node 8", {"tasks_per_node": 8}),
        ("-C 'gpu&a100'", {"constraint": "gpu&a100"}),
        ("-p gpu -J bash", {"partition": "gpu", "name": "bash"}),
        ("--gpu-bind=single:1", {"binding": "single:1"}),
        ("--time=1:00:00 --mem 4G", None),
    ],
)
def test_options_of_a_header(facts, line, wanted):
    found = facts("#SBATCH " + line + "\n").of(JobRequest)
    assert [without_script(fact) for fact in found] == ([wanted] if wanted else [])


def test_a_whole_script_without_gpus_asks_for_none(facts):
    script = "#!/bin/bash\n#SBATCH -p cpu\n#SBATCH -n 1\nsrun python prep.py\n"
    assert only(facts(script), JobRequest) == {"partition": "cpu", "tasks": 1, "launcher": "srun", "asked": False}


@pytest.mark.parametrize(
    "more", ["#SBATCH --exclusive\n", "srun --gpus-per-node=1 python x.py\n", "#SBATCH --ntasks-per-gpu=1\n", "sbatch -G 1 other.sh\n"]
)
def test_what_may_give_gpus_after_all_leaves_it_open(facts, more):
    script = "#!/bin/bash\n#SBATCH -n 1\n" + more + "python prep.py\n"
    assert only(facts(script), JobRequest).get("asked") is not False


_SHOWN = "#!/bin/bash\n# of June\n#SBATCH -C gpu\n#SBATCH -N 2\nsrun python fit.py\n$ ls\n"


@pytest.mark.parametrize(("printed", "asked"), [("cat fit.sbatch", False), ("head -4 fit.sbatch", None), ("grep -v time fit.sbatch", None)])
def test_a_script_that_a_terminal_prints_is_whole_where_the_command_prints_all_of_it(facts, printed, asked):
    assert only(facts(f"lea@login:~$ {printed}\n{_SHOWN}"), JobRequest).get("asked") is asked


def test_an_excerpt_of_a_header_says_nothing_of_what_it_leaves_out(facts):
    assert "asked" not in only(facts("#SBATCH -N 2\n#SBATCH --ntasks-per-node=4\n"), JobRequest)


def test_the_program_behind_srun_has_options_of_its_own(facts):
    found = facts("$ srun -N 2 --ntasks-per-node 4 python train.py --gpus 4 --num-nodes 2\n")
    job = only(found, JobRequest)
    assert (job["nodes"], job["tasks_per_node"], job["launcher"]) == (2, 4, "srun")
    assert "gpus" not in job
    assert only(found, Launch) == {"framework": "lightning", "devices": 4, "nodes": 2}


def test_a_command_over_several_lines(facts):
    job = only(facts("srun --nodes=2 \\\n  --gpus-per-node=4 \\\n  --ntasks-per-node=4 \\\n  python train.py --gpus 9\n"), JobRequest)
    assert (job["nodes"], job["gpus_per_node"], job["tasks_per_node"]) == (2, 4, 4)
    assert "gpus" not in job


@pytest.mark.parametrize(
    ("command", "launcher"),
    [
        ("srun --label bash -c 'python t.py'", "srun"),
        ("torchrun --nproc_per_node=4 t.py", "torchrun"),
        ("python -m torch.distributed.run --nproc-per-node 4 t.py", "torchrun"),
        ("accelerate launch t.py", "accelerate"),
        ("mpirun -np 4 python t.py", "mpirun"),
        ("CUDA_LAUNCH_BLOCKING=1 /opt/py/bin/python3 -u t.py", "python"),
        ("ssh $n 'torchrun t.py'", "ssh"),
        ("# srun python t.py\npython t.py", "python"),
    ],
)
def test_what_starts_the_work(facts, command, launcher):
    assert only(facts("#!/bin/bash\n#SBATCH -N 2\n" + command + "\n"), JobRequest)["launcher"] == launcher


def test_a_shell_on_a_node(facts):
    assert only(facts("[u@login ~]$ srun --gres=gpu:1 --pty bash\n"), JobRequest)["interactive"] is True
    assert only(facts("salloc -N1 -G2\n"), JobRequest)["interactive"] is True


SHOWN = """JobId=41 JobName=big
   JobState=RUNNING Reason=None
   Partition=gpu AllocNode:Sid=login:1
   NumNodes=3 NumCPUs=24 NumTasks=8 CPUs/Task=3 ReqB:S:C:T=0:0:*:*
   TRES=cpu=24,mem=96G,node=3,billing=24,gres/gpu=8
   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*
   JOB_GRES=gpu:a100:8
     Nodes=n1 CPU_IDs=0-17 Mem=1 GRES=gpu:a100:6(IDX:0-5)
     Nodes=n[2-3] CPU_IDs=0-2 Mem=1 GRES=gpu:a100:1(IDX:0)
   TresPerJob=gres:gpu:8
"""


def test_a_job_as_slurm_shows_it(facts):
    job = only(facts(SHOWN), JobRequest)
    assert (job["nodes"], job["tasks"], job["gpus"], job["asked"], job["given"]) == (3, 8, 8, True, [6, 1, 1])
    assert "tasks_per_node" not in job


def test_a_job_without_gpus_as_slurm_shows_it(facts):
    text = "JobId=41 JobName=x\n   NumNodes=1 NumTasks=1\n   ReqTRES=cpu=1,mem=4G,node=1,billing=1\n"
    assert only(facts(text), JobRequest)["asked"] is False


def test_a_list_of_jobs_does_not_tell_whose_program_this_is(facts):
    assert not facts(SHOWN + "\n" + SHOWN.replace("JobId=41", "JobId=42")).of(JobRequest)


def test_a_job_by_its_variables(facts):
    text = "PATH=/usr/bin:/bin\nSLURM_JOB_ID=5\nSLURM_NNODES=2\nSLURM_NTASKS_PER_NODE=4\nSLURM_GPUS_ON_NODE=4\nSLURM_GPU_BIND=none\n"
    job = only(facts(text), JobRequest)
    assert job == {"nodes": 2, "tasks_per_node": 4, "given": [4], "binding": "none"}


def test_a_step_with_a_terminal_is_somebodys_shell(facts):
    text = "SLURM_JOB_ID=5\nSLURM_NTASKS=1\nSLURM_PTY_PORT=40121\nSLURM_PTY_WIN_COL=120\n"
    assert only(facts(text), JobRequest)["interactive"] is True


def test_variables_as_python_prints_them(facts):
    found = facts("{'SLURM_JOB_ID': '7',\n 'SLURM_NTASKS': '1',\n 'CUDA_VISIBLE_DEVICES': '0,1',\n")
    told = {fact.name: fact.value for fact in found.of(Variable)}
    assert told == {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "1", "CUDA_VISIBLE_DEVICES": "0,1"}


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("Trainer(devices=2, num_nodes=4, accelerator='gpu')", {"devices": 2, "nodes": 4, "accelerator": "gpu"}),
        ("pl.Trainer(\n    gpus=[0, 1, 2],\n    callbacks=[Foo(a=1)],\n    max_epochs=3,\n)", {"devices": 3}),
        ('Fabric(accelerator="cuda", devices=8)', {"devices": 8, "accelerator": "cuda"}),
        ("Trainer(callbacks=[A(B(1))], devices=-1)", None),
        ("$ torchrun --nnodes=2 --nproc_per_node=8 t.py", {"framework": "torchrun", "devices": 8, "nodes": 2}),
        ("$ python train.py trainer.devices=4 trainer.num_nodes=2", {"devices": 4, "nodes": 2}),
        ("You requested gpu: [0, 1, 2]\n But your machine only has: [0]", {"devices": 3, "visible": 1}),
        ("('You requested gpu: [0, 1]\\n But your machine only has: []')", {"devices": 2, "visible": 0}),
    ],
)
def test_what_the_launcher_was_told(facts, code, wanted):
    found = facts(code + "\n").of(Launch)
    told = [{"framework": "lightning", **wanted}] if wanted else []
    assert [fact.values() for fact in found] == told


def test_ranks_that_announce_themselves(facts):
    lines = "".join(f"Initializing distributed: GLOBAL_RANK: {rank}, MEMBER: {rank + 1}/4\n" for rank in (0, 2, 0))
    launch = only(facts(lines), Launch)
    assert (launch["world"], launch["ranks"]) == (4, [0, 2, 0])


def test_a_mask_and_what_came_before_it(facts):
    late = only(facts("import torch\ntorch.cuda.is_available()\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n"), Mask)
    assert late["after"].startswith("torch.cuda.is_available")
    early = facts("import torch  # torch.cuda.init()\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\ntorch.cuda.init()\n").of(Mask)
    assert all("after" not in fact.values() for fact in early)


def test_cards_are_counted_by_maker(facts):
    text = "$ nvidia-smi -L\n" + "".join(
        f"GPU {n}: NVIDIA RTX A5000 (UUID: GPU-{n + 1}b6f5a12-7c3d-4e90-a1b8-5d2e6f708192)\n" for n in (0, 1)
    )
    count = only(facts(text), CardCount)
    assert (count["vendor"], count["count"], count["usable"], len(count["uuids"])) == ("nvidia", 2, 2, 2)


def test_a_card_that_was_asked_for_by_its_number_is_not_the_only_one(facts):
    text = "$ nvidia-smi --query-gpu=index,memory.used --format=csv,noheader -i 3\n3, 812 MiB\n"
    found = facts(text)
    assert [gpu.get("nvml_index") for gpu in found.of(Gpu)] == [3]
    assert not list(found.of(CardCount))


def test_cards_as_cuda_counts_them(facts):
    found = facts(">>> torch.cuda.get_device_name(1)\n'NVIDIA GeForce RTX 4080'\n")
    assert {(gpu.get("runtime_index"), gpu.get("name")) for gpu in found.of(Gpu)} >= {(1, "NVIDIA GeForce RTX 4080")}


def test_interfaces_of_ip_and_ifconfig(facts):
    text = (
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536\n2: eth0@if5: <BROADCAST,UP> mtu 1500\n",
        "ib0: flags=4163<UP,BROADCAST>  mtu 2044\nlo: flags=73<UP,LOOPBACK,RUNNING>\n",
    )
    assert {interface.name for interface in facts(*text).of(NetInterface)} == {"lo", "eth0", "ib0"}


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        (">>> torch.backends.mps.is_available()\nFalse\n", "mps_available", False),
        ("MPS available: True\n", "mps_available", True),
        ("mps_built True\n", "mps_built", True),
        ("torch.backends.mps.is_built() == True\n", "mps_built", True),
        ("- torch.backends.mps.is_available() => False\n", "mps_available", False),
    ],
)
def test_what_torch_answers_about_mps(facts, text, field, value):
    assert only(facts(text), Torch)[field] is value


def test_two_questions_in_one_line_are_answered_each_by_its_own_word(facts):
    text = "print(torch.backends.mps.is_built(), torch.backends.mps.is_available())\nTrue False\n"
    torch = only(facts(text), Torch)
    assert (torch["mps_built"], torch["mps_available"]) == (True, False)


def test_two_questions_are_not_answered_by_one_word(facts):
    assert not facts("print(torch.backends.mps.is_built(), torch.backends.mps.is_available())\nTrue\n").of(Torch)


def test_a_mac_as_people_describe_it(facts):
    found = facts("- macOS 14.5\nCPU:\nApple M3 Pro\n       platform : osx-64\n")
    assert only(found, Platform)["version"] == "14.5"
    assert only(found, Cpu)["model"] == "Apple M3 Pro"
    assert only(found, PythonEnv)["machine"] == "x86_64"
    assert not facts("The MPS backend is supported on macOS 14.0+\n", "", "").of(Platform)


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the reference cluster's files")
@pytest.mark.parametrize("path", sorted(SHARED.glob("ddp/*.sbatch")), ids=lambda path: path.name)
def test_real_batch_scripts(path):
    text = path.read_text()
    (job,) = look(open_source(str(path))).of(JobRequest)
    nodes = re.search(r"^#SBATCH +(?:-N *|--nodes=)(\d+)", text, re.MULTILINE)
    assert nodes is None or job.nodes == int(nodes[1])
    assert job.get("launcher") in ("srun", "torchrun", "python", None)


HEAD = "#!/bin/bash\n#SBATCH --nodes=1\n"
TRAIN = HEAD + "#SBATCH --gres=gpu:4\n#SBATCH --ntasks-per-node=4\nsrun python train.py\n"
PREPARE = HEAD + "#SBATCH --ntasks=1\npython prepare.py\n"


@pytest.mark.parametrize("texts", [(TRAIN, PREPARE), (TRAIN + "\n" + PREPARE,)], ids=["two files", "one file"])
def test_two_scripts_are_two_requests(facts, texts):
    train, prepare = facts(*texts).of(JobRequest)
    assert (train.gpus_per_node, train.tasks_per_node, train.launcher) == (4, 4, "srun")
    assert (prepare.get("gpus_per_node"), prepare.tasks, prepare.launcher, prepare.asked) == (None, 1, "python", False)


def test_what_is_told_without_a_script_is_of_the_only_one(facts):
    (job,) = facts(TRAIN, "SLURM_NNODES=2\nSLURM_JOB_NAME=bash\n").of(JobRequest)
    assert (job.gpus_per_node, job.name) == (4, "bash")


def test_options_before_the_program_are_those_of_srun(facts):
    assert not facts("srun --exclusive -n1 --gpus=1 python first.py\n").of(Launch)
    (want,) = facts("srun -n1 --gpus=1 python first.py --gpus 2\n").of(Launch)
    assert want.devices == 2


def test_a_trainer_without_numbers_is_lightnings_where_lightning_is_imported(facts):
    (want,) = facts("from lightning import Trainer\ntrainer = Trainer(max_epochs=3)\n").of(Launch)
    assert want.framework == "lightning"
    assert not facts("from transformers import Trainer\ntrainer = Trainer(model=model)\n").of(Launch)
