"""Steps in environments: packages, builds, libraries."""

from rigup.language import N_
from rigup.steps.step import Kind

_ = N_  # what it marks is translated when a step is made


KINDS: dict[str, Kind] = {
    "install-packages": Kind(
        _("install {packages}"), ("packages",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "{packages*}"),),
        undo_because=_("the versions that were there before are in the lock, if one was written"),
    ),
    "install-torch": Kind(
        _("install torch {torch} from {index}"), ("torch", "index"), network=True, tag="caution",
        commands=(
            ("python", "-m", "pip", "install", "--force-reinstall", "torch=={torch}", "torchvision=={torchvision}",
             "--index-url", "{index}"),
        ), undo_because=_("the build that was there before is in the lock, if one was written"),
    ),
    "make-environment": Kind(
        _("make the environment {environment} with Python {python}"), ("environment", "python", "starter"),
        commands=(("{starter|}", "-m", "venv", "{environment}"),), undo=(("rm", "-rf", "{environment}"),),
    ),
    "make-environment-windows": Kind(
        _("make the environment {environment} with Python {python}"), ("environment", "python", "starter"),
        commands=(("{starter|}", "-m", "venv", "{environment}"),),
        undo=(("cmd", "/c", "rmdir", "/s", "/q", "{environment}"),),
    ),
    "make-conda-environment": Kind(
        _("make the conda environment {environment} with Python {python}"), ("environment", "python"), network=True,
        commands=(("conda", "create", "-y", "-p", "{environment}", "python={python}"),),
        undo=(("conda", "env", "remove", "-y", "-p", "{environment}"),),
    ),
    "get-python": Kind(
        _("get Python {python}, which is put beside the system's own"), ("python",), network=True,
        commands=(("uv", "python", "install", "{python}"),), undo=(("uv", "python", "uninstall", "{python}"),),
    ),
    "install-into-environment": Kind(
        _("install {packages}"), ("python", "packages"), network=True,
        commands=(("{python}", "-m", "pip", "install", "{packages|}", "{sources|}"),), undo=(),
    ),
    "set-environment-variable": Kind(
        _("set {name}={value} whenever {environment} is used"), ("name", "value", "environment"),
        commands=(), undo=(),
    ),
    "remove-packages": Kind(
        _("remove {packages} from the environment"), ("packages",), tag="caution",
        commands=(("python", "-m", "pip", "uninstall", "-y", "{packages*}"),),
        undo_because=_("install them again at the versions that the report shows"),
    ),
    "new-environment": Kind(
        _("make a fresh environment with Python {python}"), ("python",), network=True, undo=(),
    ),
    "register-kernel": Kind(
        _("register the environment as a notebook kernel, and choose it there"), (),
        commands=(("{python}", "-m", "pip", "install", "ipykernel"),
                  ("{python}", "-m", "ipykernel", "install", "--user", "--name", "{name}")),
        undo=(), writes=tuple("{folder}/" + file for file in ("kernel.json", "logo-32x32.png", "logo-64x64.png", "logo-svg.svg")),
    ),
    "install-python": Kind(
        _("install Python for {machine} and make the environment again with it"), ("machine",), "by-hand",
        network=True, undo=(),
    ),
    "choose-build": Kind(
        _("install a build of {wish} that serves this machine"), ("wish",), network=True, tag="caution",
        undo_because=_("the build that was there before is installed in the same way"),
    ),
    "rebuild-package": Kind(
        _("build {package} for this GPU ({name}={value})"), ("package", "name", "value"), network=True, tag="caution",
        commands=(
            ("env", "{name}={value}", "python", "-m", "pip", "install", "--force-reinstall", "--no-deps",
             "--no-build-isolation", "--no-binary", "{package}", "{package}"),
        ), undo_because=_("install the version that was there before"),
    ),
    "rebuild-extension": Kind(
        _("install {package} again for the torch that is there"), ("package",), network=True, tag="caution",
        commands=(
            ("python", "-m", "pip", "install", "--force-reinstall", "--no-deps", "--no-cache-dir", "--no-build-isolation", "{package}"),
        ), undo_because=_("install the version that was there before"),
    ),
    "upgrade-package": Kind(
        _("install a release of {package} that has what is missing"), ("package",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--upgrade", "{package}"),),
        undo_because=_("install the version that was there before"),
    ),
    "get-build": Kind(_("get, or make, a build of the program for {what}"), ("what",), "by-hand", network=True, undo=()),
    "get-build-for-this-gpu": Kind(
        _("get, or make, a build of the program that has code for this GPU"), (), "by-hand", network=True, undo=(),
    ),
    "get-build-for-older-processors": Kind(
        _("get, or make, a build of the program for older processors"), (), "by-hand", network=True, undo=(),
    ),
    "get-jetson-torch": Kind(
        _("install torch as NVIDIA builds it for L4T {l4t}"), ("l4t",), "by-hand", network=True, undo=(),
    ),
    "get-jetson-torch-of-jetpack": Kind(
        _("install torch as NVIDIA builds it for the JetPack of this module"), (), "by-hand", network=True, undo=(),
    ),
    "get-build-without": Kind(
        _("get, or make, a build of the program without {what}"), ("what",), "by-hand", network=True, undo=(),
    ),
    "get-library": Kind(
        _("install {lib} in the version that the program was built for"), ("lib",), "by-hand", network=True, undo=(),
    ),
    "use-fewer-workers": Kind(_("start fewer worker processes"), (), "by-hand", undo=()),
    "use-wsl": Kind(
        _("do the work in WSL 2, with a Linux environment there"), (), "windows-host", root=True, network=True,
        restart=True, tag="caution", commands=(("wsl", "--install"),), undo=(("wsl", "--uninstall"),),
    ),
    "use-newer-system": Kind(
        _("run it in a container, or on a release of the distribution, with glibc {glibc} or newer"), ("glibc",),
        "by-hand", network=True, undo=(),
    ),
    "program-option": Kind(_("start the program with {option}"), ("option",), "by-hand", undo=()),
    "give-more-memory": Kind(
        _("give it more main memory: --mem of a Slurm job, --memory of a container, swap on a machine of your own"), (),
        "by-hand", undo=(),
    ),
    "install-toolkit": Kind(
        _("install the CUDA toolkit {version} beside what is there (its compiler is enough)"), ("version",), root=True,
        network=True, tag="caution", undo_because=_("remove its packages again"),
    ),
    "install-vc-runtime": Kind(
        _("install Microsoft's Visual C++ Redistributable (x64)"), (), "windows-host", root=True, network=True,
        commands=(("winget", "install", "-e", "--id", "Microsoft.VCRedist.2015+.x64"),),
        undo=(("winget", "uninstall", "-e", "--id", "Microsoft.VCRedist.2015+.x64"),),
    ),
    "enlarge-paging-file": Kind(
        _("enlarge the paging file of Windows, or let Windows manage it"), (), "by-hand", restart=True, undo=(),
    ),
    "expose-host-cpu": Kind(
        _("in a virtual machine: give the guest the host's processor model"), (), "by-hand", restart=True, undo=(),
    ),
}  # fmt: skip
