"""What each rule says, and what mends it."""

from rigup.language import N_, _

_TEXTS = {
    "base-image-cpu-only": (
        N_("A GPU is wanted, and the framework comes for the CPU alone"),
        N_("Take the index, the package or the tag for the GPU."),
    ),
    "base-image-arch-dropped": (N_("The image has no code for this machine's card"), N_("Take an image that still has code for the card.")),
    "driver-too-old-for-image": (
        N_("The image asks for a newer driver than this machine has"),
        N_("Take an image of an older CUDA, or install a newer driver."),
    ),
    "image-for-other-cpu": (
        N_("The image is made for another processor than this machine's"),
        N_("Take an image for this machine's processor."),
    ),
    "image-tag-does-not-exist": (N_("A tag of this form is not published"), N_("Take a tag that its publisher makes.")),
    "unpinned-base": (N_("The image is another one whenever it is fetched"), N_("Name a release, or a digest.")),
    "torch-reinstalled-over-base": (
        N_("The torch of the base is replaced by another"),
        N_("Leave torch out, or hold it to what is there by a constraint."),
    ),
    "cuda-torch-on-amd": (N_("A torch for CUDA is installed in an image for AMD"), N_("Install torch from the index of ROCm.")),
    "cuda-runtime-mixed": (
        N_("An extension is compiled by another CUDA than that of torch"),
        N_("Take one CUDA for the compiler and for torch."),
    ),
    "gpu-arch-not-set-at-build": (
        N_("What is compiled does not know for which cards: a build has none"),
        N_("Name the architectures, by TORCH_CUDA_ARCH_LIST for instance."),
    ),
    "build-stage-needs-gpu": (
        N_("A step of the build needs a GPU, and a build has none"),
        N_("Do it when the container runs, or give the step a device."),
    ),
    "driver-installed-in-image": (
        N_("A driver is installed in the image; the host's is the one that works"),
        N_("Leave the driver out: the host brings it."),
    ),
    "pip-externally-managed": (
        N_("pip refuses the system's own Python here (PEP 668)"),
        N_("Make a virtual environment and install into it."),
    ),
    "conda-activate-in-run": (
        N_("conda activate does nothing in a step that no login shell runs"),
        N_("Use conda run -n, or put the environment on PATH."),
    ),
    "arg-lost-after-from": (N_("An argument from before FROM is empty behind it"), N_("Declare it again within the stage.")),
    "pip-cache-kept": (N_("pip's cache stays in the image"), N_("Add --no-cache-dir, or mount a cache.")),
    "apt-lists-kept": (N_("The lists of packages stay in the image"), N_("Remove them in the same step.")),
    "secrets-in-layer": (N_("A secret gets into the image or the file"), N_("Mount it as a secret, or take it from the environment.")),
    "entrypoint-shell-form": (N_("A shell stands before the server and keeps signals from it"), N_("Write it as a list of words.")),
    "healthcheck-missing": (N_("Nothing tells whether the server is well"), N_("Add a health check.")),
    "gpu-not-requested": (N_("It is made for a GPU, and nothing asks for one"), N_("Ask for the devices.")),
    "gpu-request-malformed": (
        N_("The request for a GPU is not of a form that is understood"),
        N_("Write the request as the reference has it, with its capabilities."),
    ),
    "legacy-runtime-key": (N_("It works only where NVIDIA's runtime is registered"), N_("Ask for devices instead.")),
    "rocm-device-missing": (N_("ROCm needs /dev/kfd and /dev/dri, and one is not there"), N_("Hand over both.")),
    "device-group-by-name": (
        N_("The group is named, and the name means another number in the image"),
        N_("Give the number that the group has on the host."),
    ),
    "container-render-group-mismatch": (
        N_("The process is not in the group that owns the devices here"),
        N_("Give the number that the group has on the host."),
    ),
    "shm-too-small": (N_("Several processes share 64 MB of memory"), N_("Set ipc: host, or a shm_size.")),
    "wrong-visibility-variable": (
        N_("The variable leaves no device that is there"),
        N_("Count from 0 among the devices that are handed over, or leave it out."),
    ),
    "nvidia-driver-capabilities-missing": (
        N_("A part of the driver that is used is not asked for"),
        N_("Add it to NVIDIA_DRIVER_CAPABILITIES."),
    ),
    "override-in-image": (N_("An override for one chip stands where others get it too"), N_("Set it where the container is started.")),
    "privileged": (N_("Everything on the host is open to it"), N_("Hand over the devices that it needs.")),
    "docker-socket-mounted": (N_("Whoever has the engine's socket is root on the host"), N_("Leave it out.")),
    "runs-as-root-with-mount": (N_("Root writes into your folder"), N_("Set a user.")),
    "port-on-all-interfaces": (N_("Without a password it answers the whole network"), N_("Put 127.0.0.1: before the port.")),
}


def text_of(cause: str) -> tuple[str, str]:
    """The title of a rule, and what mends it."""
    title, mend = _TEXTS[cause]
    return _(title), _(mend)
