"""What mends cards: which one it is, whose tool asks it, and what the administrator can do there."""

import math

from rigup.diagnosis.rule import Every, Params, every, mends, one, seen, wordings
from rigup.diagnosis.rules.hardware import uuids_of_parts
from rigup.diagnosis.rules.memory import NO_PARAMETERS_OF_AMDGPU, size
from rigup.knowledge.gtt import PAGE, pages_to_share
from rigup.knowledge.patterns import lazy_regex
from rigup.language import _
from rigup.machine.kinds import Driver, Gpu, GpuProcess, Memory, ModuleParameter, Platform, Symptom

_BEYOND_REPAIR = wordings(tag="gpu-cells-broken")
_OF_AMD = wordings(tag="amd-memory-fault")
_GIB = 2**30
_HOLDERS = ("other-process-holds-memory", "nvidia-smi-lists-holder", "fuser-lists-who-has-the-card-open", "rocm-smi-lists-holder")  # fmt: skip
_LEAST_SHARE = 0.1  # of a card, below which no server is worth starting
_WANTED_OPTION = lazy_regex(
    r"(?i)(?:(?P<more>increas\w{1,3}|rais\w{1,3}|(?:larger|higher|bigger)[\w ]{1,20})|reduc\w{1,3}|decreas\w{1,3}|(?:smaller|lower)[\w ]{1,20}) "
    r"[`'\"]?(?P<option>--[a-z][a-z-]{3,40}|[a-z]{2,20}(?:_[a-z]{2,20}){1,4})\b"
)
_LISTED = wordings(tag="holder-listed")
_UNLISTED = wordings(tag="holder-unlisted")


@mends("fabric-manager-not-running")
def version_of_the_driver(driver: Driver = one(vendor="nvidia")) -> Params:
    """The manager must be of exactly this version."""
    return {"version": driver.version}


@mends("mig-device-misaddressed")
def uuid_of_a_part(gpu: Gpu = one(vendor="nvidia")) -> Params:
    """A UUID that nvidia-smi -L lists."""
    uuids = uuids_of_parts(gpu)
    return {"uuid": uuids[0]} if uuids else {}


@mends("gpu-memory-ecc-error")
def card_of_the_kernels_line(symptom: Symptom = seen("xid-memory-error", "xid-row-remap", "xid-92")) -> Params:
    """The driver's tool takes the place on the bus too."""
    address = symptom.get("address")
    return {"index": f"{address}.0"} if address else {}


@mends("gpu-memory-ecc-error", "compute-mode-exclusive", "gpu-memory-held-by-others")
def index_of_the_card(gpu: Gpu) -> Params:
    """As nvidia-smi counts."""
    return {"index": gpu.nvml_index}


@mends("gpu-memory-ecc-error")
def what_is_left_to_do(
    knew: Params, broken: Symptom | None = seen(tag="gpu-cells-broken"), amd: Symptom | None = seen(tag="amd-memory-fault"), card: Gpu | None = one(vendor="amd"),
) -> Params:  # fmt: skip
    """A card that has no spare rows left is exchanged; AMD's is reset by its kernel, or with the machine."""
    of_amd = amd is not None or (card is not None and card.get("vendor") == "amd")
    unknown = not of_amd and knew.get("index") is None
    return {
        "index": None if of_amd or broken is not None else knew.get("index"), "broken": "exchange" if broken is not None else None,
        "counters": "nvidia-smi" if unknown else None, "again": None if broken is not None else "exchange",
    }  # fmt: skip


@mends("apu-gtt-limit-not-applied", "apu-vram-carveout-vs-gtt")
def pages_to_allow(memory: Memory) -> Params:
    """The limit in pages."""
    pages = pages_to_share(memory.total)
    return {"pages": pages} if pages else {}


