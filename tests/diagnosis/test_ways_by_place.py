"""Ways that depend on where the program runs: a notebook, a batch script, conda, another system's index; each from both sides."""

import pytest

from answer_data import diagnose


def answer_of(tmp_path, body):
    (tmp_path / "paste.txt").write_text(body, encoding="utf-8")
    return diagnose(str(tmp_path / "paste.txt"))


def causes_of(answer):
    return [finding["cause"] for finding in answer["findings"] if finding["severity"] != "note" and not finding["guess"]]


def first_way(answer):
    steps = answer["findings"][0]["fixes"][0]["steps"]
    return " ".join(step["title"] + " " + " ".join(map(" ".join, step["commands"] or ())) for step in steps)


NO_HEADERS = "/tmp/tmp1/main.c:5:10: fatal error: Python.h: No such file or directory\n"


@pytest.mark.parametrize(
    ("told", "package"),
    [
        ("Ubuntu 24.04, torch.compile fails\n", "python3-dev"),
        ("Ubuntu 22.04, torch.compile fails\n$ python -V\nPython 3.12.4\n", "python3.12-dev"),
        ("Fedora 41, torch.compile fails\n'-I/usr/include/python3.12']' returned non-zero exit status 1.\n", "python3.12-devel"),
    ],
)
def test_headers_are_those_of_the_python_that_runs(tmp_path, told, package):
    assert f"install {package} from" in first_way(answer_of(tmp_path, told + NO_HEADERS))


SCRIPT = "#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --mem=32G\nsrun python train.py\n"
NO_GPU = "RuntimeError: No CUDA GPUs are available\n$ scontrol show job 7 | grep TRES\n   ReqTRES=cpu=8,mem=32G,node=1,billing=8\n"


@pytest.mark.parametrize(("shown", "way"), [(SCRIPT, "#SBATCH --gpus-per-node=1"), ("", "with --gpus-per-node=1")])
def test_a_batch_script_gets_a_line(tmp_path, shown, way):
    answer = answer_of(tmp_path, "$ cat run.sh\n" * bool(shown) + shown + NO_GPU)
    assert causes_of(answer) == ["slurm-no-gpu-requested"]
    assert way in first_way(answer)


FORKED = "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method\n"
LAUNCHED = "RuntimeError: CUDA has been initialized before the `notebook_launcher` could create a forked subprocess.\n"


@pytest.mark.parametrize(("body", "way"), [(FORKED, "spawn method"), (FORKED + LAUNCHED, "restart the notebook's kernel")])
def test_a_launcher_that_forks_wants_a_fresh_kernel(tmp_path, body, way):
    answer = answer_of(tmp_path, body)
    assert way in first_way(answer)
    assert len(answer["findings"][0]["fixes"]) == 1


OPERATOR = "NotImplementedError: The operator 'aten::_linalg_qr' is not currently implemented for the MPS device.\n"


@pytest.mark.parametrize(
    ("body", "way"),
    [(OPERATOR, "before Python starts"), ("Cell In[5], line 2\n----> 2 q, r = torch.linalg.qr(x)\n" + OPERATOR, "in the first cell")],
)
def test_a_variable_is_set_where_the_notebook_reads_it(tmp_path, body, way):
    assert way in first_way(answer_of(tmp_path, body))


TRANSLATED = "macOS-10.16-x86_64-i386-64bit\n% sysctl -n machdep.cpu.brand_string\nApple M2\n% python -V\nPython 3.11.9\n% pip install torch==2.6.0\nERROR: No matching distribution found for torch==2.6.0\n"


@pytest.mark.parametrize(
    ("python", "way"), [("/Users/ada/anaconda3/envs/ml/bin/python\n", "conda create"), ("/Users/ada/ml/bin/python\n", "python.org")]
)
def test_who_has_conda_makes_a_native_environment_with_it(tmp_path, python, way):
    answer = answer_of(tmp_path, "% which python\n" + python + TRANSLATED)
    assert causes_of(answer) == ["mps-x86-python-under-rosetta"]
    assert way in first_way(answer)
    assert not any("10.16" in str(fact) for fact in answer["findings"][0]["fixes"])


