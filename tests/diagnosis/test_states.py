"""What is told of a device beside what is found."""

from answer_data import diagnose

_CARD = "17:00.0 VGA compatible controller: NVIDIA Corporation GV100 [TITAN V] (rev a1)\n"
_STUBS = "$ echo $LD_LIBRARY_PATH\n/opt/cuda/lib64:/opt/cuda/lib64/stubs\n"
_NOUVEAU = "17:00.0 VGA compatible controller: NVIDIA Corporation GV100 [TITAN V] (rev a1)\n\tKernel driver in use: nouveau\n"


def _state(tmp_path, body):
    (tmp_path / "shown.txt").write_text(body)
    (device,) = diagnose(str(tmp_path))["machine"]["accelerators"]
    return device["state"], device["because"]


def test_a_card_of_which_nothing_is_told_is_expected_to_work(tmp_path):
    assert _state(tmp_path, _CARD)[0] == "expected"


def test_an_error_that_is_only_possible_puts_it_on_trial(tmp_path):
    state, because = _state(tmp_path, _CARD + _STUBS)
    assert state == "on-trial"
    assert "stub" in because


def test_an_error_that_is_known_says_that_it_will_not_work(tmp_path):
    silent = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    assert _state(tmp_path, _NOUVEAU + silent)[0] == "no"


def test_a_torch_that_found_a_card_is_one_for_it_whatever_it_was_built_for(tmp_path):
    shown = (
        "GPU available           Yes\nGPU 0                   GeForce GTX 1080 Ti (arch=6.1)\nPyTorch                 1.8.0 @/opt/torch\n"
    )
    state, because = _state(tmp_path, "sys.platform            linux\n" + shown)
    assert state == "expected"
    assert "no torch" not in because


def test_what_a_program_asks_of_a_sound_machine_is_no_fault_of_the_card(tmp_path):
    failed = "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376."
    assert _state(tmp_path, _CARD + failed + "\n")[0] == "expected"


def test_of_an_excerpt_nobody_says_that_there_is_no_torch(tmp_path):
    assert "torch" not in _state(tmp_path, _CARD)[1]


def _states(tmp_path, body):
    (tmp_path / "shown.txt").write_text(body)
    return [device["state"] for device in diagnose(str(tmp_path))["machine"]["accelerators"]]


_QUADROS = "$ nvidia-smi --query-gpu=index,name,compute_cap,driver_version --format=csv\nindex, name, compute_cap, driver_version\n"
_REFUSED = (
    "UserWarning:\n    Found GPU0 Quadro GV100 which is of cuda capability 7.0.\n    Minimum and Maximum cuda capability supported by this version of PyTorch is\n"
    "    (7.5) - (12.0)\nRuntimeError: CUDA error: no kernel image is available for execution on the device\n$ pip list | grep torch\ntorch 2.9.1+cu130\n"
)


def test_what_a_build_refuses_of_one_card_it_refuses_of_all_of_its_model(tmp_path):
    like = _QUADROS + "0, Quadro GV100, 7.0, 580.95.05\n1, Quadro GV100, 7.0, 580.95.05\n"
    assert _states(tmp_path, like + _REFUSED) == ["no", "no"]


def test_another_model_beside_it_is_not_refused(tmp_path):
    unlike = _QUADROS + "0, Quadro GV100, 7.0, 580.95.05\n1, NVIDIA A40, 8.6, 580.95.05\n"
    assert _states(tmp_path, unlike + _REFUSED) == ["no", "expected"]


def test_what_broke_in_one_card_did_not_break_in_its_like(tmp_path):
    lost = "kernel: NVRM: Xid (PCI:0000:17:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    assert _states(tmp_path, _CARD + _CARD.replace("17:", "65:") + lost) == ["no", "expected"]


def test_what_takes_a_discrete_card_away_does_not_stop_the_processors_graphics(tmp_path):
    graphics = "0000:00:02.0 VGA compatible controller: Intel Corporation Raptor Lake-P [Iris Xe Graphics] (rev 04)\n"
    switched = "$ sudo envycontrol --query\nintegrated\n$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    assert _states(tmp_path, "$ lspci | grep VGA\n" + graphics + switched) != ["no"]


