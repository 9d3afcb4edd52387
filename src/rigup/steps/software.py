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
    "install-requirement": Kind(
        _("install {requirement}"), ("requirement",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "{requirement}"),),
        undo_because=_("the versions that were there before are in the lock, if one was written"),
    ),
    "install-beside": Kind(
        _("put {packages} into the folder {target} of its own, so that what the environment has stays as it is"), ("packages", "target"), network=True, tag="safe",
        commands=(("python", "-m", "pip", "install", "--no-deps", "--target", "{target}", "{packages*}"),), undo=(("rm", "-r", "{target}"),),
    ),
    "install-torch": Kind(
        _("install torch {torch} from {index}"), ("torch", "index"), network=True, tag="caution",
        commands=(
            ("python", "-m", "pip", "install", "--force-reinstall", "torch=={torch}", "torchvision=={torchvision}",
             "--index-url", "{index}"),
        ), undo_because=_("the build that was there before is in the lock, if one was written"),
    ),
    "install-from-index": Kind(
        _("install {packages} from {index}"), ("packages", "index"), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--force-reinstall", "{packages*}", "--index-url", "{index}"),),
        undo_because=_("the build that was there before is in the lock, if one was written"),
    ),
    "keep-package": Kind(
        _("keep {package} at that build in later installations: pip's -c with a file that names it"), ("package",), "by-hand",
        undo=(),
    ),
    "update-program": Kind(
        _("install a newer release of {program}"), ("program",), "by-hand", network=True, tag="caution",
        undo_because=_("install the version that was there before"),
    ),
    "update-to": Kind(
        _("have {program} {release} or newer, the first that computes by Vulkan; on Linux Mesa's Vulkan driver (mesa-vulkan-drivers, vulkan-radeon) has to be there too"),
        ("program", "release", "system"), network=True, tag="caution", undo_because=_("install the version that was there before"),
    ),
    "build-for-rocm": Kind(
        _("install or build what asks for {lib} again, for ROCm {rocm}"), ("lib", "rocm"), "by-hand", network=True, undo=(),
    ),
    "reinstall-owner": Kind(
        _("install the package again that should bring {lib}"), ("lib",), "by-hand", network=True, undo=(),
    ),
    "replace-kernel-files": Kind(
        _("put rocblas.dll and its folder library from a build for {chip}, made for the same HIP SDK, in place of those that are there"),
        ("chip",), "by-hand", network=True, tag="caution", undo_because=_("install the program again"),
    ),
    "update-graphics-driver": Kind(
        _("install the newest graphics driver of {vendor}"), ("vendor",), "kernel", root=True, network=True, restart=True, tag="caution",
        undo_because=_("the driver that was there before is not kept"),
    ),
    "install-torch-with-audio": Kind(
        _("install torch {torch}, with torchvision and torchaudio, from {index}"), ("torch", "index"), network=True, tag="caution",
        commands=(
            ("python", "-m", "pip", "install", "--force-reinstall", "torch=={torch}", "torchvision=={torchvision}",
             "torchaudio=={torchaudio}", "--index-url", "{index}"),
        ), undo_because=_("the build that was there before is in the lock, if one was written"),
    ),
    "ask-index-alone": Kind(
        _("in pyproject.toml, under [[tool.uv.index]] with the name {index}, add the line explicit = true: else uv looks for every package there first; then let uv install"), ("index",),
        "by-hand", network=True, commands=(("uv", "sync"),), undo_because=_("git or the editor has the file as it was; uv remove takes a package off the project"),
    ),
    "install-tool-anew": Kind(
        _("let uv install {tool} anew with builds of torch for {backend} (uv 0.9.18 or newer)"), ("tool", "backend"), network=True, tag="caution",
        commands=(("uv", "tool", "install", "--reinstall", "--torch-backend", "{backend}", "{tool}"),), undo_because=_("the same without --torch-backend"),
    ),
    "install-from-channel": Kind(
        _("install {packages} from the channel {channel}"), ("packages", "channel"), network=True, tag="caution",
        commands=(("conda", "install", "-y", "--override-channels", "-c", "{channel}", "{packages*}"),),
        undo_because=_("conda keeps its earlier revisions: conda install --revision"),
    ),
    "remove-with-conda": Kind(
        _("remove {packages} from the environment with conda"), ("packages",), tag="caution",
        commands=(("conda", "remove", "-y", "{packages*}"),),
        undo_because=_("conda keeps its earlier revisions: conda install --revision"),
    ),
    "install-in-wsl": Kind(_("in WSL: install {packages}"), ("packages",), "by-hand", network=True, undo=()),
    "use-other-environment": Kind(
        _("start the program with {python}, whose environment has torch {build}: the Python that ran is another one; or activate that environment first"), ("python", "build"), "by-hand", undo=(),
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
    "get-python-of-windows": Kind(
        _("get Python {python}, which is put beside the one that is there"), ("python",), network=True,
        commands=(("winget", "install", "-e", "--id", "Python.Python.{python}"),), undo=(("winget", "uninstall", "-e", "--id", "Python.Python.{python}"),),
    ),
    "remake-environment": Kind(
        _("let {file} say {line}, and delete the environment {venv}: the program makes it anew with that Python when it is started"), ("venv", "file", "line"), tag="caution",
        commands=(("rm", "-r", "{venv}"),), undo_because=_("the program makes it again"),
    ),
    "remake-environment-on-windows": Kind(
        _("let {file} say {line}, and delete the environment {venv}: the program makes it anew with that Python when it is started"), ("venv", "file", "line"), tag="caution",
        commands=(("cmd", "/c", "rmdir", "/s", "/q", "{venv}"),), undo_because=_("the program makes it again"),
    ),
    "install-into-environment": Kind(
        _("install {packages}"), ("python", "packages"), network=True,
        commands=(("{python}", "-m", "pip", "install", "{packages|}", "{sources|}"),), undo=(),
    ),
    "install-torch-into-environment": Kind(
        _("install torch {torch} from {index}"), ("python", "torch", "torchvision", "index"), network=True,
        commands=(
            ("{python}", "-m", "pip", "install", "torch=={torch}", "torchvision=={torchvision}", "--index-url", "{index}"),
        ), undo=(),
    ),
    "clone-program": Kind(
        _("fetch {url} into the folder {folder}"), ("url", "folder"), network=True,
        commands=(("git", "clone", "--depth", "1", "{url}", "{folder}"),), undo=(("rm", "-rf", "{folder}"),),
    ),
    "install-requirements": Kind(
        _("install what {requirements} names"), ("python", "requirements"), network=True,
        commands=(("{python}", "-m", "pip", "install", "-r", "{requirements}"),), undo=(),
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
    "remove-compiled-for-torch": Kind(
        _("remove {packages}, which is compiled for the torch that was there; torch has an attention of its own"), ("packages",), tag="caution",
        commands=(("python", "-m", "pip", "uninstall", "-y", "{packages*}"),), undo_because=_("a release for the new torch is installed from the same index"),
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
    "mend-kernel": Kind(
        _("take what is wrong out of {path}, the notebook kernel's own file, and start the kernel anew"), ("path",),
        commands=(("rigup", "lab", "kernels", "fix", "--yes", "{path}"),), undo=(), writes=("{path}",),
    ),
    "install-native-python": Kind(
        _("install Python for {machine} from python.org, or with Homebrew under /opt/homebrew, and make the environment again with it"),
        ("machine",), "by-hand", network=True, undo=(),
    ),
    "make-native-conda-environment": Kind(
        _("make a conda environment of the subdirectory osx-arm64 with Python {python}, and install there again"), ("python",), network=True,
        commands=(
            ("env", "CONDA_SUBDIR=osx-arm64", "conda", "create", "-y", "-n", "native", "python={python}"),  # --subdir came with 23.10
            ("conda", "run", "-n", "native", "conda", "config", "--env", "--set", "subdir", "osx-arm64"),
        ),
        undo=(("conda", "env", "remove", "-y", "-n", "native"),),
    ),
    "choose-build": Kind(
        _("let `rigup plan {wish}` choose the build that serves this machine, and `rigup apply {wish}` install it"), ("wish",), network=True, tag="caution",
        undo_because=_("the build that was there before is installed in the same way"),
    ),
    "rebuild-package": Kind(
        _("build {package} for this GPU ({name}={value})"), ("package", "name", "value"), network=True, tag="caution",
        commands=(
            ("env", "{name}={value}", "python", "-m", "pip", "install", "--force-reinstall", "--no-deps",
             "--no-build-isolation", "--no-binary", "{package}", "{package}"),
        ), undo_because=_("install the version that was there before"),
    ),
    "compile-package": Kind(
        _("compile {package} on this system, for the C library that it has"), ("package",), network=True, tag="caution",
        commands=(
            ("python", "-m", "pip", "install", "--force-reinstall", "--no-deps", "--no-cache-dir", "--no-build-isolation",
             "--no-binary", "{package}", "{package}"),
        ), undo_because=_("install the version that was there before"),
    ),
    "install-wheel-of-abi": Kind(
        _("install the same wheel for torch's own C++ ABI: {file}"), ("file", "index"), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--force-reinstall", "--no-deps", "{index}"),), undo_because=_("install the wheel that was there before"),
    ),
    "get-wheel-of-abi": Kind(
        _("get the same wheel for torch's own C++ ABI from where the other one came from ({file}), or build it without pip's cache, and install it with --force-reinstall --no-deps"),
        ("file",), network=True, tag="caution", undo_because=_("install the wheel that was there before"),
    ),
    "rebuild-extension": Kind(
        _("install {package} again for the torch that is there"), ("package",), network=True, tag="caution",
        commands=(
            ("python", "-m", "pip", "install", "--force-reinstall", "--no-deps", "--no-cache-dir", "--no-build-isolation", "{package}"),
        ), undo_because=_("install the version that was there before"),
    ),
    "install-without-isolation": Kind(
        _("install {package} with the torch that is there in sight"), ("package",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--no-build-isolation", "{package}"),),
        undo=(("python", "-m", "pip", "uninstall", "-y", "{package}"),),
    ),
    "uv-without-isolation": Kind(
        _('where uv does not know that table yet: no-build-isolation-package = ["{package}"] below [tool.uv] in pyproject.toml, torch and what the build needs first, then the package'),
        ("package",), network=True, tag="caution", commands=(("uv", "sync", "--no-install-package", "{package}"), ("uv", "sync")),
        undo_because=_("take the lines out of pyproject.toml again"),
    ),
    "upgrade-package": Kind(
        _("install the newest release of {package}"), ("package",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--upgrade", "{package}"),),
        undo_because=_("install the version that was there before"),
    ),
    "upgrade-extension": Kind(
        _("install the newest release of {package}"), ("package",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--upgrade", "--no-build-isolation", "{package}"),),
        undo_because=_("install the version that was there before"),
    ),
    "install-family-again": Kind(
        _("install torch, torchvision and torchaudio again together, all from the index that torch came from"), (), "by-hand", network=True, undo=(),
    ),
    "install-sdk-of-windows": Kind(
        _("install {package}, then configure again in a new command prompt"), ("package",), "windows-host", network=True,
        commands=(("winget", "install", "-e", "--id", "{package}"),), undo=(("winget", "uninstall", "-e", "--id", "{package}"),),
    ),
    "get-sdk": Kind(
        _("install the development kit of {sdk} as {address} tells, then configure again in a fresh build folder"), ("sdk", "address"), "by-hand", network=True, undo=(),
    ),
    "compile-program": Kind(
        _("compile {program} for this GPU, with {option}"), ("program", "option"), "by-hand", network=True, undo=(),
    ),
    "declare-build-dependency": Kind(
        _('write into pyproject.toml below a line [[tool.uv.extra-build-dependencies.{package}]] the two lines requirement = "torch" and match-runtime = true; then let uv build it with the torch of the project'),
        ("package",), network=True, tag="caution", commands=(("uv", "sync"),), undo=(),
    ),
    "device-of-the-mac": Kind(
        _('in the program: torch.device("mps") in the place of torch.device("cuda"), .to("mps") in that of .cuda(), and map_location="mps" where it loads what was stored'), ("instead",), "by-hand",
        undo=(),
    ),
    "compile-for-vulkan": Kind(
        _("compile {program} for Vulkan, which the card's own driver brings, with {option}"), ("program", "option"), "by-hand", network=True, undo=(),
    ),
    "install-build-for-vulkan": Kind(
        _("install the build of {program} for Vulkan, which the card's own driver brings, and start that one"), ("program",), network=True, undo=(),
    ),
    "do-without-package": Kind(
        _("do without {package}: it has code for GPUs from {least} on alone"), ("package", "least"), "by-hand", undo=(),
    ),
    "do-without-by": Kind(
        _("do without {package}, which has code for GPUs from {least} on alone: {instead}"), ("package", "least", "instead"), "by-hand", undo=(),
    ),
    "install-without-pin": Kind(
        _("install {packages} without {pin}: it asks for {want}, and brings it"), ("packages", "pin", "want"), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "{packages}"),),
        undo_because=_("the versions that were there before are in the lock, if one was written"),
    ),
    "install-version": Kind(
        _("install {requirement}, as the package asks that stopped"), ("requirement",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "{requirement}"),),
        undo_because=_("the versions that were there before are in the lock, if one was written"),
    ),
    "rebuild-package-for-numpy": Kind(
        _("install {package} again, so that it is a build for the NumPy that is there"), ("package",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--force-reinstall", "--no-cache-dir", "{package}"),),
        undo_because=_("install the version that was there before"),
    ),
    "older-release": Kind(
        _("install an older release of {package}, as {importer} asks for it: the command names what does not go together"), ("package", "importer"),
        commands=(("python", "-m", "pip", "check"),), undo=(),
    ),
    "find-clashing-packages": Kind(
        _("see which packages do not go together, and ask for them without exact versions"), ("part",),
        commands=(("python", "-m", "pip", "check"),), undo=(),
    ),
    "name-cuda-compiler": Kind(
        _("tell the build where nvcc is: {name}={path}, if it is there; else install the CUDA toolkit first"), ("name", "path"),
        commands=(("ls", "{path}"),), undo=(),
    ),
    "more-memory-for-wsl": Kind(
        _("give WSL more than half of the memory of Windows: {size}, a line each below [wsl2] in the file .wslconfig of the Windows account, then end WSL, which starts anew"),
        ("size",), "windows-host", tag="caution", commands=(("wsl", "--shutdown"),), undo_because=_("take the line out of .wslconfig again"),
    ),
    "do-it-on-linux": Kind(
        _("do this part of the work on a machine with Linux: it is not made for {platform}"), ("platform",), "by-hand", undo=(),
    ),
    "build-from-sources": Kind(
        _("build {package} from its sources: nobody offers it compiled for {platform}"), ("package", "platform"), "by-hand", network=True, undo=(),
    ),
    "use-system-with-glibc": Kind(
        _("run it in a container, or on a distribution, that has glibc: musl runs none of these wheels"), (), "by-hand", network=True, undo=(),
    ),
    "get-build": Kind(_("get, or make, a build of the program for {what}"), ("what",), "by-hand", network=True, undo=()),
    "get-build-for-this-gpu": Kind(
        _("get, or make, a build of the program that has code for this GPU"), (), "by-hand", network=True, undo=(),
    ),
    "get-build-for-older-processors": Kind(
        _("get, or make, a build of the program for older processors"), (), "by-hand", network=True, undo=(),
    ),
    "get-jetson-torch": Kind(
        _("install torch as NVIDIA builds it for L4T {l4t}"), ("l4t",), "by-hand", network=True,
        commands=(("python", "-m", "pip", "install", "--find-links", "{links}", "torch=={torch}"),), undo=(),
    ),
    "get-jetson-file": Kind(
        _("install torch as NVIDIA builds it for L4T {l4t}"), ("l4t", "address"), network=True,
        commands=(("python", "-m", "pip", "install", "{address}"),), undo=(),
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
    "get-release-with": Kind(
        _("install {what}, of which {lib} is a part"), ("what", "lib"), "by-hand", network=True, undo=(),
    ),
    "get-release-onto-path": Kind(
        _("install {what}, and put the folder that has {lib} on PATH"), ("what", "lib"), "by-hand", network=True, undo=(),
    ),
    "wheels-folder-first": Kind(
        _("put the folder {folder} of the environment's packages (the command tells where it lies) first on {variable}, for the program"),
        ("folder", "variable"), commands=(
            ("python", "-c", "import nvidia, sys; print(*(one + '/' + sys.argv[1] for one in nvidia.__path__))", "{part}"),
        ), undo=(),
    ),
    "folder-first": Kind(
        _("put the folder {path} first on {variable}, for the program"), ("path", "variable"), "by-hand", undo=(),
    ),
    "install-again": Kind(
        _("install {package} again, with all that it brings"), ("package",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--force-reinstall", "--no-cache-dir", "{package}"),),
        undo_because=_("the versions that were there before are in the lock, if one was written"),
    ),
    "install-package-again": Kind(
        _("install {package} again, and nothing else"), ("package",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--force-reinstall", "--no-deps", "--no-cache-dir", "{package}"),),
        undo_because=_("the versions that were there before are in the lock, if one was written"),
    ),
    "install-from-conda": Kind(
        _("install {packages} from the channel {channel}"), ("packages", "channel"), network=True, tag="caution",
        commands=(("conda", "install", "-y", "-c", "{channel}", "{packages*}"),),
        undo_because=_("conda keeps its earlier revisions: conda install --revision"),
    ),
    "newer-release": Kind(
        _("install {package} {version} or newer, from where it came"), ("package", "version"), "by-hand", network=True, undo=(),
    ),
    "toolkit-of-torch": Kind(
        _("compile with the CUDA toolkit of the release that torch was built with (the command tells it), and set CUDA_HOME to it"),
        ("part",), commands=(("python", "-c", "import torch; print(torch.version.cuda)"),), undo=(),
    ),
    "install-build-tools": Kind(
        _("install the C++ build tools of Visual Studio, which bring {lib}"), ("lib",), "windows-host", root=True, network=True,
        commands=(
            ("winget", "install", "-e", "--id", "Microsoft.VisualStudio.2022.BuildTools", "--override",
             "--passive --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended"),
        ), undo=(("winget", "uninstall", "-e", "--id", "Microsoft.VisualStudio.2022.BuildTools"),),
    ),
    "own-environment": Kind(
        _("give {program} an environment of its own: what it wants does not go together with the rest"), ("program",), "by-hand",
        network=True, undo=(),
    ),
    "give-job-memory": Kind(_("ask the scheduler for more main memory with {option}"), ("option",), undo=()),
    "use-wsl": Kind(
        _("do the work in WSL 2, with a Linux environment there"), (), "windows-host", root=True, network=True,
        restart=True, tag="caution", commands=(("wsl", "--install"),), undo=(("wsl", "--uninstall"),),
    ),
    "use-newer-system": Kind(
        _("run it in a container, or on a release of the distribution, with glibc {glibc} or newer"), ("glibc",),
        "by-hand", network=True, undo=(),
    ),
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
        _("enlarge the paging file of Windows, or let Windows manage it: in the window of the command under Advanced, Virtual memory"), (), "by-hand", restart=True,
        commands=(("SystemPropertiesPerformance",),), undo=(),
    ),
    "expose-host-cpu": Kind(
        _("in a virtual machine: give the guest the host's processor model"), (), "by-hand", restart=True, undo=(),
    ),
}  # fmt: skip
