"""What tools show outranks what somebody has heard; where a command ran is told by its own prompt."""

import pytest

from answer_data import diagnose

LISTED = "$ rocminfo | grep -E '^  Name:|Marketing'\n  Name:                    {cpu}\n  Marketing Name:          {cpu}\n  Name:                    gfx1032\n  Marketing Name:          AMD Radeon RX 6650 XT\n"
SECOND = "  Name:                    gfx1036\n  Marketing Name:          AMD Radeon Graphics\n"
FAILS = ">>> import torch; torch.__version__\n'2.7.1+rocm6.3'\n>>> torch.rand(2, device='cuda') + 1\nRuntimeError: HIP error: invalid device function\n"
HEARD = {
    "en": "A friend says the iGPU of the Ryzen gets in the way of my RX 6650 XT.\n",
    "ru": "На форуме пишут, что мешает iGPU в Ryzen. У меня RX 6650 XT.\n",
    "zh": "网上有人说是核显 iGPU 的问题，我用的是 RX 6650 XT。\n",
}
POOLS = "[    4.8] amdgpu 0000:c4:00.0: amdgpu: {vram}M of VRAM memory ready\n[    4.8] amdgpu 0000:c4:00.0: amdgpu: {gtt}M of GTT memory ready.\n"
JOB = "   ReqTRES=cpu=4,mem=32G,node=1,billing=4\n   AllocTRES=cpu=4,mem=32G,node=1,billing=4\n"
NONE = "RuntimeError: No CUDA GPUs are available\n"


def answered(body, scratch):
    (scratch / "paste.txt").write_text(body, encoding="utf-8")
    return diagnose(str(scratch / "paste.txt"))


def loud(answer):
    return [finding["cause"] for finding in answer["findings"] if finding["severity"] != "note"]


@pytest.mark.parametrize("words", HEARD.values(), ids=HEARD)
def test_a_list_of_one_card_speaks_against_graphics_beside_it(words, tmp_path):
    answer = answered(words + LISTED.format(cpu="AMD Ryzen 5 7600 6-Core Processor") + FAILS, tmp_path)
    assert "igpu-visible-beside-dgpu" not in loud(answer)


def test_a_list_of_both_does_not(tmp_path):
    listed = LISTED.format(cpu="AMD Ryzen 5 7600 6-Core Processor") + SECOND
    body = (HEARD["en"] + listed).replace("6650 XT", "6800").replace("gfx1032", "gfx1030")  # a chip that torch has code for
    answer = answered(body + FAILS, tmp_path)
    assert "igpu-visible-beside-dgpu" in loud(answer)


@pytest.mark.parametrize(("vram", "gtt", "may_be"), [(512, 122880, False), (98304, 15360, True)])
def test_the_kernels_figures_speak_against_a_large_carve_out(vram, gtt, may_be, tmp_path):
    words = "Ryzen AI MAX+ 395, BIOS UMA 96GB: torch shows only the smaller half of the memory, 15 GB. Must I change the BIOS?\n"
    answer = answered(words + POOLS.format(vram=vram, gtt=gtt), tmp_path)
    assert ("apu-vram-carveout-vs-gtt" in loud(answer)) is may_be


@pytest.mark.parametrize(("job", "login"), [("[eva@gn17 ~]$ ", False), ("(env) eva@c0417:~$ ", False), ("[eva@hpc-login1 ~]$ ", True)])
def test_the_login_node_is_blamed_for_its_own_commands(job, login, tmp_path):
    body = f"[eva@hpc-login1 ~]$ srun -p gpu --pty bash\n{job}python -c 'import torch; torch.zeros(1).cuda()'\n{NONE}{job}scontrol show job 7 | grep TRES\n{JOB}"
    (finding,) = [one for one in answered(body, tmp_path)["findings"] if one["cause"] == "slurm-no-gpu-requested"]
    assert ("login node" in finding["title"]) is login


TORCH = "$ python -c 'import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())'\n{}\n"
TOLD = {
    "en": "My colleague says I got the CPU build of torch instead of the GPU one although the machine has a GPU.\n",
    "zh": "有显卡，同学说是 torch 装成 CPU 版了\n",
}


@pytest.mark.parametrize("words", TOLD.values(), ids=TOLD)
@pytest.mark.parametrize(("printed", "may_be"), [("2.6.0+cu124 12.4 False", False), ("2.6.0+cpu None False", True)])
def test_a_build_that_is_printed_outranks_what_a_friend_says_of_it(words, printed, may_be, tmp_path):
    answer = answered(words + TORCH.format(printed), tmp_path)
    assert ("cpu-only-torch" in loud(answer)) is may_be
    assert not {"cpu-build-came-told-in-capitals", "cpu-build-came-told-in-chinese"} & set(answer["unexplained"])
