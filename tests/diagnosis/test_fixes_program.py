"""What the doctor tells people to do about programs and their ranks."""

import pytest

from answer_data import diagnose


@pytest.fixture
def ways(tmp_path):
    """The titles of each way that the first finding tells."""

    def told(body):
        (tmp_path / "said.txt").write_text(body, "utf-8")
        return [fix["title"] for fix in diagnose(str(tmp_path))["findings"][0]["fixes"]]

    return told


_FORKED = "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method\n"


@pytest.mark.long
def test_vllm_has_a_variable_for_how_its_workers_start(ways):
    assert ways("(VllmWorkerProcess pid=77) " + _FORKED)[0] == "set VLLM_WORKER_MULTIPROC_METHOD=spawn for the program"
    assert "spawn method" in ways(_FORKED)[0]


_LOOP = (
    "n1:411:411 [0] NCCL INFO NET : Using interface lo:127.0.1.1<0>\nn1:411:411 [0] NCCL WARN Call to connect returned Connection refused\n"
)


def test_a_containers_network_is_told_only_where_there_is_one(ways):
    behind = "n1:4:4 [0] include/socket.h:390 NCCL WARN Connect to 172.17.0.3<37551> failed : Connection refused\n"
    assert not any("--network" in way for way in ways(_LOOP))
    assert "start the container with --network=host" in ways("We run it in docker.\n" + behind)


def test_gloo_gets_a_name_and_no_exclusion(ways):
    told = ways("RuntimeError: [enforce fail at gloo/transport/tcp/device.cc] Unable to find address for: eno1\n")
    assert told
    assert not any("^" in way or "NCCL" in way for way in told)


def test_a_variable_of_windows_is_taken_out_of_its_settings(ways):
    body = "OS: Microsoft Windows 11\nC:\\> set CUDA_VISIBLE_DEVICES=4\nC:\\> nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-11111111-2222-3333-4444-555555555555)\nRuntimeError: No CUDA GPUs are available\n"
    assert not any("/etc/environment" in way for way in ways(body))


@pytest.mark.parametrize(
    ("script", "first"),
    [
        (
            "#SBATCH --ntasks=1\n#SBATCH --ntasks-per-node=4\n#SBATCH --gres=gpu:4\n",
            "write into the batch script `#SBATCH --ntasks-per-node=4`, in place of --ntasks=1, and submit it again",
        ),
        (
            "#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:4\n",
            "write into the batch script `#SBATCH --ntasks-per-node=4`, in place of --ntasks-per-node=1, and submit it again",
        ),
        (
            "#SBATCH --ntasks-per-node=1\n#SBATCH --gres=gpu:4\n#SBATCH -c 32\n",
            "write into the batch script `#SBATCH --ntasks-per-node=4`, `#SBATCH --cpus-per-task=8`, in place of --ntasks-per-node=1, --cpus-per-task=32, and submit it again",
        ),
    ],
)
def test_the_number_of_tasks_is_the_one_that_the_text_shows(ways, script, first):
    body = f"#!/bin/bash\n#SBATCH --nodes=1\n{script}srun python train_lightning.py\ntrainer = L.Trainer(devices=4, num_nodes=1, accelerator='gpu', strategy='ddp')\n"
    assert ways(body)[0] == first


@pytest.mark.long
def test_without_a_number_no_letter_stands_for_it(ways):
    told = ways("n4:18:18 [0] bootstrap.cc:131 NCCL WARN Bootstrap Root : rank 1 of 8 ranks has already checked in\n")
    assert told
    assert not any("=N" in way for way in told)


def test_the_option_that_binds_is_named_as_what_has_to_go(ways):
    body = "You requested gpu: [0, 1, 2, 3]\n But your machine only has: [0]\n#!/bin/bash\n#SBATCH -N 1\n#SBATCH --ntasks-per-node=4\n#SBATCH --gpus-per-task=1\nsrun python train.py\n"
    assert ways(body)[0] == "ask the scheduler with --gpus-per-node=4 in place of --gpus-per-task=1"


def test_where_enough_is_asked_for_only_the_binding_goes(ways):
    body = "$ srun -N 2 --ntasks-per-node=8 --gpus-per-node=8 --gpu-bind=single:1 python pretrain.py\nMisconfigurationException: You requested gpu: [0, 1, 2, 3, 4, 5, 6, 7]\n But your machine only has: [0]\n"
    assert ways(body)[0] == "ask the scheduler with --gpu-bind=none"


def test_a_job_asks_the_scheduler_for_memory_first(ways):
    assert (
        "--mem" in ways("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=77.0. Some of your processes may have been killed\n")[0]
    )


@pytest.mark.parametrize(("prompt", "first"), [("C:\\\\>", "take CUDA_VISIBLE_DEVICES out"), ("$ ", "unset CUDA_VISIBLE_DEVICES")])
def test_a_mask_is_set_right_on_every_system(ways, prompt, first):
    setting = "set" if ":" in prompt else "export"
    body = f"{prompt}{setting} CUDA_VISIBLE_DEVICES=1\n{prompt}nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-1)\n{prompt}python t.py\nRuntimeError: No CUDA GPUs are available\n"
    titles = ways(body)
    assert titles[0].startswith(first)
    where = "among the environment variables of Windows, and open a new console" if ":" in prompt else "for the program"
    assert titles[1] == f"set CUDA_VISIBLE_DEVICES=0 {where}"
