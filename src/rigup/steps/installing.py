"""Steps whose commands stand in tables: drivers, ROCm, toolkits, engines, places of packages."""

from rigup.language import N_
from rigup.steps.step import Kind
from rigup.steps.surroundings import ENGINE_FILES

_ = N_  # what it marks is translated when a step is made


KINDS: dict[str, Kind] = {
    "remove-driver": Kind(
        _("remove the {vendor} driver that is there: two providers on one machine break each other"), ("vendor",), "kernel",
        root=True, tag="destructive", undo_because=_("the driver that was there is installed again in the way it came"),
    ),
    "add-package-source": Kind(
        _("make the packages of {provider} known to the system"), ("provider",), "kernel", root=True, network=True,
        tag="caution", undo_because=_("what rigup adds, its undo takes out of the package manager's files again"),
    ),
    "install-driver-packages": Kind(
        _("install the NVIDIA driver of the branch {branch} with the {module} kernel module, from {provider}"),
        ("branch", "module", "provider"), "kernel", root=True, network=True, restart=True, tag="caution",
        undo_because=_("the driver that was there before is not kept"),
    ),
    "keep-branch": Kind(
        _("keep the driver on the branch {branch} when the system is updated"), ("branch",), "kernel", root=True,
        undo_because=_("a lock is taken off with the package manager"),
    ),
    "hold-packages": Kind(
        _("hold the packages of {name}, so that no update by night changes the libraries under a loaded module; for an update of your own take the hold off (apt-mark unhold), and restart behind it"),
        ("name",), "kernel", root=True, commands=(("apt-mark", "hold", "?and(?installed,?name({name}))"),),
        undo=(("apt-mark", "unhold", "?and(?installed,?name({name}))"),),
    ),
    "install-wheel-of-index": Kind(
        _("install the compiled wheel of {package} from {index}, which needs no compiler; a Python for which that index has none gets one of those it has"), ("package", "index"), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--force-reinstall", "--no-cache-dir", "--no-deps", "--only-binary", ":all:", "{package}", "--extra-index-url", "{index}"),),
        undo_because=_("the versions that were there before are in the lock, if one was written"),
    ),
    "have-nvcc": Kind(
        _("see that the CUDA toolkit is there, whose nvcc the build from sources needs (pip's torch brings none)"), ("part",), "by-hand",
        commands=(("nvcc", "--version"),), undo=(),
    ),
    "install-fabric-manager": Kind(
        _("install the fabric manager of the driver's branch {branch}, and start it with the machine"), ("branch",),
        "kernel", root=True, network=True, tag="caution", undo=(("systemctl", "disable", "--now", "nvidia-fabricmanager"),),
    ),
    "enrol-driver-key": Kind(
        _("offer the key that signs the module to the firmware, and confirm it on the screen at the next start"), (),
        "kernel", root=True, restart=True, tag="caution",
        undo_because=_("a key is taken back with mokutil --delete and another restart"),
    ),
    "rebuild-initramfs": Kind(
        _("rebuild the initial file system, so that no other driver takes the card at the next start"), (), "kernel",
        root=True, undo=(),
    ),
    "write-configuration": Kind(
        _("write into the configuration of the system: {lines}"), ("lines",), "by-hand", root=True, network=True,
        restart=True, tag="caution", undo_because=_("the system keeps its earlier generations, or the lines are taken out"),
    ),
    "install-windows-driver": Kind(
        _("install the driver {version} or newer from {address}"), ("version", "address"), "windows-host",
        root=True, network=True, restart=True, tag="caution",
        undo_because=_("Windows offers the driver that was there before in the device manager"),
    ),
    "renew-intel-driver": Kind(
        _("install Intel's newest graphics driver, from {address}"), ("address",), "windows-host", root=True, network=True,
        tag="caution", undo_because=_("Windows offers the driver that was there before in the device manager"),
    ),
    "get-intel-compute": Kind(
        _("install Level Zero and OpenCL for Intel's GPUs, from {address}: this system's own packages have not all of it"),
        ("address",), "by-hand", root=True, network=True, undo_because=_("the packages are removed in the same way"),
    ),
    "restart-wsl": Kind(
        _("stop WSL, so that it starts with the new driver"), (), "windows-host",
        commands=(("wsl.exe", "--shutdown"),), undo=(),
    ),
    "install-rocm-release": Kind(
        _("install ROCm {version}, on the kernel driver that is there"), ("version",), root=True, network=True, tag="caution",
        undo_because=_("it is removed with the package manager"),
    ),
    "install-amdgpu-driver": Kind(
        _("install the amdgpu kernel driver of ROCm {version}"), ("version",), "kernel", root=True, network=True,
        restart=True, tag="caution", undo_because=_("it is removed with the package manager"),
    ),
    "install-cuda-toolkit": Kind(
        _("install the CUDA toolkit {version}, which leaves the driver alone"), ("version",), root=True, network=True,
        tag="caution", undo_because=_("it is removed with the package manager"),
    ),
    "install-cudnn": Kind(
        _("install cuDNN {version} for the system's CUDA"), ("version",), root=True, network=True, tag="caution",
        undo_because=_("it is removed with the package manager"),
    ),
    "install-with-conda": Kind(
        _("install {packages} into {environment} from the channel {channel}"), ("packages", "environment", "channel"),
        network=True, commands=(
            ("conda", "install", "-y", "-p", "{environment}", "--override-channels", "-c", "{channel}", "{others|}", "{packages|}"),
        ), undo=(),
    ),
    "link-folder": Kind(
        _("link {path} to {target}, where builds look for it"), ("path", "target"),
        commands=(("ln", "-sfn", "{target}", "{path}"),), undo=(("rm", "-f", "{path}"),), writes=("{path}",),
    ),
    "set-up-container-toolkit": Kind(
        _("install the NVIDIA Container Toolkit from its own repository"), (), "host-of-container", root=True, network=True,
        tag="caution", commands=(("@container-toolkit",),), undo_because=_("it is removed with the package manager"),
    ),
    "get-container-toolkit": Kind(
        _("install the NVIDIA Container Toolkit (nvidia-container-toolkit): NVIDIA's own repository has it for apt, dnf and zypper, Arch Linux itself"),
        (), "host-of-container", root=True, network=True, tag="caution", undo_because=_("it is removed with the package manager"),
    ),
    "tell-engine": Kind(
        _("make the NVIDIA runtime known to {engine}, and restart that: its containers stop"), ("engine",),
        "host-of-container", root=True, tag="caution", undo_because=_("its entry is taken out of the engine's configuration"), writes=ENGINE_FILES,
    ),
    "tell-runtime": Kind(
        _("make the NVIDIA runtime known to {engine}, and restart that; containers that run go on"), ("engine",),
        "host-of-container", root=True, tag="caution", undo_because=_("its entry is taken out of the engine's configuration"), writes=ENGINE_FILES,
    ),
    "install-engine": Kind(
        _("install the container engine {engine}"), ("engine",), "host-of-container", root=True, network=True, tag="caution",
        commands=(("@install", "{package}"),), undo=(("@remove", "{package}"),),
    ),
    "renew-engine": Kind(
        _("upgrade {engine} to {version} or newer"), ("engine", "version"), "host-of-container", root=True, network=True,
        tag="caution", commands=(("@upgrade", "{engine}"),), undo_because=_("the release that was there before is not kept"),
    ),
    "install-kernel": Kind(
        _("install a kernel of {version} or newer"), ("version",), "kernel", root=True, network=True, restart=True,
        tag="caution", undo_because=_("the kernel that was there stays in the boot menu"),
    ),
    "set-kernel-argument": Kind(
        _("start the kernel with {argument}"), ("argument",), "kernel", root=True, restart=True, tag="caution",
        undo_because=_("the argument is taken out in the same way"),
    ),
    "install-system-packages": Kind(
        _("install {packages} from the distribution"), ("packages",), root=True, network=True,
        commands=(("@install", "{packages*}"),), undo=(("@remove", "{packages*}"),),
    ),
    "tell-proxy": Kind(
        _("tell {program} the proxy {proxy}: it asks nobody else for it"), ("program", "proxy"), tag="caution",
        undo_because=_("the setting is taken out again"),
    ),
    "tell-proxy-as-root": Kind(
        _("tell {program} the proxy {proxy}: it asks nobody else for it"), ("program", "proxy"), root=True, tag="caution",
        undo_because=_("the setting is taken out again"),
    ),
    "get-uv": Kind(
        _("get uv into a folder of its own, {folder}"), ("starter", "folder"), network=True,
        commands=(("{starter|}", "-m", "venv", "{folder}"), ("{python}", "-m", "pip", "install", "uv")),
        undo=(("rm", "-rf", "{folder}"),),
    ),
    "get-uv-alone": Kind(
        _("get uv into a folder of its own, {folder}, by its maker's installer"), ("folder",), network=True,
        undo=(("rm", "-rf", "{folder}"),),
    ),
    "make-environment-with-uv": Kind(
        _("make the environment {environment} with Python {python}, which uv gets where it is missing"),
        ("environment", "python", "uv"), network=True,
        commands=(("{uv}", "venv", "--seed", "--python", "{python}", "{environment}"),),
        undo=(("rm", "-rf", "{environment}"),),
    ),
    "install-with-uv": Kind(
        _("install {packages}"), ("python", "packages", "uv"), network=True,
        commands=(("{before|}", "{uv}", "pip", "install", "--python", "{python}", "{packages|}", "{sources|}"),), undo=(),
    ),
    "change-firmware": Kind(_("in the firmware set-up: {what}"), ("what",), "by-hand", restart=True, undo=()),
    "change-system": Kind(_("change the system to {what}"), ("what",), "by-hand", undo=()),
    "write-recipe": Kind(
        _("write the image's recipe: the same `rigup plan` with --as {form} > {file}"), ("form", "file"), "by-hand", undo=(),
    ),
    "build-image": Kind(
        _("build the image {image} from {file}"), ("image", "file"), network=True, undo=(),
    ),
    "start-image": Kind(_("start {image} with the devices"), ("image",), undo=()),
}  # fmt: skip
