"""Each rule on both sides: where it must speak, and where it must be silent."""

import json

import pytest

from rigup.cli import run
from rigup.train.check.answer import mended
from train.check.pairs import BY_SLURM, CLUSTER, DDP, JOB, LIGHTNING, ONE, TASKS, TORCHRUN, batch, causes, found

SRUN = "srun python train.py"
NODES = ("--nodes=2", "--ntasks-per-node=1", "--gpus-per-node=4", "--cpus-per-task=16", "--time=01:00:00")
TWO = ("--nodes=2", "--ntasks-per-node=4", "--gpus-per-node=4", "--cpus-per-task=4", "--time=01:00:00")
RUN2 = "srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$head:29500 train.py"
HEAD = 'head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)'
LIGHT2 = LIGHTNING.replace("num_nodes=1", "num_nodes=2")


def without(options, *names):
    """Directives without some."""
    return tuple(option for option in options if not option.startswith(names))


def one_gpu(*more):
    return ("--gpus-per-node=1", "--ntasks=1", "--cpus-per-task=4", *more)


SPEAKS = {
    "lightning with fewer tasks": (
        LIGHTNING,
        batch(SRUN, options=("--ntasks-per-node=2", *without(TASKS, "--ntasks"))),
        "slurm-ntasks-mismatch",
    ),
    "lightning without a count": (LIGHTNING, batch(SRUN, options=without(TASKS, "--ntasks")), "slurm-ntasks-mismatch"),
    "lightning with a total": (LIGHTNING, batch(SRUN, options=("--ntasks=4", *without(TASKS, "--ntasks"))), "slurm-ntasks-mismatch"),
    "lightning in one task, no srun": (
        LIGHTNING,
        batch("python train.py", options=("--ntasks=1", *without(TASKS, "--ntasks"))),
        "slurm-ntasks-mismatch",
    ),
    "lightning by srun -n": (LIGHTNING, batch("srun -n 2 python train.py", options=TASKS), "slurm-ntasks-mismatch"),
    "fabric": (
        LIGHTNING.replace("L.Trainer(", "L.Fabric(")
        .replace("callbacks=", "loggers=")
        .replace("    trainer.fit", "    trainer.setup_dataloaders\n    trainer.setup_dataloaders()\n    trainer.fit"),
        batch(SRUN, options=("--ntasks-per-node=2", *without(TASKS, "--ntasks"))),
        "slurm-ntasks-mismatch",
    ),
    "free split": (BY_SLURM, batch(SRUN, options=("--nodes=2", "--ntasks=8", "--gpus-per-node=4")), "slurm-ntasks-mismatch"),
    "torchrun for nodes": (DDP, batch(HEAD, RUN2.removeprefix("srun "), options=NODES), "slurm-srun-missing"),
    "lightning without srun": (LIGHT2, batch("python train.py", options=TWO), "slurm-srun-missing"),
    "accelerate for machines": (
        DDP,
        batch("accelerate launch --num_machines 2 --num_processes 8 --main_process_ip $X train.py", options=NODES),
        "slurm-srun-missing",
    ),
    "few gpus": (
        DDP,
        batch("torchrun --standalone --nproc_per_node=8 train.py", options=("--cpus-per-task=64", *without(JOB, "--cpus"))),
        "slurm-gpu-request-too-small",
    ),
    "few gpus for devices": (
        LIGHTNING,
        batch(SRUN, options=("--gpus-per-node=2", *without(TASKS, "--gpus"))),
        "slurm-gpu-request-too-small",
    ),
    "bound": (BY_SLURM, batch(SRUN, options=("--gpus-per-task=1", *without(TASKS, "--gpus"))), "slurm-gpu-binding-per-task"),
    "bound by srun": (BY_SLURM, batch("srun --gpu-bind=single:1 python train.py", options=TASKS), "slurm-gpu-binding-per-task"),
    "bound lightning": (LIGHTNING, batch(SRUN, options=("--gpus-per-task=1", *without(TASKS, "--gpus"))), "slurm-gpu-binding-per-task"),
    "no gpu": (ONE, batch("python train.py", options=("--ntasks=1", "--cpus-per-task=4")), "slurm-no-gpu-requested"),
    "no gpu by constraint": (ONE, batch("python train.py", options=("--ntasks=1", "-C a100")), "slurm-no-gpu-requested"),
    "nodes of lightning": (LIGHTNING, batch(SRUN, options=TWO), "nodes-mismatch"),
    "nodes of torchrun": (DDP, batch(HEAD, RUN2.replace("$SLURM_NNODES", "3"), options=NODES), "nodes-mismatch"),
    "lightning's nodes under torchrun": (LIGHTNING, batch(HEAD, RUN2, options=NODES), "nodes-mismatch"),
    "unused by one": (ONE, batch("python train.py", options=("--gpus-per-node=4", "--ntasks=1")), "gpus-requested-and-unused"),
    "unused by torchrun": (DDP, batch("torchrun --standalone --nproc_per_node=2 train.py"), "gpus-requested-and-unused"),
    "unused by accelerate": (
        DDP,
        batch(
            HEAD,
            "srun accelerate launch --num_machines 2 --num_processes 4 --main_process_ip $head --machine_rank 0 train.py",
            options=NODES,
        ),
        "gpus-requested-and-unused",
    ),
    "unused nodes": (
        ONE.replace("model = torch.nn.Linear(1, 1).cuda()", "model = torch.nn.DataParallel(torch.nn.Linear(1, 1)).cuda()"),
        batch("python train.py", options=("--nodes=2", "--gpus-per-node=4")),
        "gpus-requested-and-unused",
    ),
    "workers": (DDP.replace("num_workers=2", "num_workers=12"), batch(TORCHRUN), "workers-exceed-cpus"),
    "workers of one cpu": (LIGHTNING, batch(SRUN, options=without(TASKS, "--cpus")), "workers-exceed-cpus"),
    "signal to nobody": (ONE, batch("python train.py", options=one_gpu("--signal=USR1@60")), "signal-without-handler"),
    "signal without handler": (ONE, batch(SRUN, options=one_gpu("--signal=USR1@60")), "signal-without-handler"),
    "signal to the batch shell": (ONE, batch(SRUN, options=one_gpu("--signal=B:USR1@60")), "signal-without-handler"),
    "trap and foreground": (ONE, batch("trap 'touch stop' USR1", SRUN, options=one_gpu("--signal=B:USR1@60")), "signal-without-handler"),
    "trap of another": (
        ONE,
        batch("trap 'touch stop' TERM", SRUN + " &", "wait", options=one_gpu("--signal=B:USR1@60")),
        "signal-without-handler",
    ),
    "lightning's other signal": (LIGHTNING, batch(SRUN, options=(*TASKS, "--signal=USR2@60")), "signal-without-handler"),
    "nested": (DDP, batch("srun torchrun --nproc_per_node=4 train.py", options=TASKS), "launcher-nested-in-srun"),
    "nested accelerate": (DDP, batch("srun -n 4 accelerate launch --num_processes 4 train.py"), "launcher-nested-in-srun"),
    "torchrun's ranks under srun": (DDP, batch(SRUN, options=TASKS), "rank-source-mismatch"),
    "Slurm's ranks under torchrun": (BY_SLURM, batch(TORCHRUN), "rank-source-mismatch"),
    "rank 0 by default": (
        DDP.replace("dist.get_rank()", 'int(os.environ.get("RANK", 0))')
        .replace('"nccl")', '"nccl", rank=int(os.environ.get("RANK", 0)))')
        .replace('os.environ["LOCAL_RANK"]', 'os.environ.get("LOCAL_RANK", 0)'),
        batch(SRUN, options=TASKS),
        "rank-source-mismatch",
    ),
    "expanded early": (
        DDP,
        batch(HEAD, "srun torchrun --nnodes=2 --node_rank=$SLURM_NODEID --nproc_per_node=4 --master_addr=$head train.py", options=NODES),
        "rank-expanded-in-batch-shell",
    ),
    "expanded in quotes": (
        BY_SLURM,
        batch('srun bash -c "CUDA_VISIBLE_DEVICES=$SLURM_LOCALID python train.py"', options=TASKS),
        "rank-expanded-in-batch-shell",
    ),
    "expanded in a variable": (
        DDP,
        batch(
            HEAD,
            "NODE=$SLURM_NODEID",
            "srun torchrun --nnodes=2 --node_rank=$NODE --nproc_per_node=4 --master_addr=$head train.py",
            options=NODES,
        ),
        "rank-expanded-in-batch-shell",
    ),
    "localhost": (BY_SLURM, batch("export MASTER_ADDR=localhost MASTER_PORT=29500", SRUN, options=TWO), "master-address-hard-coded"),
    "localhost of torchrun": (DDP, batch(RUN2.replace("$head", "localhost"), options=NODES), "master-address-hard-coded"),
    "localhost by tcp": (
        BY_SLURM.replace('"nccl",', '"nccl", init_method="tcp://10.0.0.1:2000",'),
        batch(SRUN, options=TWO),
        "master-address-hard-coded",
    ),
    "mask in the script": (
        DDP.replace("import os, argparse", 'import os, argparse\nos.environ["CUDA_VISIBLE_DEVICES"] = "0,1,2,3"'),
        batch(TORCHRUN),
        "visible-devices-set-in-script",
    ),
    "mask in the batch script": (DDP, batch("export CUDA_VISIBLE_DEVICES=0,1,2,3", TORCHRUN), "visible-devices-set-in-script"),
    "card 0": (
        DDP.replace("torch.cuda.set_device(local)", 'device = torch.device("cuda:0")').replace(".cuda()", ".to(device)"),
        batch(TORCHRUN),
        "hard-coded-device",
    ),
    "bare cuda": (
        DDP.replace("torch.cuda.set_device(local)", "pass").replace(", device_ids=[local]", ""),
        batch(TORCHRUN),
        "hard-coded-device",
    ),
    "device_ids 0": (DDP.replace("[local]", "[0]"), batch(TORCHRUN), "hard-coded-device"),
    "global rank": (
        DDP.replace("torch.cuda.set_device(local)", "torch.cuda.set_device(rank)"),
        batch(HEAD, RUN2, options=NODES),
        "global-rank-as-device",
    ),
    "global rank in a string": (DDP.replace(".cuda()", '.to(f"cuda:{rank}")'), batch(HEAD, RUN2, options=NODES), "global-rank-as-device"),
    "not sharded": (DDP.replace("sampler=sampler, ", "shuffle=True, "), batch(TORCHRUN), "data-not-sharded"),
    "not sharded by order": (
        LIGHTNING.replace("devices=4", "devices=4, use_distributed_sampler=False"),
        batch(SRUN, options=TASKS),
        "data-not-sharded",
    ),
    "epoch": (DDP.replace("        sampler.set_epoch(epoch)\n", ""), batch(TORCHRUN), "sampler-epoch-not-set"),
    "barrier on one": (
        DDP.replace("            torch.save(", "            dist.barrier()\n            torch.save("),
        batch(TORCHRUN),
        "rank-zero-collective-deadlock",
    ),
    "after a return": (
        DDP.replace("    dist.destroy", "    if rank != 0:\n        return\n    dist.all_reduce(loss)\n    dist.destroy"),
        batch(TORCHRUN),
        "rank-zero-collective-deadlock",
    ),
    "lightning's checkpoint": (
        LIGHTNING.replace("    trainer.fit(", "    if trainer.is_global_zero:\n        trainer.save_checkpoint('x')\n    trainer.fit("),
        batch(SRUN, options=TASKS),
        "rank-zero-collective-deadlock",
    ),
    "shards on one": (
        DDP.replace(
            "DistributedDataParallel as DDP",
            "DistributedDataParallel as DDP\nfrom torch.distributed.fsdp import FullyShardedDataParallel as FSDP",
        )
        .replace("model = DDP(torch.nn.Linear(1, 1).cuda(), device_ids=[local])", "model = FSDP(torch.nn.Linear(1, 1).cuda())")
        .replace("model.module.state_dict()", "model.state_dict()"),
        batch(TORCHRUN),
        "sharded-checkpoint-on-one-rank",
    ),
    "everyone saves": (
        DDP.replace("        if rank == 0:\n            torch.save", "        if True:\n            torch.save"),
        batch(TORCHRUN),
        "every-rank-writes-same-file",
    ),
    "prepare_data": (
        LIGHTNING.replace(
            "class Net(",
            "class Data(L.LightningDataModule):\n    def prepare_data(self):\n        self.words = 5\n    def setup(self, stage):\n        self.n = self.words\n\n\nclass Net(",
        )
        .replace("Net(), Data", "Net(), Data")
        .replace("    data = ", "    Data()\n    data = "),
        batch(SRUN, options=TASKS),
        "prepare-data-sets-state",
    ),
    "metric": (LIGHTNING.replace(", sync_dist=True", ""), batch(SRUN, options=TASKS), "metric-not-synchronised"),
    "no save": (
        ONE.replace('        torch.save(model.state_dict(), "last.pt")\n', ""),
        batch("python train.py", options=one_gpu("--time=10:00:00")),
        "no-checkpoint-before-time-limit",
    ),
    "lightning's switch": (
        LIGHTNING.replace("devices=4", "devices=4, enable_checkpointing=False").replace(
            'callbacks=[ModelCheckpoint(monitor="val")]', "callbacks=[]"
        ),
        batch(SRUN, options=(*without(TASKS, "--time"), "--time=1-0")),
        "no-checkpoint-before-time-limit",
    ),
    "gloo for cards": (DDP.replace('"nccl"', '"gloo"'), batch(TORCHRUN), "backend-not-for-device"),
    "background": (ONE, batch("srun python train.py &", options=one_gpu()), "background-step-without-wait"),
    "uneven": (LIGHT2, batch(SRUN, options=("--gpus=8", *without(TWO, "--gpus"))), "slurm-uneven-gpus"),
    "container": (ONE, batch("apptainer exec torch.sif python train.py", options=one_gpu()), "container-without-gpu"),
    "docker": (ONE, batch("docker run --rm nvcr.io/nvidia/pytorch:24.01-py3 python train.py", options=one_gpu()), "container-without-gpu"),
    "conda": (ONE, batch("conda activate torch", "python train.py", options=one_gpu()), "environment-not-activated-in-batch"),
    "export none": (ONE, batch(SRUN, options=one_gpu("--export=NONE")), "environment-not-activated-in-batch"),
    "folder": (ONE, batch("python train.py", options=one_gpu("--output=logs/%j.out")), "sbatch-output-folder-missing"),
    "folder of a variable": (ONE, batch("python train.py", options=one_gpu("-o $HOME/x.out")), "sbatch-output-folder-missing"),
    "folder of the job": (ONE, batch("python train.py", options=one_gpu("-o /scratch/%j/x.out")), "sbatch-output-folder-missing"),
    "late": (ONE, batch("#SBATCH --mem=4G", "python train.py", options=one_gpu()), "sbatch-directive-after-command"),
    "spawn": (
        "import torch, os\nimport torch.multiprocessing as mp\ndef f(i): pass\nmp.spawn(f, nprocs=2)\n",
        "",
        "spawn-without-main-guard",
    ),
    "spawn by method": (
        "import torch.multiprocessing as mp\ndef f(): pass\nmp.set_start_method('spawn')\np = mp.Process(target=f)\np.start()\nmp.spawn\n",
        "",
        "spawn-without-main-guard",
    ),
}


