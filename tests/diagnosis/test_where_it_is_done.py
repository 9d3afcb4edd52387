"""Steps name the Python, the framework and the toolkit that a text shows, and install nothing that is there."""

import pytest

from answer_data import diagnose


def first_way(tmp_path, text):
    (tmp_path / "paste.txt").write_text(text, encoding="utf-8")
    finding = diagnose(str(tmp_path / "paste.txt"))["findings"][0]
    return finding, finding["fixes"][0]


def commands(fix):
    return [argv for step in fix["steps"] for argv in step["commands"] or ()]


LOST = r"""my RTX 4070, driver 576.88
  File "{folder}\Lib\site-packages\torch\cuda\__init__.py", line 363, in _lazy_init
AssertionError: Torch not compiled with CUDA enabled
Python 3.12.10 (tags/v3.12.10:0cc8128, Apr  8 2025, 12:21:36) [MSC v.1943 64 bit (AMD64)]
"""


@pytest.mark.parametrize(
    ("folder", "python"),
    [
        (r"E:\sd\venv", r"E:\sd\venv\Scripts\python.exe"),
        (r"C:\Users\ada\miniconda3\envs\llm", r"C:\Users\ada\miniconda3\envs\llm\python.exe"),
        (r"C:\work\thing", "python"),
    ],
)
def test_an_environment_of_windows_is_named_by_its_own_path(tmp_path, folder, python):
    _finding, fix = first_way(tmp_path, LOST.format(folder=folder))
    assert commands(fix)[0][0] == python


NO_DRIVER = """Ubuntu 22.04
$ docker run --rm --gpus all nvidia/cuda:12.4.1-base-ubuntu22.04 nvidia-smi
docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].
$ dpkg -l | grep nvidia-container
{listed}
"""


def test_a_toolkit_that_is_there_is_only_made_known(tmp_path):
    there = "ii  nvidia-container-toolkit   1.17.3-1  amd64  NVIDIA Container toolkit"
    _finding, fix = first_way(tmp_path, NO_DRIVER.format(listed=there))
    assert [argv[0] for argv in commands(fix)] == ["nvidia-ctk", "systemctl"]


def test_a_toolkit_that_is_not_there_is_installed(tmp_path):
    _finding, fix = first_way(tmp_path, NO_DRIVER.format(listed=""))
    assert ["apt-get", "install", "-y", "nvidia-container-toolkit"] in [list(argv) for argv in commands(fix)]


OPENCL = """Ubuntu 24.04.2 LTS
$ python -c "import {framework}; print(1)"
$ lspci -nnk -s 00:02.0
00:02.0 VGA compatible controller [0300]: Intel Corporation Alder Lake-P GT2 [Iris Xe Graphics] [8086:46a6] (rev 0c)
	Kernel driver in use: i915
	Kernel modules: i915, xe
$ ls -l /dev/dri
crw-rw----+ 1 root video  226,   1 Jun 18 08:41 card1
crw-rw----+ 1 root render 226, 128 Jun 18 08:41 renderD128
$ id -nG
ada adm sudo video render
$ clinfo | head -1
Number of platforms                               0
"""


@pytest.mark.parametrize(("framework", "asked"), [("openvino", "openvino"), ("torch", "torch")])
def test_the_framework_that_is_used_shows_whether_it_worked(tmp_path, framework, asked):
    finding, fix = first_way(tmp_path, OPENCL.format(framework=framework))
    assert finding["cause"] == "intel-compute-runtime-missing"
    assert asked in " ".join(fix["check"]["commands"][0])
    assert any("add-apt-repository" in argv for argv in commands(fix))


TRIED = """>>> torch.__version__
'2.6.0+rocm6.2.4'
>>> torch.cuda.get_device_name(0)
'AMD Radeon RX 5700 XT'
RuntimeError: HIP error: invalid device function
{line}
Segmentation fault (core dumped)
"""


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("ada@pc:~$ HSA_OVERRIDE_GFX_VERSION=11.0.0 python x.py", "gfx-not-in-torch-wheel"),
        ("ada@pc:~$ export HSA_OVERRIDE_GFX_VERSION=11.0.0", "wrong-hsa-override"),
    ],
)
def test_what_was_tried_for_one_command_is_no_cause(tmp_path, line, cause):
    finding, _fix = first_way(tmp_path, TRIED.format(line=line))
    assert finding["cause"] == cause


ASSERTED = """../aten/src/ATen/native/cuda/{file}: block: [0,0,0], thread: [4,0,0] Assertion `{condition}` failed.
RuntimeError: CUDA error: device-side assert triggered
"""


@pytest.mark.parametrize(
    ("file", "condition", "kind"),
    [
        ("Loss.cu:245: nll_loss_forward", "t >= 0 && t < n_classes", "fit-labels"),
        ("Indexing.cu:1290: indexSelectLargeIndex", "srcIndex < srcSelectDimSize", "fit-indices"),
        ("Loss.cu:94: operator()", "input_val >= zero && input_val <= one", "fit-probabilities"),
        ("ScatterGatherKernel.cu:144: operator()", "idx_dim >= 0 && idx_dim < index_size", "find-failing-line"),
    ],
)
def test_a_failed_assertion_is_mended_by_what_it_asserts(tmp_path, file, condition, kind):
    _finding, fix = first_way(tmp_path, ASSERTED.format(file=file, condition=condition))
    assert [step["kind"] for step in fix["steps"]] == [kind]


STOPPED = """Debian 12, root@ml1:~# sh NVIDIA-Linux-x86_64-550.144.03.run
ERROR: The Nouveau kernel driver is currently in use by your system.  This driver is incompatible with the NVIDIA driver.
{more}
"""


@pytest.mark.parametrize(
    ("more", "first"),
    [
        (
            "WARNING: One or more modprobe configuration files to disable Nouveau are already present at: /x.conf",
            "rebuild-initramfs-without",
        ),
        ("", "blacklist-module"),
    ],
)
def test_an_installer_that_stopped_is_run_again(tmp_path, more, first):
    _finding, fix = first_way(tmp_path, STOPPED.format(more=more))
    kinds = [step["kind"] for step in fix["steps"]]
    assert (kinds[0], kinds[-1]) == (first, "run-driver-installer")
    assert fix["steps"][-1]["commands"] == [["sh", "NVIDIA-Linux-x86_64-550.144.03.run", "--dkms"]]


def test_a_job_is_given_twice_what_it_asked_for(tmp_path):
    text = "#SBATCH --mem=16G\nslurmstepd: error: Detected 2 oom_kill events in StepId=482913.0. Some of the step tasks have been OOM Killed.\n"
    _finding, fix = first_way(tmp_path, text)
    assert "--mem=32G" in fix["title"]


def test_libstdcxx_is_asked_for_by_the_release_that_has_the_symbols(tmp_path):
    line = "OSError: /home/ada/miniconda3/envs/llm/bin/../lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by /home/ada/miniconda3/envs/llm/lib/libx.so)\n"
    _finding, fix = first_way(tmp_path, line)
    assert "libstdcxx-ng>=13" in commands(fix)[0]
