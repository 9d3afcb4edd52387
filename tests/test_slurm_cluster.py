"""The cluster that tests of Slurm stand on is one, and leaves nothing behind."""

import subprocess

import pytest

from slurm_cluster import Cluster, Kind

pytestmark = pytest.mark.slurm


def test_its_nodes_have_gpus_and_tasks_see_one_makers_variable(slurm):
    shown = slurm.run("sinfo", "-h", "-p", "cuda,rocm", "-o", "%D %G").stdout.split("\n")
    assert {"2 gpu:l40:4", "10 gpu:mi50:8"} <= set(shown)
    words = 'echo "$SLURM_PROCID/$SLURM_NTASKS:$ROCR_VISIBLE_DEVICES:${CUDA_VISIBLE_DEVICES-unset}"'
    told = slurm.run(*["srun", "-p", "rocm", "-N2", "--ntasks-per-node=2", "--gres=gpu:mi50:2", "bash", "-c"], words)
    assert sorted(told.stdout.split()) == [f"{rank}/4:0,1:unset" for rank in range(4)]


def test_a_batch_job_ends_with_its_own_status(slurm, tmp_path):
    job = slurm.run("sbatch", "--parsable", "-o", str(tmp_path / "out"), "--wrap", "exit 7").stdout.strip()
    facts = slurm.wait(job)
    assert (facts["JobState"], facts["ExitCode"]) == ("FAILED", "7:0")


def test_a_cluster_of_its_own_leaves_no_process(tmp_path):
    with Cluster([Kind("tiny", 1, "l40", 1, "nvidia_gpu_env", "nvidia")], KillWait=2) as cluster:
        folder = cluster.folder
        assert "KillWait                = 2 sec" in cluster.run("scontrol", "show", "config").stdout
        cluster.run("sbatch", "-o", "/dev/null", "--wrap", "sleep 600")
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(folder) not in left
    assert not folder.exists()