@pytest.mark.parametrize("name", SPEAKS)
def test_it_speaks(name):
    script, job, cause = SPEAKS[name]
    assert {each.cause for each in found(script, job)} == {cause}


NOTES = {
    "card 0 of each node": (
        DDP.replace("[local]", "[0]"),
        batch(
            HEAD,
            RUN2.replace("--nproc_per_node=4", "--nproc_per_node=1"),
            options=("--nodes=2", "--ntasks-per-node=1", "--gpus-per-node=1", "--cpus-per-task=8"),
        ),
        "hard-coded-device",
    ),
    "prepare_data on one": (
        SPEAKS["prepare_data"][0].replace("devices=4", "devices=1"),
        batch("python train.py", options=one_gpu()),
        "prepare-data-sets-state",
    ),
}


@pytest.mark.parametrize("name", NOTES)
def test_it_is_worth_a_note_and_no_more(name, tmp_path, capsys):
    script, job, cause = NOTES[name]
    assert found(script, job) == []
    (tmp_path / "train.py").write_text(script)
    (tmp_path / "job.sbatch").write_text(job)
    assert run(["train", "check", str(tmp_path / "train.py"), str(tmp_path / "job.sbatch")]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert ": note: " in output
    assert cause in output


SILENT = {
    "torchrun": (DDP, batch(TORCHRUN)),
    "torchrun for nodes": (DDP, batch(HEAD, RUN2, options=NODES)),
    "python -m torch.distributed.run": (DDP, batch(TORCHRUN.replace("torchrun", "python -m torch.distributed.run"))),
    "Slurm's ranks": (BY_SLURM, batch(SRUN, options=TASKS)),
    "translated in each task": (
        DDP,
        batch(
            "srun bash -c 'export RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS; python train.py'", options=TASKS
        ),
    ),
    "tries several": (
        DDP.replace(
            "    dist.init",
            '    if "SLURM_PROCID" in os.environ:\n        os.environ["RANK"] = os.environ["SLURM_PROCID"]\n        os.environ["LOCAL_RANK"] = os.environ["SLURM_LOCALID"]\n    dist.init',
        ),
        batch(SRUN, options=TASKS),
    ),
    "lightning": (LIGHTNING, batch(SRUN, options=TASKS)),
    "lightning for nodes": (LIGHT2, batch(SRUN, options=TWO)),
    "lightning starts its own": (LIGHTNING, batch("python train.py", options=("--gres=gpu:4", "-c 16"))),
    "lightning takes all": (LIGHTNING.replace("devices=4", "devices=-1"), batch(SRUN, options=TASKS)),
    "lightning by torchrun": (LIGHTNING, batch(TORCHRUN)),
    "exclusive": (BY_SLURM, batch(SRUN, options=("--nodes=2", "--ntasks=8", "--gpus-per-node=4", "--exclusive"))),
    "one": (ONE, batch("python train.py", options=one_gpu())),
    "per task and device 0": (
        BY_SLURM.replace("torch.cuda.set_device(local)", "torch.cuda.set_device(0)").replace("[local]", "[0]"),
        batch(SRUN, options=("--gpus-per-task=1", *without(TASKS, "--gpus"))),
    ),
    "rank of blocks": (BY_SLURM.replace('int(os.environ["SLURM_LOCALID"])', "rank % torch.cuda.device_count()"), batch(SRUN, options=TWO)),
    "gpus of a variable": (DDP, batch("NGPU=4", "torchrun --standalone --nproc_per_node=$NGPU train.py")),
    "gpus of Slurm": (DDP, batch("torchrun --standalone --nproc_per_node=$SLURM_GPUS_ON_NODE train.py")),
    "command in a variable": (DDP, batch('LAUNCH="torchrun --standalone --nproc_per_node=4"', "$LAUNCH train.py")),
    "container": (ONE, batch("apptainer exec --nv --bind /data torch.sif python train.py", options=one_gpu())),
    "container by a variable": (ONE, batch("export APPTAINER_NV=1", "apptainer exec torch.sif python train.py", options=one_gpu())),
    "pyxis": (ONE, batch("srun --container-image=nvcr.io/x python train.py", options=one_gpu())),
    "conda with its hook": (ONE, batch('eval "$(conda shell.bash hook)"', "conda activate torch", "python train.py", options=one_gpu())),
    "conda in a login shell": (ONE, batch("conda activate torch", "python train.py", options=one_gpu(), first="#!/bin/bash -l")),
    "conda run": (ONE, batch("conda run -n torch python train.py", options=one_gpu())),
    "export none and all": (ONE, batch("srun --export=ALL python train.py", options=one_gpu("--export=NONE"))),
    "python by its path": (ONE, batch("srun /envs/torch/bin/python train.py", options=one_gpu("--export=NONE"))),
    "switched off": (ONE, batch("python train.py", options=one_gpu()).replace("source", "##SBATCH --mem=4G\n# SBATCH is fine\nsource")),
    "many in a line": (ONE, batch("python train.py", options=("-N1 -n1 -t 5 --gres=gpu:1 # all", "--cpus-per-task 4", "--mem-per-cpu=2G"))),
    "here-document": (ONE, batch("cat > other.sh <<EOF", "#SBATCH --nodes=8", "EOF", "python train.py", options=one_gpu())),
    "trap and wait": (ONE, batch("trap 'kill -USR1 $child' USR1", SRUN + " &", "child=$!", "wait", options=one_gpu("--signal=B:USR1@60"))),
    "handler": (
        ONE.replace("def main():", "import signal\ndef stop(*_): pass\ndef main():\n    signal.signal(signal.SIGUSR1, stop)"),
        batch(SRUN, options=one_gpu("--signal=USR1@60")),
    ),
    "lightning's signal": (LIGHTNING, batch(SRUN, options=(*TASKS, "--signal=SIGUSR1@60"))),
    "steps side by side": (ONE, batch("for i in 0 1 2 3; do", "  CUDA_VISIBLE_DEVICES=$i python train.py &", "done", "wait")),
    "two waits": (
        DDP.replace(
            "    train = Numbers()",
            "    if rank != 0:\n        dist.barrier()\n    train = Numbers()\n    torch.save(train, 'cache.pt')\n    if rank == 0:\n        dist.barrier()",
        ),
        batch(TORCHRUN),
    ),
    "rank in the name": (
        DDP.replace(
            '        if rank == 0:\n            torch.save(model.module.state_dict(), "last.pt")',
            '        torch.save(model.module.state_dict(), f"last{rank}.pt")',
        ),
        batch(TORCHRUN),
    ),
    "guard in a helper": (
        DDP.replace("def main():", "def is_main():\n    return dist.get_rank() == 0\n\n\ndef main():").replace(
            "if rank == 0:", "if is_main():"
        ),
        batch(TORCHRUN),
    ),
    "early return": (
        DDP.replace(
            "def main():",
            "def save(model, rank):\n    if rank:\n        return\n    torch.save(model.module.state_dict(), 'last.pt')\n\n\ndef main():",
        ).replace('        if rank == 0:\n            torch.save(model.module.state_dict(), "last.pt")', "        save(model, rank)"),
        batch(TORCHRUN),
    ),
    "a torchmetrics object": (
        LIGHTNING.replace(
            'self.log("val", self.layer(batch[0]).sum(), sync_dist=True)', 'self.acc(batch[0], batch[0])\n        self.log("val", self.acc)'
        )
        .replace("        self.layer =", "        self.acc = torchmetrics.Accuracy()\n        self.layer =")
        .replace("import torch\n", "import torch\nimport torchmetrics\n", 1),
        batch(SRUN, options=TASKS),
    ),
    "one epoch": (DDP.replace("range(5)", "range(1)").replace("        sampler.set_epoch(epoch)\n", ""), batch(TORCHRUN)),
    "no shuffling": (
        DDP.replace("DistributedSampler(train)", "DistributedSampler(train, shuffle=False)").replace(
            "        sampler.set_epoch(epoch)\n", ""
        ),
        batch(TORCHRUN),
    ),
    "rank slices": (
        DDP.replace("sampler=sampler, ", "")
        .replace("train = Numbers()", "train = list(range(10))[rank::dist.get_world_size()]")
        .replace("sampler = DistributedSampler(train)", "")
        .replace("        sampler.set_epoch(epoch)\n", ""),
        batch(TORCHRUN),
    ),
    "an unseen helper": ("from mine import train\ntrain()\n", batch("python train.py", options=("--gres=gpu:4",))),
    "mpirun": (
        DDP.replace('"LOCAL_RANK"', '"OMPI_COMM_WORLD_LOCAL_RANK"').replace(
            '"nccl")', '"nccl", rank=int(os.environ["OMPI_COMM_WORLD_RANK"]))'
        ),
        batch("mpirun -np 4 python train.py", options=TASKS),
    ),
    "no batch script": (DDP, ""),
    "transformers on the CPU": (
        "from transformers import Trainer, TrainingArguments\nTrainer(model, TrainingArguments('out', use_cpu=True)).train()\n",
        batch("srun python train.py", options=("--ntasks=1", "--constraint=a100")),
    ),
    "unknown options": (LIGHTNING.replace("devices=4", "devices=int(input())"), batch(SRUN, options=TASKS)),
}


@pytest.mark.parametrize("name", SILENT)
def test_it_is_silent(name):
    assert [(each.cause, each.line) for each in found(*SILENT[name])] == []


@pytest.mark.parametrize(
    ("partition", "options", "cause"),
    [
        ("old", ("--time=2-0",), {"request-exceeds-partition"}),
        ("old", ("--nodes=5",), {"request-exceeds-partition"}),
        ("old", ("--mem=400G",), {"request-exceeds-partition"}),
        ("old", ("--cpus-per-task=64",), {"request-exceeds-partition"}),
        ("old,new", ("--cpus-per-task=64",), set()),
        ("old", ("--mem=0",), set()),
        ("elsewhere", ("--time=9-0",), set()),
        ("old", ("--gres=gpu:a100:1",), {"request-exceeds-partition"}),
        ("plain", (), {"request-exceeds-partition"}),
    ],
)
def test_what_a_partition_has(partition, options, cause):
    given = one_gpu(f"--partition={partition}", *options)
    found_causes = causes(ONE, batch("python train.py", options=given), CLUSTER)
    assert found_causes - {"gpus-requested-and-unused"} == cause


@pytest.mark.parametrize(
    ("partition", "precision", "severity"),
    [
        ("old", "bf16-mixed", "warning"),
        ("amd", "bf16", "warning"),
        ("new", "bf16-mixed", ""),
        ("old", "16-mixed", ""),
        ("new", "transformer-engine", "error"),
    ],
)
def test_what_a_card_computes_with(partition, precision, severity):
    script = LIGHTNING.replace("devices=4", f'devices=4, precision="{precision}"')
    findings = found(script, batch(SRUN, options=(*TASKS, f"--partition={partition}")), CLUSTER)
    assert [each.severity for each in findings if each.cause == "precision-not-on-device"] == ([severity] if severity else [])


def test_the_wrong_makers_flag():
    job = batch("apptainer exec --nv torch.sif python train.py", options=one_gpu("-p amd"))
    assert causes(ONE, job, CLUSTER) == {"container-without-gpu"}
    assert causes(ONE, job.replace("--nv", "--rocm"), CLUSTER) == set()


def test_nccl_on_processors():
    script = DDP.replace("    torch.cuda.set_device(local)\n", "").replace(".cuda()", "").replace(", device_ids=[local]", "")
    job = batch(TORCHRUN, options=("-p plain", "--cpus-per-task=16", "-n 1"))
    assert causes(script, job, CLUSTER) == {"backend-not-for-device"}
    assert causes(script.replace('"nccl"', '"gloo"'), job, CLUSTER) == set()


def test_a_program_under_hydra_runs_on_every_rank():
    hydra = DDP.replace("def main():", "@hydra.main(config_path=None, version_base=None)\ndef main(cfg):").replace(
        "import os, argparse", "import os, argparse, hydra"
    )
    everywhere = hydra.replace("        if rank == 0:\n            torch.save(", "        if True:\n            torch.save(")
    assert causes(hydra.replace("    dist.destroy", "    dist.barrier()\n    dist.destroy"), batch(TORCHRUN)) == set()
    assert causes(everywhere, batch(TORCHRUN)) == {"every-rank-writes-same-file"}


@pytest.mark.parametrize(
    ("call", "mended_call"),
    [
        ('self.log("val/é", loss)', 'self.log("val/é", loss, sync_dist=True)'),
        ('self.log("val", loss, prog_bar=True,)', 'self.log("val", loss, prog_bar=True, sync_dist=True)'),
        ('self.log(\n            "val", loss)  # of a part', 'self.log(\n            "val", loss, sync_dist=True)  # of a part'),
        ('self.log("val", loss  # of a part\n        )', None),
    ],
)
def test_a_logged_figure_is_synchronised_by_fix(call, mended_call):
    text = LIGHTNING.replace(
        "    def training_step",
        f"    def validation_step(self, b, i):\n        loss = self.net(b[0]).mean()\n        {call}\n\n    def training_step",
        1,
    )
    findings = [each for each in found(text, batch(SRUN, options=TASKS)) if each.cause == "metric-not-synchronised"]
    changes = [each.change for each in findings if each.change is not None]
    assert len(findings) == 1
    assert mended(text, changes) == (text if mended_call is None else text.replace(call, mended_call))


def test_a_rank_that_is_exported_too_early_is_exported_by_each_task(tmp_path, capsys):
    """With srun alone; a rendezvous is proposed where torchrun asks for a rank of the node."""
    (tmp_path / "train.py").write_text(DDP)
    for command, proposed in (("srun python train.py", False), ("srun torchrun --node_rank=$NODE_RANK train.py", True)):
        (tmp_path / "job.sbatch").write_text(batch("export NODE_RANK=$SLURM_NODEID", command, options=NODES))
        run(["train", "check", str(tmp_path / "train.py"), str(tmp_path / "job.sbatch"), "--json"])
        findings = json.loads(capsys.readouterr().out)["findings"]
        (early,) = [each for each in findings if each["cause"] == "rank-expanded-in-batch-shell"]
        lines = early["fixes"][0]["lines"]
        assert lines[0] == f"srun bash -c 'export NODE_RANK=$SLURM_NODEID; exec {command.removeprefix('srun ')}'"
        assert any("--rdzv-backend" in line for line in lines) is proposed
        places = [(quote["file"], quote["line"]) for quote in early["evidence"]]
        assert len(set(places)) == len(places)


IMAGE = "apptainer exec /images/torch.sif python train.py"
HELPER = "import os\ndef init(args):\n    args.rank = int(os.environ['SLURM_PROCID'])\n"
BY_OPTIONS = DDP.replace(
    "def main():\n",
    "from helper import init\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n    parser.add_argument('--rank', type=int, default=0)\n    args = parser.parse_args()\n    init(args)\n",
).replace(
    '        if rank == 0:\n            torch.save(model.module.state_dict(), "last.pt")',
    '        path = "queue" + str(args.rank) + ".pth"\n        torch.save(model.module.state_dict(), path)',
)
OUTPUT = DDP.replace(
    "            loss = model(x.cuda()).sum()",
    "            loss = model(x.cuda(rank)).sum()\n            if loss {}:\n                continue\n            dist.all_reduce(loss)",
)
LENT = (
    DDP.replace("    train = Numbers()\n", "    train = given(){}\n")
    .replace("def main():", "def given():\n    return DataLoader(Numbers(), batch_size=4, shuffle=True)\n\n\ndef main():")
    .replace("DataLoader(train, batch_size=4, sampler=sampler, num_workers=2)", "{}")
)


@pytest.mark.parametrize(
    ("script", "lines", "options", "helper", "cause"),
    [
        (ONE, ("module load singularity-bindings cuda", IMAGE), one_gpu(), "", ""),
        (ONE, ("ml site-apptainer/2", IMAGE), one_gpu(), "", ""),
        (ONE, ("module load apptainer/1.3 cuda", IMAGE), one_gpu(), "", "container-without-gpu"),
        (ONE, ("module load singularity-ce", IMAGE), one_gpu(), "", "container-without-gpu"),
        (BY_OPTIONS, (TORCHRUN,), JOB, HELPER, ""),
        (BY_OPTIONS, (TORCHRUN,), JOB, HELPER.replace("args.rank", "args.port"), "every-rank-writes-same-file"),
        (OUTPUT.format("is None"), (TORCHRUN,), JOB, "", ""),
        (OUTPUT.format(".item() > 0"), (TORCHRUN,), JOB, "", ""),
        (OUTPUT.format("> 5"), (TORCHRUN,), JOB, "", ""),
        (OUTPUT.replace("loss {}", "loss"), (TORCHRUN,), JOB, "", ""),
        (OUTPUT.replace("if loss {}", "if rank == 0"), (TORCHRUN,), JOB, "", "rank-zero-collective-deadlock"),
        (OUTPUT.replace("loss {}", "rank > 2"), (TORCHRUN,), JOB, "", "rank-zero-collective-deadlock"),
        (OUTPUT.replace("loss {}", "rank"), (TORCHRUN,), JOB, "", "rank-zero-collective-deadlock"),
        (LENT.format(".dataset", "DataLoader(train, batch_size=4, sampler=sampler, num_workers=2)"), (TORCHRUN,), JOB, "", ""),
        (LENT.format("", "given()"), (TORCHRUN,), JOB, "", "data-not-sharded"),
    ],
)
def test_what_programs_of_others_do(script, lines, options, helper, cause):
    """Both sides of what was accused wrongly in scripts of public repositories."""
    beside = {"helper.py": helper} if helper else {}
    assert causes(script, batch(*lines, options=options), beside=beside) == ({cause} if cause else set())


@pytest.mark.parametrize(
    ("command", "output", "missing"),
    [
        ("train.py", "logs/%j.out", False),
        ("code/train.py", "logs/%j.out", True),
        ("train.py", "jobs/%j.out", False),
        ("train.py", "code/%j.out", True),
        ("{folder}/train.py", "logs/%j.out", True),
        ("../train.py", "logs/%j.out", True),
    ],
)
def test_the_folder_of_the_log_is_looked_for_where_the_job_is_submitted(tmp_path, capsys, command, output, missing):
    """`sbatch jobs/job.sbatch` in the folder from which the batch script's command finds the program."""
    for name in ("logs", "jobs", "jobs/jobs"):
        (tmp_path / name).mkdir()
    (tmp_path / "train.py").write_text(ONE)
    job = batch(f"python {command.format(folder=tmp_path)}", options=one_gpu(f"--output={output}"))
    (tmp_path / "jobs" / "job.sbatch").write_text(job)
    run(["train", "check", str(tmp_path / "train.py"), str(tmp_path / "jobs" / "job.sbatch"), "--json"])
    found_causes = {each["cause"] for each in json.loads(capsys.readouterr().out)["findings"]}
    assert ("sbatch-output-folder-missing" in found_causes) is missing


@pytest.mark.parametrize(("guard", "cause"), [("if rank == 0:", {"rank-zero-collective-deadlock"}), ("if True:", set())])
def test_functions_that_call_each_other_in_many_ways_are_followed_once(guard, cause):
    """Three functions in each of ten layers call all of the next: 59,049 ways from the guard to the call."""
    layers = [
        f"def f{layer}{each}():\n    " + "; ".join(f"f{layer + 1}{to}()" for to in range(3)) + "\n\n\n"
        for layer in range(9)
        for each in range(3)
    ] + [f"def f9{each}():\n    dist.barrier()\n\n\n" for each in range(3)]
    script = DDP.replace("def main():", "".join(layers) + "def main():")
    script = script.replace("    dist.destroy", f"    {guard}\n        f00()\n        f01()\n        f02()\n    dist.destroy")
    assert causes(script, batch(TORCHRUN)) == cause


@pytest.mark.parametrize(
    ("pins", "waits"),
    [
        ("", True),
        ("torch==2.4.1\n", True),
        ("pytorch-lightning==1.4.2\n", False),
        ("pytorch_lightning==1.4.2\n", False),
        ("  - pytorch-lightning=2.0.9\n", False),
        ("lightning[extra]==2.1.0\n", True),
        ('install_requires=["pytorch-lightning<2.1", "x"]', False),
        ("lightning<3", True),
        ("lightning~=2.0", True),
        ("lightning~=2.0.1", False),
        ('pytorch-lightning = "^1.9.0"', False),
        ("pytorch-lightning==1.4.2\nlightning==2.6.6\n", True),
        ("my-lightning==1.0.0", True),
    ],
)
def test_a_trainer_that_saves_waits_since_a_release(pins, waits):
    script = LIGHTNING.replace("    trainer.fit(", "    if trainer.is_global_zero:\n        trainer.save_checkpoint('x')\n    trainer.fit(")
    assert ("rank-zero-collective-deadlock" in causes(script, batch(SRUN, options=TASKS), pins=pins)) is waits


@pytest.mark.parametrize(
    ("option", "cluster", "severity"),
    [
        ("--constraint=gpu", "", "warning"),
        ("--constraint=haswell", "", "error"),
        ("--partition=new", "", "error"),
        ("--constraint=gpu", CLUSTER, "error"),
    ],
)
def test_a_feature_that_may_grant_gpus_makes_a_missing_request_a_warning(option, cluster, severity):
    options = ("--nodes=1", "--ntasks-per-node=1", "--time=01:00:00", option, *(("--partition=new",) if cluster else ()))
    script = "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\n"
    (no_gpu,) = [
        each for each in found(script, batch("python train.py", options=options), cluster=cluster) if each.cause == "slurm-no-gpu-requested"
    ]
    assert no_gpu.severity == severity
