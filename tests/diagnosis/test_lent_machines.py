"""What belongs to a provider is left to it: the host of a rented container or a notebook, the card of a cloud's machine."""

import pytest

TOO_OLD = (
    "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver\n"
    "$ python -c 'import torch; print(torch.__version__)'\n2.8.0+cu128\n"
)
MISMATCH = "!nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.82\n"
OFF = "NVRM: Xid (PCI:0000:06:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"


@pytest.mark.parametrize(
    "place", ["RunPod, one 4090\n", "on a vast.ai instance\n", "root@C.14820331:/workspace$ ls\n", "cd /root/autodl-tmp\n"]
)
def test_a_renter_changes_torch_before_the_machine_and_never_its_driver(mended, place):
    told = mended("driver-too-old-for-wheel", place + TOO_OLD)
    assert "torch" in told[0]
    assert "rent one whose NVIDIA driver" in told[1]
    assert not any("restart" in way or "install the NVIDIA driver" in way for way in told)


def test_who_names_a_rented_machine_for_comparison_installs_the_driver(mended):
    told = mended("driver-too-old-for-wheel", "the same works fine on RunPod\n" + TOO_OLD)
    assert any("install the NVIDIA driver" in way for way in told)
    assert not any("rent one" in way for way in told)


def test_a_machine_whose_modules_are_built_is_no_rented_container(mended):
    body = "I use vast.ai for the large jobs, this is my box\n$ dkms status\nnvidia/535.183.01, 6.8.0-45-generic, x86_64: installed\n"
    told = mended("driver-too-old-for-wheel", body + TOO_OLD)
    assert not any("rent one" in way for way in told)


def test_a_notebook_is_given_back_whose_driver_was_replaced(mended):
    told = mended("nvml-driver-library-mismatch", "Colab, T4\n" + MISMATCH)
    assert len(told) == 1
    assert "end the session" in told[0]


def test_on_a_machine_of_ones_own_the_module_is_loaded_anew(mended):
    told = mended("nvml-driver-library-mismatch", "my box\n$ " + MISMATCH.removeprefix("!"))
    assert "modprobe" in told[0]


def test_a_clouds_machine_comes_up_on_another_host(mended):
    told = mended("gpu-fell-off-bus", "ubuntu@ip-172-31-22-7:~$ sudo dmesg\n" + OFF)
    assert all("stop the machine and start it again" in way for way in told)


def test_a_card_of_ones_own_is_looked_at(mended):
    told = mended("gpu-fell-off-bus", "ubuntu@box:~$ sudo dmesg\n" + OFF)
    assert "sit firmly" in told[0]


def test_a_job_is_led_around_a_node_without_its_driver(mended):
    body = "[jdoe@login1 ~]$ srun -p gpu --gres=gpu:1 --pty bash\n[jdoe@gpu07 ~]$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n[jdoe@gpu07 ~]$ lspci | grep -i nvidia\n17:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev a1)\n"
    told = mended("nvidia-module-not-loaded", body)
    assert "--exclude=gpu07" in told[0]
    assert "administrators" in told[0]
