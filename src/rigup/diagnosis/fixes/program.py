"""What mends programs: the variable of the program that speaks, the interface that leads to the others, devices that are there."""

from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.diagnosis.rules.program import CUDA_MASK
from rigup.machine.kinds import Mask, NetInterface, Platform, Symptom, Variable

_NET = "multinode-wrong-interface"
_INNER = ("lo", "docker", "virbr", "br-", "cni", "veth", "tun", "=lo", "=docker")
_AVOIDED = "^lo,docker,br-,veth,virbr,tun,cni"  # NCCL takes each for the beginning of names
_OF_DOCKER = "172.17.0."  # docker's own bridge: .1 is the host there, all others are containers
_AT_HOME = wordings(tag="gloo-address")
_CONTAINER = wordings(tag="container-spoken-of")


@mends("cuda-initialised-before-fork")
def variable_of_vllm(_said: Symptom = seen("vllm-in-a-path", "vllm-uses-spawn", "vllm-tensor-parallel")) -> Params:
    """vLLM starts its workers itself, and has a variable for how."""
    return {"method": "VLLM_WORKER_MULTIPROC_METHOD"}


@mends("cuda-initialised-before-fork")
def launcher_of_notebooks(
    launcher: Symptom | None = seen(
        "accelerate-forked-after-cuda", "accelerate-notebook-cuda", "accelerator-made-before-the-launch"
    ),
) -> Params:
    """accelerate's launcher forks by design: spawn is no way there, a kernel that has not touched the GPU is."""
    return {
        "launcher": "notebook_launcher" if launcher is not None else None,
        "general": None if launcher is not None else "workers",
    }


@mends("nccl-p2p-blocked-by-acs-iommu")
def word_that_the_message_names(
    warned: Symptom | None = seen("rccl-misses-passthrough", "rccl-wants-iommu-pt"),
) -> Params:
    """RCCL names what the kernel is to be started with; without its word the detour is quicker tried."""
    return {"named": "iommu=pt" if warned is not None else None, "unnamed": None if warned is not None else "iommu=pt"}


# -- between nodes
@mends(_NET)
def an_interface_that_is_there(knew: Params, interface: NetInterface) -> Params:
    """The one that is no loopback and no bridge, where there is only one; what a message names is what does not serve."""
    outer = "" if interface.name.startswith(_INNER) else interface.name
    return {"outer": outer} if outer and not knew.get("outer") else {}


@mends(_NET)
def another_interface_that_is_there(knew: Params, interface: NetInterface) -> Params:
    """Of two nobody knows which leads to the others."""
    return {"outer": None} if not interface.name.startswith(_INNER) and interface.name != knew.get("outer") else {}


@mends(_NET)
def whose_variable_it_is(
    knew: Params, gloo: Symptom | None = seen("gloo-no-address", "gloo-mesh-failed", "gloo-mesh-failed-plain", *_AT_HOME[:4]),
    mpi: Symptom | None = seen("mpi-connects-to-inner-address"), family: Symptom | None = seen("nccl-no-address-family", "nccl-goes-by-a-link-local-address"),
    home: Symptom | None = seen(tag="gloo-address"), wish: Variable | None = one(name="NCCL_SOCKET_IFNAME"), missing: Symptom | None = seen("nccl-no-interface"),
) -> Params:  # fmt: skip
    """NCCL avoids what it is told to, gloo wants a name, Open MPI has variables of its own; an address of its own leads nowhere else."""
    name = "GLOO_SOCKET_IFNAME" if gloo is not None else "NCCL_SOCKET_IFNAME"
    outer = knew.get("outer")
    holes = {"variable": name, "interface": outer, "home": "here" if home is not None else None}
    if gloo is not None or mpi is not None or home is not None:
        named = name if gloo is not None and not outer else None
        return {
            **holes,
            "named": named,
            "interface": outer if gloo is not None else None,
            "mpi": "lo,docker0" if mpi is not None else None,
        }
    if family is not None:
        return {**holes, "family": "AF_INET", "avoided": _AVOIDED}
    gone = wish if wish is not None and missing is not None else None
    return {**holes, "avoided": _AVOIDED, "gone": gone.name if gone is not None else None}


@mends(_NET)
def container_of_the_ranks(
    knew: Params,
    symptom: Symptom | None = seen(tag="container-spoken-of"),
    running: Symptom | None = seen("table-from-a-container-with-gpus"),
) -> Params:
    """Who is behind a bridge of docker's own is reached by nobody outside."""
    address = str(knew.get("address") or "").strip("[]").removeprefix("::ffff:")
    behind = address.startswith(_OF_DOCKER) and address.partition(":")[0] != _OF_DOCKER + "1"
    return {"network": "host"} if behind or symptom is not None or running is not None else {}


# -- devices
@mends("cuda-visible-devices-wrong")
def where_a_variable_is_unset(
    knew: Params,
    platform: Platform | None = one(system="windows"),
    beyond: Symptom | None = seen("cuda-invalid-ordinal"),
) -> Params:
    """Windows keeps variables in its own settings; where none is shown, it is the program's own number."""
    name = knew.get("name")
    if not name:
        variable = CUDA_MASK if knew.get("value") is not None else None
        return {"name": variable, "numbers": None if variable else "nvidia-smi"}
    shown = "nvidia-smi" if beyond is not None else None
    return {"of_windows": name, "name": None, "numbers": shown} if platform is not None else {"numbers": shown}


@mends("cuda-visible-devices-wrong")
def line_that_sets_it(knew: Params, own: Mask) -> Params:
    """A program that sets the mask by itself is changed, and not what surrounds it."""
    name = knew.get("name") or knew.get("of_windows")
    if own.variable != name or not str(knew.get("valid") or ""):
        return {}
    return {"in_program": name, "name": None, "of_windows": None}


@mends("host-memory-exhausted")
def what_is_to_be_less(
    compiler: Symptom | None = seen("compiler-killed-for-memory"), engine: Symptom | None = seen("llama-was-refused-main-memory", "ollama-wants-more-of-the-systems-memory", "ollama-names-what-was-killed"),
    job: Symptom | None = seen("oom-kill-in-job-step", "slurm-ended-it-for-memory"), wsl: Platform | None = one(wsl=2), loader: Symptom | None = seen("worker-killed-for-memory"),
) -> Params:  # fmt: skip
    """A build takes memory for each file that it compiles at once, an engine for its model and its context; WSL has half of what Windows has."""
    return {
        "jobs": "2" if compiler is not None else None, "model": "smaller" if engine is not None else None,
        "memory": "--mem" if job is not None else None, "workers": None if compiler or engine or (wsl and not loader) else "fewer",
        "wsl": "memory=" if wsl is not None else None,
    }  # fmt: skip
