"""How one sees that something worked: nothing is changed by these."""

from rigup.language import N_
from rigup.steps.step import Commands, Kind

_ = N_  # what it marks is translated when a step is made

_COMPUTE = "import sys, torch; x = torch.ones(2, device=sys.argv[1]); print(torch.__version__, (x + x).tolist())"
_TENSORFLOW = "import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))"
_DIRECTML = "import torch, torch_directml as d; x = torch.ones(2, device=d.device()); print(d.device_name(0), (x + x).tolist())"
_ADAPTER = "import sys, torch, torch_directml as d; i = int(sys.argv[1]); x = torch.ones(2, device=d.device(i)); print(d.device_name(i), (x + x).tolist())"
_IMPORTED = "import sys, importlib; print(importlib.import_module(sys.argv[1]).__version__)"
_LIMIT = "grep . /sys/class/drm/card*/device/mem_info_gtt_total"


def _check(title: str, *commands: tuple[str, ...], params: tuple[str, ...] = (), by_hand: bool = False) -> Kind:
    argvs: Commands = commands
    return Kind(title, params, "by-hand" if by_hand else "here", commands=argvs, undo=())


KINDS: dict[str, Kind] = {
    "see-run-elsewhere": _check(_("it worked if the command that failed now runs through, there or on the processor"), by_hand=True),
    "see-run": _check(_("it worked if the command that failed now runs through, and the GPU is busy meanwhile"), by_hand=True),
    "see-cards": _check(_("it worked if this lists every card with its name"), ("nvidia-smi", "-L")),
    "see-amd-cards": _check(_("it worked if this lists the card among its agents, as gfx…"), ("rocminfo",)),
    "see-gpus-of-nodes": _check(
        _("it worked if this shows a number of GPUs for each node that has them"),
        ("kubectl", "get", "nodes", "-o", "custom-columns=NODE:.metadata.name,GPU:.status.allocatable.nvidia\\.com/gpu"),
        by_hand=True,
    ),
    "see-cards-inside": _check(
        _("it worked if this, in the container, lists every card with its name"), ("nvidia-smi", "-L"), by_hand=True
    ),
    "see-devices-of-llama": _check(
        _("it worked if this lists the card, and the program says while it loads that layers were offloaded to GPU"),
        ("./build/bin/llama-cli", "--list-devices"),
        by_hand=True,
    ),
    "see-model-loaded": _check(_("it worked if the model loads, and answers"), by_hand=True),
    "see-cards-after-reload": _check(
        _("it worked if this, in the container, lists every card with its name, also after the next `systemctl daemon-reload` of the host"),
        ("nvidia-smi", "-L"),
        by_hand=True,
    ),
    "see-amd-cards-inside": _check(
        _("it worked if this, in the container, lists the card among its agents, as gfx…"), ("rocminfo",), by_hand=True
    ),
    "see-xpu-inside": _check(
        _("it worked if this, in the container, prints the number of cards, and not 0"),
        ("python", "-c", "import torch; print(torch.xpu.device_count())"),
        by_hand=True,
    ),
    "see-nodes-inside": _check(_("it worked if this, in the container, lists a renderD node"), ("ls", "-l", "/dev/dri"), by_hand=True),
    "see-torch": _check(
        _("it worked if this prints [2.0, 2.0]: torch has computed on the GPU"), ("python", "-c", _COMPUTE, "{device}"), params=("device",)
    ),
    "see-mps": _check(_("it worked if this prints [2.0, 2.0]: torch has computed on the GPU"), ("python", "-c", _COMPUTE, "mps")),
    "see-provider": _check(
        _("it worked if the message is gone, and get_providers() of the session names CUDAExecutionProvider first"), by_hand=True
    ),
    "see-adapter": _check(
        _("it worked if this names the card and prints [2.0, 2.0]"), ("python", "-c", _ADAPTER, "{index}"), params=("index",)
    ),
    "see-directml": _check(_("it worked if this names the card and prints [2.0, 2.0]"), ("python", "-c", _DIRECTML)),
    "see-tensorflow": _check(_("it worked if this lists a GPU"), ("python", "-c", _TENSORFLOW)),
    "see-import": _check(
        _("it worked if this prints a version, and nothing else"), ("python", "-c", "import torch; print(torch.__version__)")
    ),
    "see-imported": _check(
        _("it worked if this prints a version, and nothing else"), ("python", "-c", _IMPORTED, "{module}"), params=("module",)
    ),
    "see-array-of-torch": _check(
        _("it worked if this prints [0.0], and nothing else"), ("python", "-c", "import torch; print(torch.zeros(1).numpy().tolist())")
    ),
    "see-boxes": _check(
        _("it worked if this prints [0]: torchvision's own operator has run on the GPU"),
        (
            "python",
            "-c",
            "import sys, torch, torchvision; d = sys.argv[1]; print(torchvision.ops.nms(torch.tensor([[0., 0., 1., 1.]], device=d), torch.ones(1, device=d), 0.5).tolist())",
            "{device}",
        ),
        params=("device",),
    ),
    "see-ollama": _check(_("it worked if this, while the model is loaded, shows 100% GPU"), ("ollama", "ps")),
    "see-whole-prompt": _check(
        _(
            "it worked if the message is gone from the log of the same work, and this still shows 100% GPU; a long context takes memory, which OLLAMA_FLASH_ATTENTION=1 with OLLAMA_KV_CACHE_TYPE=q8_0 halves"
        ),
        ("ollama", "ps"),
    ),
    "see-prompt-taken": _check(_("it worked if the message is gone from the log of the same work"), by_hand=True),
    "see-providers": _check(
        _("it worked if this list names a provider of the card, as CUDAExecutionProvider, before CPUExecutionProvider"),
        ("python", "-c", "{code}"),
        params=("code",),
    ),
    "see-framework": _check(_("it worked if this names the GPU, or prints True"), ("python", "-c", "{code}"), params=("code",)),
    "see-count": _check(
        _("it worked if this prints the number of GPUs that the program is to have"),
        ("python", "-c", "import torch; print(torch.cuda.device_count())"),
    ),
    "see-journal": _check(
        _("it worked if the log of {service} since its start names the card, and no longer what it said"),
        ("journalctl", "-u", "{service}", "-b", "--no-pager"),
        params=("service",),
    ),
    "see-groups": _check(_("it worked if this names the group after the next login"), ("id", "-nG")),
    "see-backend": _check(_("it worked if the program names the card as a device of that backend when it starts"), by_hand=True),
    "see-shared-memory": _check(_("it worked if this, in the container, shows the new size"), ("df", "-h", "/dev/shm"), by_hand=True),
    "see-owner": _check(
        _("it worked if this, in the container, shows your account as the owner"), ("ls", "-ld", "{path}"), params=("path",), by_hand=True
    ),
    "see-notebook": _check(
        _("it worked if a cell with import sys; print(sys.executable) prints the Python of the environment"), by_hand=True
    ),
    "see-signer": _check(
        _("it worked if the first names who signed the module {module}, and the second lists it"),
        ("modinfo", "-F", "signer", "{module}"),
        ("lsmod",),
        params=("module",),
    ),
    "see-dkms": _check(_("it worked if this lists no module as broken, and the running kernel as installed"), ("dkms", "status")),
    "see-device-manager": _check(_("it worked if the device manager of Windows lists the card without a warning"), by_hand=True),
    "see-bus": _check(_("it worked if this lists the card"), ("lspci", "-nn", "-d", "::0300"), ("lspci", "-nn", "-d", "::0302")),
    "see-window": _check(
        _("it worked if the card's largest [size=…] is that of its memory, and no longer 256M"), ("lspci", "-v", "-d", "8086::0300")
    ),
    "see-kernel-log": _check(_("it worked if the kernel's log of this start says it no more"), ("journalctl", "-k", "-b", "--no-pager")),
    "see-memory-errors": _check(
        _("it worked if this counts no further errors, and no remapping is pending"),
        ("nvidia-smi", "-q", "-d", "ECC,ROW_REMAPPER,PAGE_RETIREMENT"),
    ),
    "see-speed": _check(_("it worked if no slowdown is Active in this while the card works"), ("nvidia-smi", "-q", "-d", "PERFORMANCE")),
    "see-watch": _check(_("it worked if this, while the work runs, no longer tells of it"), ("rigup", "watch", "--once")),
    "see-memory": _check(
        _("it worked if this shows room for the work before it starts, and the work runs through"),
        ("nvidia-smi", "--query-gpu=memory.used,memory.total", "--format=csv"),
    ),
    "see-work-runs": _check(_("it worked if the work runs past the point where it stopped, and the message is gone"), by_hand=True),
    "see-memory-at-work": _check(
        _("it worked if the work runs past the point where it stopped; beside it, this shows how much of the card it takes"),
        ("nvidia-smi", "--query-gpu=memory.used,memory.total", "--format=csv"),
    ),
    "see-amd-memory": _check(
        _("it worked if this shows room for the work before it starts, and the work runs through"), ("rocm-smi", "--showmeminfo", "vram")
    ),
    "see-fabric": _check(
        _("it worked if the service is active, and the fabric of each GPU is Completed, Success"),
        ("systemctl", "is-active", "nvidia-fabricmanager"),
        ("nvidia-smi", "-q", "-d", "FABRIC"),
    ),
    "see-parts": _check(
        _("it worked if this lists MIG devices under the GPU, or the GPU alone where MIG mode is off"), ("nvidia-smi", "-L")
    ),
    "see-shared-limit": _check(_("it worked if this shows the new limit, in bytes, after the next start"), ("sh", "-c", _LIMIT)),
    "see-nvcc": _check(
        _("it worked if both name the same CUDA, and the build runs through"),
        ("nvcc", "--version"),
        ("python", "-c", "import torch; print(torch.version.cuda)"),
    ),
    "see-nvcc-of": _check(
        _("it worked if both name the same CUDA, and the build runs through"),
        ("{folder}/bin/nvcc", "--version"),
        ("python", "-c", "import torch; print(torch.version.cuda)"),
        params=("folder",),
    ),
    "see-nccl": _check(
        _("it worked if the program, started with NCCL_DEBUG=INFO, ends its first collective and names the interface or the P2P path"),
        by_hand=True,
    ),
    "see-job": _check(
        _("it worked if this, in the job, lists as many cards as each task is to have"), ("srun", "nvidia-smi", "-L"), by_hand=True
    ),
    "see-cards-of-job": _check(_("it worked if this, in the job, lists as many cards as it asks for"), ("nvidia-smi", "-L"), by_hand=True),
    "see-cores-of-job": _check(
        _("it worked if this, in the job, prints the cores that it asks for, and the GPU is busy"), ("nproc",), by_hand=True
    ),
    "see-room": _check(_("it worked if this shows room where the program writes"), ("df", "-h")),
    "see-quota": _check(_("it worked if this shows your account well below its limit, and what failed runs through"), ("quota", "-s")),
    "see-package": _check(
        _("it worked if this, with the Python of the new environment, tells a version; the program is started with that Python, too"),
        ("python", "-c", "import sys, importlib.metadata as m; print(m.version(sys.argv[1]))", "{package}"),
        params=("package",),
    ),
    "see-engine": _check(_("it worked if this lists containers, or none, without an error"), ("docker", "ps")),
    "see-job-memory": _check(
        _("it worked if the job is COMPLETED in this, and its MaxRSS below ReqMem"), ("sacct", "--format=JobID,State,ReqMem,MaxRSS")
    ),
    "see-queue": _check(_("it worked if this shows the job as waiting or running"), ("squeue", "--me")),
    "see-ranks": _check(_("it worked if the ranks announce themselves once each, from 0 to the last one"), by_hand=True),
}