def test_a_list_without_the_chip_is_no_code_for_it(tmp_path):
    shown = "$ rocminfo | grep -E 'Name:'\n  Name:                    gfx1032\n  Marketing Name:          AMD Radeon RX 6600\n"
    session = ">>> torch.cuda.is_available()\nTrue\n>>> torch.cuda.get_arch_list()\n['gfx900', 'gfx1030', 'gfx1100']\n>>> torch.ones(1, device='cuda')\nRuntimeError: HIP error: invalid device function\n"
    assert _states(tmp_path, shown + "$ pip list | grep torch\ntorch 2.8.0+rocm6.4\n" + session) == ["no"]


_OLD = """
$ nvidia-smi -L
GPU 0: NVIDIA GeForce GTX 1080 (UUID: GPU-5bd0d7c1-2f0e-9d5c-7a41-0c6f0e3b8a92)
GPU 1: NVIDIA GeForce GTX 1080 (UUID: GPU-5bd0d7c1-2f0e-9d5c-7a41-0c6f0e3b8a93)
GPU 2: NVIDIA GeForce RTX 3060 (UUID: GPU-5bd0d7c1-2f0e-9d5c-7a41-0c6f0e3b8a94)
$ python -c "import torch; print(torch.__version__); torch.ones(2).cuda()"
2.9.1+cu128
    Found GPU0 NVIDIA GeForce GTX 1080 which is of cuda capability 6.1.
    Minimum and Maximum cuda capability supported by this version of PyTorch is
    (7.0) - (12.0)
torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device
"""


def test_of_cards_of_one_chip_a_build_without_its_code_serves_none(tmp_path):
    (tmp_path / "shown.txt").write_text(_OLD)
    cards = diagnose(str(tmp_path))["machine"]["accelerators"]
    assert [card["state"] for card in cards] == ["no", "no", "expected"]


_LOOKS = """
$ nvidia-smi --query-gpu=timestamp,temperature.gpu,clocks.sm,memory.used --format=csv -l 60
timestamp, temperature.gpu, clocks.current.sm [MHz], memory.used [MiB]
2025/10/04 20:11:02.114, 51, 1531 MHz, 900 MiB
2025/10/04 20:11:02.116, 50, 1531 MHz, 10 MiB
2025/10/04 20:12:02.116, 95, 544 MHz, 901 MiB
2025/10/04 20:12:02.117, 52, 1531 MHz, 11 MiB
"""


def test_rows_of_one_look_after_another_are_the_same_cards(tmp_path):
    (tmp_path / "shown.txt").write_text(_LOOKS)
    assert len(diagnose(str(tmp_path))["machine"]["accelerators"]) == 2


def test_a_card_that_heat_slows_down_is_not_told_that_nothing_speaks_against_it(tmp_path):
    card = "name, temperature.gpu\nTesla P40, {degrees}\n"
    slowed = (
        "    Clocks Event Reasons\n        HW Slowdown                       : {it}\n            HW Thermal Slowdown           : {it}\n"
    )
    assert "throttled" in _state(tmp_path, card.format(degrees=93) + slowed.format(it="Active"))[1]
    assert "throttled" not in _state(tmp_path, card.format(degrees=53) + slowed.format(it="Not Active"))[1]


def test_a_card_whose_name_nobody_pasted_is_not_on_trial(tmp_path):
    report = "Driver Version                            : 550.127.08\nAttached GPUs                             : 1\nGPU 00000000:AB:00.0\n"
    assert _state(tmp_path, report)[0] == "expected"


def test_cards_of_amd_in_the_list_of_rccl_tests_are_amds(tmp_path):
    (tmp_path / "shown.txt").write_text("# Using devices\n#   Rank  0 Pid   7711 on   hpc03 device  0 [0000:c1:00.0] AMD Instinct MI250X\n")
    (device,) = diagnose(str(tmp_path))["machine"]["accelerators"]
    assert (device["vendor"], device["state"]) == ("amd", "expected")


_UHD = "00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 620 (rev 07)\n"
_RTX = "GPU 0: NVIDIA GeForce RTX 4070 (UUID: GPU-5bd0d7c1-2f0e-9d5c-7a41-0c6f0e3b8a92)\n"
_OLLAMA = "NAME      ID              SIZE      PROCESSOR    UNTIL\nqwen3:4b  359d7dd4bcda    4.1 GB    100% GPU     4 minutes from now\n"


