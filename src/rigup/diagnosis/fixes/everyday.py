"""What mends everyday errors: the option, the build or the compiler that the text itself lets one name."""

from rigup.diagnosis.rule import Params, mends, one, seen, wordings
from rigup.knowledge.package_managers import package_manager
from rigup.machine.kinds import Distribution, Gpu, Platform, PythonEnv, Symptom

_CONDA = wordings(tag="conda-shown")
_HOSTED = wordings(tag="hosted-hypervisor")
_BACKENDS = {"nvidia": "CUDA", "amd": "HIP", "intel": "VULKAN"}  # as the build's options of llama.cpp name them


@mends("llama-cpp-without-gpu")
def options_of_its_build(
    gpu: Gpu, python: Symptom | None = seen("llama-cpp-supports-no-offload", "llama-cpp-for-python-named"),
) -> Params:  # fmt: skip
    """The package of Python's is compiled where it is installed, by an option in a variable; the program is built by hand."""
    backend = _BACKENDS.get(str(gpu.get("vendor")))
    if backend is None:
        return {}
    option = f"-DGGML_{backend}=ON"
    return (
        {"package": "llama-cpp-python", "option": option}
        if python is not None
        else {"program": "llama.cpp", "build": option}
    )


@mends("host-compiler-too-new")
def compiler_that_fits(
    refused: Symptom = seen("nvcc-refuses-the-compiler"), system: Distribution | None = None, conda: Symptom | None = seen(tag="conda-shown"),
    env: PythonEnv | None = one(kind="conda"),
) -> Params:  # fmt: skip
    """Debian and its kin keep older compilers beside the newest, each under its number; conda has them for its environments."""
    most = str(refused.get("most"))
    manager = package_manager(str(system.get("id"))) if system is not None and system.get("id") else None
    if manager is not None and manager.family == "debian":
        return {"older": f"gcc-{most}, g++-{most}", "compiler": f"/usr/bin/g++-{most}"}
    return {"of_conda": f"gxx_linux-64={most}.*"} if conda is not None or env is not None else {}


@mends("cuda-asked-for-on-mac")
def device_in_its_place(_said: Symptom = seen("device-option-names-cuda")) -> Params:
    """The option that the command line shows."""
    return {"option": "--device mps"}


@mends("vm-without-gpu-passthrough")
def what_hands_no_gpu_on(
    said: Symptom | None = seen(tag="hosted-hypervisor"), below: Platform | None = one(hypervisor=("oracle", "innotek", "virtualbox", "parallels")),
) -> Params:  # fmt: skip
    """Programs that run machines in a window give them a display of their own, and no card."""
    hosted = said.get("name") if said is not None else below.hypervisor if below is not None else None
    return {"hosted": hosted, "host": None if hosted else "host"}