def of_an_index(prompt, index):
    return f"{prompt} pip install torch --index-url https://download.pytorch.org/whl/{index}\nLooking in indexes: https://download.pytorch.org/whl/{index}\nERROR: Could not find a version that satisfies the requirement torch (from versions: none)\nERROR: No matching distribution found for torch\n"


@pytest.mark.parametrize(
    ("body", "way"),
    [
        ("AMD Radeon RX 9070 XT\ngcnArchName: gfx1201\n" + of_an_index("PS C:\\Users\\ada>", "rocm6.3"), "device-gfx1201"),
        ("MacBook Pro, macOS 15.4, Apple M3\n" + of_an_index("ada@Mac ~ %", "cu126"), "pip install torch"),
    ],
)
def test_an_index_of_another_system_is_left_for_ones_own(tmp_path, body, way):
    answer = answer_of(tmp_path, body)
    assert causes_of(answer)[:1] == ["extension-without-platform-build"]
    assert way in first_way(answer)
    assert "WSL" not in first_way(answer)


@pytest.mark.parametrize("body", [of_an_index("ada@box:~$", "rocm6.3"), of_an_index("PS C:\\Users\\ada>", "cu126")])
def test_an_index_that_has_the_system_is_not_blamed(tmp_path, body):
    assert "extension-without-platform-build" not in causes_of(answer_of(tmp_path, body))


COMFY = "Total VRAM 8176 MB, total RAM 32691 MB\npytorch version: 2.3.1+cu118\nDevice: cuda:0 AMD Radeon RX 6600{mark} : native\n"


def test_zluda_runs_a_build_for_nvidia_by_design(tmp_path):
    told = "  ::  ZLUDA detected, disabling non-supported functions.\n"
    assert causes_of(answer_of(tmp_path, told + COMFY.format(mark=" [ZLUDA]"))) == []
    assert causes_of(answer_of(tmp_path, COMFY.format(mark="") + "AssertionError: Torch not compiled with CUDA enabled\n")) != []


WARNING = 'box:51:51 [0] init.cc:138 NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!\n'


def test_the_word_that_rccl_misses_is_named_where_the_run_hangs(tmp_path):
    hung = answer_of(tmp_path, "Two RX 7900 XTX. With both, it hangs after init.\n" + WARNING)
    assert causes_of(hung) == ["nccl-p2p-blocked-by-acs-iommu"]
    assert "iommu=pt" in first_way(hung)
    assert causes_of(answer_of(tmp_path, WARNING + "step 100 loss 2.31\n")) == []


HEAD = """============================================ ROCm System Management Interface ============================================
====================================================== Concise Info ======================================================
Device  Node  IDs              Temp    Power  Partitions          SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%
              (DID,     GUID)  (Edge)  (Avg)  (Mem, Compute, ID)
==========================================================================================================================
"""
ROWS = "".join(
    f"{number}       {number + 2}     0x740f,   18437  34.0°C  40.0W  N/A, N/A, 0         800Mhz  1600Mhz  0%   auto  300.0W  0%     0%    \n"
    for number in range(2)
)


@pytest.mark.parametrize(("told", "count"), [("MI210", 2), ("MI300X", 3)])
def test_a_model_in_words_is_one_of_those_that_are_listed(tmp_path, told, count):
    body = f"Our AMD Instinct {told} server.\n# rocm-smi\n{HEAD}{ROWS}"
    assert len(answer_of(tmp_path, body)["machine"]["accelerators"]) == count


def test_memory_behind_a_name_is_no_part_of_it(tmp_path):
    listed = "torch 2.6.0+cu124\n[0] NVIDIA GeForce RTX 3090  23.6 GiB\n[1] NVIDIA A100 80GB PCIe\n"
    names = [device["name"] for device in answer_of(tmp_path, listed)["machine"]["accelerators"]]
    assert names == ["NVIDIA GeForce RTX 3090", "NVIDIA A100 80GB PCIe"]
