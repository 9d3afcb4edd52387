"""A way and its check are of the program in hand; what was done already is not offered again, and companions change together."""

import pytest

from answer_data import diagnose

LOST = "NVRM: Xid (PCI:0000:0a:00): 79, pid=1403, name=python3, GPU has fallen off the bus.\n"
DROPPED = "nvidia 0000:0a:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Receiver ID)\n"
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.163\n"
REFUSED = 'time=2025-12-02T10:22:47.703+02:00 level=INFO source=routes.go:1300 msg="Listening on 127.0.0.1:11434 (version {})"\ntime=2025-12-02T10:22:48.041+02:00 level=WARN source=amd_windows.go:138 msg="amdgpu is not supported (supported types:[gfx1030 gfx1100])" gpu_type=gfx1032 gpu=0 library=C:\\Ollama\\rocm\n'
CUT = 'level=WARN source=runner.go:128 msg="truncating input prompt" limit=4096 prompt={} keep=4 new=4096\n'
UNKNOWN = "NVIDIA GeForce RTX 5080 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_61 sm_70 sm_75 sm_80 sm_86 sm_90.\npytorch version: 2.4.1+cu121\n"


@pytest.mark.parametrize(("said", "is_offered"), [("power limit 220 W, still dies\n", False), ("", True)])
def test_what_was_tried_is_not_offered_again(mended, said, is_offered):
    ways = mended("gpu-fell-off-bus", LOST + said)
    assert any("nvidia-smi -q -d POWER" in way for way in ways) == is_offered


def test_a_restart_that_is_all_there_is_stays(mended):
    assert any("restart the machine" in way for way in mended("nvml-driver-library-mismatch", MISMATCH))
    told = mended("nvml-driver-library-mismatch", MISMATCH + "I rebooted twice.\n")
    assert told
    assert not any(way.startswith("restart the machine") for way in told)


@pytest.mark.parametrize(
    ("shown", "generation"),
    [
        ("\t\tLnkSta:\tSpeed 16GT/s, Width x16\n", "Gen 3"),
        ("\t\tLnkSta:\tSpeed 32GT/s, Width x16\n", "Gen 4"),
        ("it sits on a riser (PCIe 3.0)\n\t\tLnkSta:\tSpeed 32GT/s, Width x16\n", "Gen 3"),
    ],
)
def test_a_link_that_drops_packets_is_slowed_down(mended, shown, generation):
    assert f"PCIe {generation}" in mended("gpu-fell-off-bus", DROPPED + LOST + shown)[0]


def test_a_card_that_is_lost_without_a_word_of_the_link_is_not(mended):
    assert not any("PCIe Gen" in way for way in mended("gpu-fell-off-bus", LOST))


def test_ollama_tells_itself_whether_it_computes(found):
    first = found("Windows 11\n" + REFUSED.format("0.6.8"))[0]
    assert first["fixes"][0]["check"]["commands"] == [["ollama", "ps"]]


@pytest.mark.parametrize(("release", "is_old"), [("0.6.8", True), ("0.13.1", False)])
def test_a_release_without_the_backend_goes_first(mended, release, is_old):
    way = mended("gfx-not-in-rocblas", "Windows 11\n" + REFUSED.format(release))[0]
    assert ("0.12.11 or newer" in way) == is_old
    assert "OLLAMA_VULKAN" in way


@pytest.mark.parametrize(("prompt", "tokens"), [(5000, 8192), (9120, 16384), (27015, 32768)])
def test_the_context_holds_the_longest_prompt(mended, prompt, tokens):
    way = mended("prompt-cut-by-context", "Jul 08 22:31:58 mj ollama[1391]: time=x " + CUT.format(prompt))[0]
    assert f"OLLAMA_CONTEXT_LENGTH={tokens}" in way


def test_no_context_is_longer_than_the_model_takes(mended):
    shown = "    context length      8192\n"
    ways = mended("prompt-cut-by-context", "Jul 08 22:31:58 mj ollama[1391]: time=x " + CUT.format(27015) + shown)
    assert "OLLAMA_CONTEXT_LENGTH=8192" in ways[0]
    assert any("8192 tokens" in way for way in ways[1:])


@pytest.mark.parametrize(("shown", "goes"), [("xformers version: 0.0.28.post1\n", True), ("", False)])
def test_what_was_compiled_for_the_old_torch_goes_with_it(mended, shown, goes):
    assert ("uninstall -y xformers" in mended("gpu-arch-newer-than-wheel", UNKNOWN + shown)[0]) == goes


@pytest.mark.parametrize(("said", "held"), [("unattended-upgrades ran at 6:25\n", True), ("after my apt upgrade\n", False)])
def test_packages_are_held_where_the_system_updates_itself(mended, said, held):
    assert ("apt-mark hold" in mended("nvml-driver-library-mismatch", MISMATCH + said)[0]) == held


@pytest.mark.parametrize(("context", "share", "is_closed"), [(4096, "49%/51%", False), (32768, "9%/91%", True)])
def test_only_what_closes_the_gap_is_offered(mended, context, share, is_closed):
    row = f"llama3.3:70b    a6eb4748fd29    45 GB    {share} CPU/GPU    {context}    4 minutes from now\n"
    ways = mended("model-split-with-cpu", row)
    assert ("num_ctx" in ways[0]) == is_closed
    assert any("add a GPU" in way for way in ways) != is_closed


@pytest.mark.parametrize(("frame", "anew"), [("/tmp/ipykernel_47/2874061123.py in <cell line: 0>()\n", True), ("", False)])
def test_a_notebook_is_started_anew_behind_an_exchange(mended, frame, anew):
    way = mended("gpu-arch-newer-than-wheel", UNKNOWN + frame)[0]
    assert ("restart the notebook's kernel" in way) == anew


def test_evidence_begins_with_what_decides_and_ends_with_the_letter(found):
    letter = (
        "Hi all, I have had this server for three years now and never had any trouble with it, Ubuntu 22.04, two cards, and today this\n"
    )
    seen = [line["value"] for line in found(letter + DROPPED + LOST)[0]["evidence"]]
    assert "fallen off the bus" in seen[0]
    assert not any("Hi all" in value for value in seen[:1])


def test_a_message_of_a_folded_cause_is_accounted_for(tmp_path):
    cut = "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 803: system has unsupported\n"
    (tmp_path / "said.txt").write_text(MISMATCH + cut, "utf-8")
    told = diagnose(str(tmp_path))
    assert told["findings"][0]["cause"] == "nvml-driver-library-mismatch"
    assert not told["unexplained"]