def _uses(tmp_path, body):
    (tmp_path / "shown.txt").write_text(body)
    return {device.get("name"): device.get("use") for device in diagnose(str(tmp_path))["machine"]["accelerators"]}


def test_a_card_on_which_a_program_computes_is_seen_to_work(tmp_path):
    rows = "| qwen3 8B Q4_K - Medium | 4.68 GiB | 8.19 B | ROCm | 99 | tg128 | 97.12 ± 0.11 |\n"
    amd = "  Device 0: AMD Radeon RX 7900 XTX, gfx1100 (0x1100), VMM: no, Wave Size: 32\n"
    assert _uses(tmp_path, "ggml_cuda_init: found 1 ROCm devices:\n" + amd + rows) == {"AMD Radeon RX 7900 XTX": "computes"}
    assert _uses(tmp_path, _RTX + _OLLAMA) == {"NVIDIA GeForce RTX 4070": "computes"}


def test_a_card_that_is_only_listed_is_not_seen_to_work(tmp_path):
    assert _uses(tmp_path, _RTX + ">>> jax.devices()\n[CudaDevice(id=0)]\n") == {"NVIDIA GeForce RTX 4070": None}
    assert _uses(tmp_path, _RTX + _OLLAMA.replace("100% GPU", "100% CPU")) == {"NVIDIA GeForce RTX 4070": None}


def test_of_two_cards_that_one_is_seen_to_work_whose_number_is_told(tmp_path):
    asked = "$ python -c \"import torch; x=torch.rand(2048,2048,device='cuda:1'); print((x@x).mean().item())\"\n511.884\n"
    other = _RTX.replace("GPU 0", "GPU 1").replace("8a92", "8a93")
    (tmp_path / "shown.txt").write_text(_RTX + other + asked)
    assert [card.get("use") for card in diagnose(str(tmp_path))["machine"]["accelerators"]] == [None, "computes"]


def test_a_card_that_fell_off_the_bus_does_not_work_whatever_it_computed(tmp_path):
    lost = "kernel: NVRM: Xid (PCI:0000:17:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    assert _states(tmp_path, _CARD + _OLLAMA + lost) == ["no"]


def test_a_chip_that_torch_does_not_serve_is_not_expected_to_work_with_it(tmp_path):
    assert _uses(tmp_path, _UHD + _RTX + _OLLAMA) == {"UHD Graphics 620": "none", "NVIDIA GeForce RTX 4070": "computes"}
    assert _uses(tmp_path, "03:00.0 VGA compatible controller: Intel Corporation DG2 [Arc A750] (rev 08)\n") == {"Arc A750": None}


def test_graphics_that_a_program_reaches_are_not_called_unused(tmp_path):
    assert _uses(tmp_path, _UHD + ">>> ov.Core().available_devices\n['CPU', 'GPU']\n") == {"UHD Graphics 620": None}


def test_beside_another_fault_a_card_is_not_told_that_nothing_speaks_against_it(tmp_path):
    killed = "slurmstepd: error: Detected 1 oom_kill event in StepId=881204.batch. Some of the step tasks have been OOM Killed.\n"
    assert "the card itself; see host-memory-exhausted" in _state(tmp_path, _CARD + killed)[1]


_SIBLING = (
    "  Marketing Name:          AMD Radeon RX 6700 XT\n  Name:                    gfx1031\n$ export HSA_OVERRIDE_GFX_VERSION=10.3.0\n"
)


def test_a_card_that_computes_under_an_override_is_not_on_trial(tmp_path):
    at_work = "NAME    ID              SIZE      PROCESSOR    UNTIL\nllama3.1:8b           46e0c10c039e    6.9 GB    100% GPU     4 minutes from now\n"
    assert _state(tmp_path, _SIBLING)[0] == "on-trial"
    assert _state(tmp_path, _SIBLING + "$ ollama ps\n" + at_work)[0] == "expected"


def test_no_torch_is_expected_to_compute_on_graphics_that_none_has_run_on(tmp_path):
    line = "00:02.0 VGA compatible controller: Intel Corporation {name} (rev 07)\n"
    assert _state(tmp_path, line.format(name="UHD Graphics 620"))[0] == "on-trial"
    assert _state(tmp_path, line.format(name="DG2 [Arc A750]"))[0] == "expected"


