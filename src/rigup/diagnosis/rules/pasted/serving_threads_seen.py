"""What the threads of servers of models and of picture programs show: a unit's line that systemd does not read, a processor too old for an engine, a limit that the runtime does not see.

Each is one line of a program beside another that tells what it meant; where that other says the contrary, nothing is said.
"""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import Figures
from rigup.diagnosis.rules.rocm import OVERRIDE
from rigup.diagnosis.rules.told import GPU_NOT_USED, OTHER_ACCELERATORS
from rigup.machine.kinds import Cpu, Gpu, ModuleParameter, Platform, Symptom, Torch, Variable

_ON_THE_PROCESSOR = ("cpu-alone-in-words", "ollama-computes-on-cpu", "ollama-computes-on-processor", *GPU_NOT_USED)
_SERVED = ("ollama-computes-on-rocm", "ollama-amdgpu-supported", "ollama-compute")
_NVIDIA_NAMED = ("nvidia-tx-named", "nvidia-geforce-named")
_PAGE = 4096
_KNOWN_ROUTE = ("nccl-no-route", "nccl-connection-refused", "peer-timed-out", "nccl-uses-inner-interfaces")


# -- units
@rule("override-not-in-service", "likely")
def key_of_the_unit_is_misspelt(
    line: Symptom = seen("unit-key-misspelt"), mine: Variable | None = one(at="service unit", name=OVERRIDE)
) -> Verdict:
    """systemd knows no such key and passes the line over."""
    free = mine is None or not mine.get("value")
    return free and {"service": "ollama", "value": line.get("value"), "name": OVERRIDE}


@rule("override-not-in-service", "possible")
def line_of_the_unit_is_a_comment(
    line: Symptom = seen("unit-override-is-a-comment"), _slow: Symptom = seen(*_ON_THE_PROCESSOR), served: Symptom | None = seen(*_SERVED),
    mine: Variable | None = one(at="service unit", name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """Somebody once wanted it there; the service computes on the processor."""
    free = mine is None or not mine.get("value")
    return free and served is None and {"service": "ollama", "value": line.get("value"), "name": OVERRIDE}


# -- the processor
@rule("cpu-instruction-set-missing", "possible")
def engine_takes_no_gpu_beside_such_a_processor(
    _program: Symptom = seen("ollama-named"), cpu: Cpu = one(), card: Gpu = one(vendor=("nvidia", "amd")), served: Symptom | None = seen(*_SERVED, "ggml-finds-devices"),
) -> Verdict:  # fmt: skip
    """What is built of llama.cpp for GPUs is compiled with AVX, the engine's own part too."""
    flags = cpu.get("flags") or []
    return served is None and "sse2" in flags and "avx" not in flags and bool(card.vendor) and {"want": "AVX"}


# -- the build
@rule("gpu-arch-newer-than-wheel", "possible")
def first_tensor_finds_no_image(
    _said: Symptom = seen("no-image-for-the-first-tensor"), gpu: Gpu | None = one(vendor="nvidia"), older: Symptom | None = seen("older-generation-named"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """It is torch itself that has no code; which card there is, nobody tells, and most that miss it are new."""
    return gpu is None and older is None and not (torch is not None and torch.get("code"))


@rule("cuda-torch-on-amd", "possible")
def program_for_directml_looks_for_nvidia(
    _error: Symptom = seen("torch-found-no-driver"), where: Symptom = seen("directml-spoken-of"), platform: Platform = one(system="windows"),
    nvidia: Symptom | None = seen(*_NVIDIA_NAMED), card: Gpu | None = one(vendor=("nvidia", "intel")), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Who installs a program for DirectML has a card of another maker, mostly AMD; a torch for CUDA came with it."""
    cpu = torch is not None and ("+cpu" in str(torch.get("version")) or bool(torch.get("hip")))
    return nvidia is None and card is None and not cpu and not platform.get("wsl") and {"said": where.id}


@rule("python-version-without-wheels", "likely")
def installer_runs_under_32_bits(
    _said: Symptom = seen("installer-got-no-torch"), _narrow: Symptom = seen("python-of-32-bits")
) -> Verdict:
    """torch is built for 64 bits alone."""
    return {"name": "torch"}


# -- libraries
@rule("cuda-runtime-library-missing", "likely")
def bitsandbytes_finds_no_runtime_anywhere(
    _said: Symptom = seen("bitsandbytes-has-no-options-for-the-runtime"), unix: Symptom | None = seen("bitsandbytes-unix-folders-on-windows", "windows-path-not-iterable"),
    windows: Platform | None = one(system="windows"), card: Gpu | None = one(vendor="amd"), torch: Torch | None = None,
    other: Symptom | None = seen(*OTHER_ACCELERATORS),
) -> Verdict:  # fmt: skip
    """It has looked through all folders that variables name, and then through the usual ones."""
    rocm = card is not None or (torch is not None and bool(torch.get("hip")))
    return unix is None and windows is None and other is None and not rocm and {"lib": "libcudart.so", "program": "bitsandbytes"}  # fmt: skip


# -- memory that processor and graphics share
@rule("apu-gtt-limit-not-applied", "likely")
def runtime_sees_less_than_was_wished(
    wish: ModuleParameter = one(module=("ttm", "amdttm"), name="pages_limit"), said: Symptom = seen("torch-out-of-memory-figures"), _hip: Symptom = seen("torch-out-of-memory", runtime="HIP"),
    card: Gpu | None = one(vendor="amd", integrated=False), named: Symptom | None = seen("amd-rx-named", "amd-xt-named"),
) -> Verdict:  # fmt: skip
    """The runtime's total is what the graphics may map; the line asks for much more, which only who shares memory does."""
    wished, total = str(wish.get("configured") or ""), Figures(said).total or 0
    alone = card is None and named is None
    return alone and wished.isdigit() and int(wished) * _PAGE > 1.3 * total > 0 and {"name": wish.name}


# -- several hosts
@rule("multinode-wrong-interface", "possible")
def proxy_on_another_host_does_not_answer(
    _said: Symptom = seen("nccl-proxy-does-not-connect"), _hosts: Symptom = seen("ray-names-two-hosts", "several-nodes-told", "two-computers-told"),
    known: Symptom | None = seen(*_KNOWN_ROUTE),
) -> Verdict:  # fmt: skip
    """A rank's helper is asked for a way to another host and finds none; the log of NCCL would tell which interface it took."""
    return known is None
