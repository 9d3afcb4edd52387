"""What is quoted is what decides: no bare word, no typed command, no greeting and no whole paragraph."""

from answer_data import diagnose
from rigup.diagnosis.wording import quoted as shown
from rigup.schemas.shared import Evidence


def quoted(tmp_path, text, cause):
    file = tmp_path / "paste.txt"
    file.write_text(text, encoding="utf-8")
    findings = {finding["cause"]: finding for finding in diagnose(str(file))["findings"]}
    return [line["value"] for line in findings[cause]["evidence"]]


def test_a_bare_answer_stands_behind_its_question(tmp_path):
    text = ">>> import llama_cpp\n>>> llama_cpp.llama_supports_gpu_offload()\nFalse\n"
    assert quoted(tmp_path, text, "llama-cpp-without-gpu") == ["llama_supports_gpu_offload()\nFalse"]


def test_a_bare_word_is_shown_with_what_torch_was_asked():
    line = Evidence(fact="Torch.available", value="False", source="paste.txt", line=3)
    assert shown(line) == "torch.cuda.is_available(): False"
    assert shown(Evidence(fact="symptom x", value="f()\nFalse", source="paste.txt", line=3)) == "f(): False"


CUDA_ON_AMD = """Hi all, switched from Windows to openSUSE last week, mostly to get ComfyUI going properly on my 7900 XT. Thanks in advance for any help with it!

$ python main.py
RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx
$ rocminfo | grep Marketing
  Marketing Name:          AMD Radeon RX 7900 XT
$ python -c "import torch; print(torch.version.cuda)"
12.8
"""


def test_what_programs_say_stands_before_people_of_whom_the_sentence_alone(tmp_path):
    lines = quoted(tmp_path, CUDA_ON_AMD, "cuda-torch-on-amd")
    assert any((line or "").startswith("RuntimeError: Found no NVIDIA driver") for line in lines)
    assert "Hi all" not in (lines[0] or "")
    assert not any("Thanks in advance" in (line or "") for line in lines)
    assert not any((line or "").startswith("$ ") for line in lines)


def test_of_a_traceback_the_error_is_shown_and_no_frame(tmp_path):
    frames = (
        '  File "/v/lib/python3.12/site-packages/huggingface_hub/file_download.py", line 494, in http_get\n    temp_file.write(chunk)\n'
    )
    lines = quoted(tmp_path, "$ python get.py\n" + frames + "OSError: [Errno 28] No space left on device\n", "disk-full")
    assert lines[0] == "OSError: [Errno 28] No space left on device"


def test_a_bare_count_stands_behind_its_command_whatever_the_prompt(tmp_path):
    refused = 'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
    text = f"$ docker run --rm --gpus all ubuntu nvidia-smi\n{refused}node-3:/etc$ grep -c nvidia /etc/docker/daemon.json\n0\n"
    assert "grep -c nvidia /etc/docker/daemon.json\n0" in quoted(tmp_path, text, "container-toolkit-missing")
    text = text.replace("\n0\n", "\n4\n")
    assert not any("grep" in (line or "") for line in quoted(tmp_path, text, "container-toolkit-missing"))


def test_what_a_build_was_configured_without_is_shown_first(tmp_path):
    text = (
        "warning: one possible reason is that llama.cpp was compiled without GPU support\n"
        "$ nvidia-smi -L\nGPU 0: NVIDIA L4 (UUID: GPU-0c77b0a1-94d3-5e4f-8a52-7f1d92ce6b30)\n"
        "$ grep GGML build/CMakeCache.txt\nGGML_CUDA:BOOL=OFF\nGGML_VULKAN:BOOL=OFF\n"
    )
    assert quoted(tmp_path, text, "binary-arch-missing")[0] == "GGML_CUDA:BOOL=OFF"
    assert "GGML_CUDA:BOOL=OFF" not in quoted(tmp_path, text.replace("VULKAN:BOOL=OFF", "VULKAN:BOOL=ON"), "binary-arch-missing")


def test_no_word_of_a_message_is_quoted_by_half(tmp_path):
    file = tmp_path / "paste.txt"
    told = "a:1:2 [0] NCCL INFO NET/Plugin: No plugin found (libnccl-net.so)\n"
    file.write_text(">>> jax.devices()\n[CudaDevice(id=0), CudaDevice(id=1)]\n" + told)
    words = [message["said"] for message in diagnose(str(file))["harmless"]]
    assert any(said.endswith("[CudaDevice(id=0), CudaDevice(id=1)]") for said in words)
    assert any(said.endswith("(libnccl-net.so)") for said in words)