_ROW = "|   0  {name:<26} Off |   00000000:01:00.0 Off |                  N/A |\n| N/A   43C    P8              4W /   60W |       6MiB /   4096MiB |      0%      Default |\n"
_TABLE = "| NVIDIA-SMI 550.144.03             Driver Version: 550.144.03     CUDA Version: 12.4     |\n|=========================================+========================+======================|\n"


def test_a_name_that_was_cut_is_served_where_all_that_begin_so_are(tmp_path):
    assert _state(tmp_path, _TABLE + _ROW.format(name="NVIDIA GeForce RTX 3050 ..."))[0] == "expected"
    assert _state(tmp_path, _TABLE + _ROW.format(name="NVIDIA GeForce RTX 4050 ..."))[0] == "expected"


def test_a_name_that_nobody_knows_is_on_trial(tmp_path):
    assert _state(tmp_path, _TABLE + _ROW.format(name="NVIDIA GeForce RTX 9950 ..."))[0] == "on-trial"


_EPOCHS = "epoch 1  loss 1.4127  acc 0.493  381.2s\nepoch 2  loss 1.1836  acc 0.552  380.9s\n"


def test_a_program_that_may_have_fallen_back_to_the_processor_shows_no_card_at_work(tmp_path):
    plain = 'device = torch.device("cuda")\n'
    guarded = f"if torch.cuda.is_available():\n    {plain}else:\n    device = torch.device('cpu')\n$ python train.py\n"
    either = 'device = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")\n$ python train.py\nusing device: cpu\n'
    assert _uses(tmp_path, _RTX + plain + _EPOCHS) == {"NVIDIA GeForce RTX 4070": "computes"}
    assert _uses(tmp_path, _RTX + guarded + _EPOCHS) == {"NVIDIA GeForce RTX 4070": None}
    assert _uses(tmp_path, _RTX + either + _EPOCHS) == {"NVIDIA GeForce RTX 4070": None}


def test_a_false_that_another_question_got_proves_nothing(tmp_path):
    script = '$ cat t.py\nb = torch.randn(4096, 4096, device="cuda") @ a\nprint(b.isnan().any())\n$ python t.py\n'
    crashed = "Segmentation fault (core dumped)\n$ python -c 'import torch; print(torch.cuda.is_available())'\nFalse\n"
    assert _uses(tmp_path, _RTX + script + "False\n") == {"NVIDIA GeForce RTX 4070": "computes"}
    assert _uses(tmp_path, _RTX + script + crashed) == {"NVIDIA GeForce RTX 4070": None}


def test_a_number_behind_a_mask_tells_of_no_card(tmp_path):
    other = _RTX.replace("GPU 0", "GPU 1").replace("8a92", "8a93")
    asked = "$ CUDA_VISIBLE_DEVICES=1 python -c \"import torch; x=torch.rand(2048,2048,device='cuda'); print((x@x).sum())\"\ntensor(2.1e9, device='cuda:0')\n"
    (tmp_path / "shown.txt").write_text(_RTX + other + asked)
    assert [card.get("use") for card in diagnose(str(tmp_path))["machine"]["accelerators"]] == [None, None]


def test_of_two_makers_the_card_of_torchs_build_computes(tmp_path):
    cards = "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation GK208B [GeForce GT 710] [10de:128b]\n03:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XTX] [1002:744c]\n"
    asked = ">>> torch.__version__\n'2.6.0+rocm6.2.4'\n>>> torch.ones(2, device='cuda') * 2\ntensor([2., 2.], device='cuda:0')\n"
    used = _uses(tmp_path, cards + asked)
    assert [use for name, use in used.items() if "710" in name] == [None]
    assert [use for name, use in used.items() if "7900" in name] == ["computes"]


def test_what_another_program_computes_is_not_the_card_of_torchs_build(tmp_path):
    cards = "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD104 [GeForce RTX 4070] [10de:2786]\n03:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XTX] [1002:744c]\n"
    bench = "| model | size | params | backend | ngl | test | t/s |\n| qwen3 8B Q4_K - Medium | 4.68 GiB | 8.19 B | CUDA | 99 | tg128 | 97.12 ± 0.11 |\n"
    used = _uses(tmp_path, cards + ">>> torch.__version__\n'2.6.0+rocm6.2.4'\n$ llama-bench -m q.gguf\n" + bench)
    assert [use for name, use in used.items() if "7900" in name] == [None]