@mends("apu-gtt-limit-not-applied")
def pages_that_were_wished(wish: ModuleParameter = one(module="amdgpu", name=NO_PARAMETERS_OF_AMDGPU)) -> Params:
    """What was given to a parameter that is not there is in MiB, as that of the real one."""
    in_mib = str(wish.configured).isdigit() and wish.name != "pages_limit"
    return {"pages": int(wish.configured) * 2**20 // PAGE} if in_mib else {}


@mends("apu-gtt-limit-not-applied")
def limit_that_nobody_can_reckon(knew: Params) -> Params:
    """How much it is to be is then left to the reader."""
    return {"unknown": None if knew.get("pages") else "ttm"}


@mends("gpu-memory-held-by-others", "compute-mode-exclusive")
def node_that_is_held(
    knew: Params, card: Gpu | None = one(vendor="amd"), platform: Platform | None = one(system=("windows", "macos")), symptom: Symptom | None = seen("hip-out-of-memory-plain", "rocm-allocation-failed"),
    wsl: Platform | None = one(wsl=(1, 2)),
) -> Params:  # fmt: skip
    """Who has opened it: AMD's cards share one node, NVIDIA's have one each; Windows has none, and WSL none of theirs."""
    if platform is not None or wsl is not None:
        return {"node": None, "index": None}
    if card is not None or symptom is not None:
        return {"node": "/dev/kfd", "index": None}
    return {"node": f"/dev/nvidia{knew.get('index') or 0}", "index": knew.get("index")}


@mends("gpu-memory-held-by-others")
def whether_a_reset_is_left(
    listed: Symptom | None = seen(tag="holder-listed"), full: Symptom | None = seen(tag="holder-unlisted"),
) -> Params:  # fmt: skip
    """Where a program is shown, it is ended; the card is reset for what is held by none."""
    return {"index": None} if listed is not None or full is None else {}


@mends("compute-mode-exclusive")
def mode_of_all(knew: Params, gpu: Gpu | None = one(compute_mode="Prohibited")) -> Params:
    """Nobody can share a card that lets no program in: its mode goes first."""
    barred = gpu is not None or bool(knew.get("barred"))
    index = knew.get("index")
    return {
        "barred_index": index if barred else None,
        "index": None if barred else index,
        "all": "cards" if index is None else None,
    }


@mends("fabric-manager-not-running")
def whether_the_version_is_known(
    knew: Params, stopped: Symptom | None = seen("fabric-manager-unit-inactive"), other: Symptom | None = seen("fabric-manager-other-version"),
) -> Params:  # fmt: skip
    """A service that is there and only stopped has to be started; of one that nobody shows the version has to be the driver's."""
    known = bool(knew.get("version")) or (stopped is not None and other is None)
    return {"ask": None if known else "nvidia-smi", "service": "nvidia-fabricmanager" if other is None else None}


@mends("gsp-timeout-xid-119")
def whether_its_firmware_can_be_left_out(
    driver: Driver | None = one(vendor="nvidia"), platform: Platform | None = one(system="windows")
) -> Params:
    """Only the proprietary module of Linux works without it."""
    flavour = driver.get("flavour") if driver else None
    if platform is not None or flavour == "open":
        return {"without": None, "closed": None}
    return {"closed": "0"} if flavour == "proprietary" else {"without": "0", "flavour": "proprietary"}


@mends("oom-model-too-large")
def length_that_the_message_names(
    symptom: Symptom = seen("vllm-cache-shorter-than-context", "engine-names-the-length-that-fits"),
) -> Params:
    """vLLM tells how many tokens there is room for."""
    room = symptom.get("fits") or symptom.get("length")
    return {"shorter": f"--max-model-len {room}"} if room else {}


@mends("oom-model-too-large")
def option_that_the_message_names(
    refusals: Every[Symptom] = every(Symptom, id=("server-has-no-room", "vllm-no-room-for-cache")),
) -> Params:
    """Servers tell which of their options to raise or to lower; vLLM writes them as Python does."""
    wanted = [hit for refusal in refusals if (hit := _WANTED_OPTION.search(refusal.fields["id"].where.text))]
    if not wanted:
        return {}
    option = "--" + wanted[0]["option"].strip("-").replace("_", "-")
    return {"raised" if wanted[0]["more"] else "lowered": option}


@mends("oom-model-too-large")
def options_of_the_program(
    knew: Params, vllm: Symptom | None = seen("vllm-in-a-path"), comfyui: Symptom | None = seen("comfyui-named"), web: Symptom | None = seen("stable-diffusion-named"),
) -> Params:  # fmt: skip
    """What the program has for it, where it is known which one it is, and its message names no value of its own."""
    if any(knew.get(hole) for hole in ("shorter", "raised", "lowered")):
        return {}
    if vllm is not None:
        return {
            "how": _(
                "a quantised build of the model (AWQ, GPTQ or FP8), a smaller --max-model-len, or --tensor-parallel-size over several GPUs"
            )
        }
    if comfyui is not None:
        return {
            "how": _(
                "a quantised model (FP8 or GGUF), a smaller picture or batch, or --lowvram when ComfyUI is started"
            )
        }
    if web is not None and web.fields["id"].where.text.find("webui") >= 0:
        return {
            "how": _(
                "--medvram, or --lowvram where that is not enough, among COMMANDLINE_ARGS in webui-user, without --no-half where pictures come out without it; a smaller picture or batch"
            )
        }
    return {}


@mends("oom-model-too-large")
def less_of_anything(knew: Params) -> Params:
    """In general words where nothing more exact can be said."""
    return {"general": None if knew.get("how") or knew.get("shorter") else "work"}


@mends("gpu-memory-held-by-others")
def share_that_is_free(symptom: Symptom = seen("vllm-memory-taken")) -> Params:
    """vLLM takes a share of the whole card, and tells what is free; a fiftieth is left for what comes and goes."""
    free, total = float(symptom.get("free") or 0), float(symptom.get("total") or 0)
    share = math.floor(100 * (free / total - 0.02)) / 100 if total else 0.0
    return {"share": f"--gpu-memory-utilization {share:.2f}"} if share >= _LEAST_SHARE else {}


@mends("oom-model-too-large")
def model_that_an_engine_loads(
    _said: Symptom = seen("ggml-out-of-memory", "ggml-buffer-refused", "ollama-cannot-load-it-in-full"),
) -> Params:
    """Who runs an engine chooses model, quantisation and context."""
    return {"engine": "llama.cpp"}


@mends("oom-model-too-large")
def memory_that_the_system_keeps(
    _card: Gpu = one(vendor="amd", integrated=True), own: Gpu | None = one(integrated=False), platform: Platform | None = one(system=("windows", "macos")),
    memory: Memory | None = None,
) -> Params:  # fmt: skip
    """By default the kernel lets the processor's graphics map half of the memory; more is a matter of one parameter."""
    if own is not None or platform is not None:
        return {}
    pages = pages_to_share(memory.total) if memory is not None and memory.get("total") else 0
    return {"pages": pages, "linux": None} if pages else {"linux": "ttm"}


@mends("gpu-memory-held-by-others", "compute-mode-exclusive")
def process_that_is_named(knew: Params, holders: Every[Symptom] = every(Symptom, id=_HOLDERS)) -> Params:
    """The one that holds most, where messages and lists give figures; where a card's node can be asked, so can it."""
    pids = [
        (_bytes_held(holder), str(holder.get("pid") or holder.get("pid2")))
        for holder in holders
        if holder.get("pid") or holder.get("pid2")
    ]
    return {"pid": max(pids)[1], "node": None} if pids and knew.get("node") else {}


@mends("gpu-memory-held-by-others")
def card_that_nobody_uses(cards: Every[Gpu] = every(Gpu, vendor="nvidia")) -> Params:
    """A like one beside it, that needs no process ended."""
    free = [card for card in cards if card.get("vram") and (card.get("memory_used") or card.vram) < card.vram / 10]
    alike = len({card.get("name") for card in cards}) == 1
    return {"idle_card": free[0].get("nvml_index")} if free and alike else {}


@mends("gpu-memory-held-by-others")
def who_holds_it(processes: Every[GpuProcess] = every(GpuProcess), wsl: Platform | None = one(wsl=(1, 2))) -> Params:
    """The process that holds most, whose it is and how much; one of Windows has no number in WSL."""
    most = max(
        (process for process in processes if process.get("memory") and not process.get("graphics")),
        key=lambda process: int(process.memory),
        default=None,
    )
    if most is None or wsl is not None or int(most.memory) <= _GIB:
        return {}
    name = str(most.get("name") or "").rpartition("/")[2] or None
    return {
        "holder": name, "held": f"{int(most.memory) / _GIB:.1f} GiB", "owner": most.get("owner"), "pid": str(most.pid), "node": None,
        "ollama": name if "ollama" in str(name) else None,
    }  # fmt: skip


def _bytes_held(holder: Symptom) -> float:
    return size(str(holder.get("held") or f"{holder.get('mib') or holder.get('mib2') or 0} MiB")) or 0.0


@mends("oom-fragmentation")
def setting_where_the_message_has_no_figures(
    knew: Params, tensorflow: Symptom | None = seen("tf-out-of-memory", "tf-allocator-figures"), platform: Platform | None = one(system="windows"),
) -> Params:  # fmt: skip
    """TensorFlow has an allocator of another kind; segments that grow are not there on Windows."""
    if tensorflow is not None:
        return {"variable": "TF_GPU_ALLOCATOR", "setting": "cuda_malloc_async"}
    variable, setting = (
        knew.get("variable") or "PYTORCH_CUDA_ALLOC_CONF",
        knew.get("setting") or "expandable_segments:True",
    )
    return {"variable": variable, "setting": "max_split_size_mb:512" if platform is not None else setting}


@mends("apu-vram-carveout-vs-gtt")
def system_that_shares_its_memory(platform: Platform | None = one(system="windows")) -> Params:
    """Windows gives no more than half to the GPU as shared memory, and nobody sets that: there the carve-out is what counts."""
    windows = platform is not None
    return {
        "linux": None if windows else "ttm",
        "carve_out": "larger" if windows else None,
        **({"pages": None} if windows else {}),
    }
