"""The kinds of steps. Families stand together; a new kind is one row here."""

from rigup.steps.step import Kind

_ = str  # marks a text for the catalogues; it is translated when a step is made

_RELOAD = (("systemctl", "daemon-reload"), ("systemctl", "restart", "{service}"))
_INITRAMFS = ("@initramfs",)

KINDS: dict[str, Kind] = {
    # -- the kernel and its modules
    "install-driver": Kind(
        _("install the {vendor} driver, branch {branch} or newer"), ("vendor", "branch"), "kernel", root=True,
        network=True, restart=True, tag="caution", undo_because=_("the driver that was there before is not kept"),
    ),
    "reload-module": Kind(
        _("load the kernel module {module} anew"), ("module",), "kernel", root=True, tag="caution",
        commands=(("modprobe", "-r", "{module}"), ("modprobe", "{module}")), undo=(),
    ),
    "load-module": Kind(
        _("load the kernel module {module}"), ("module",), "kernel", root=True,
        commands=(("modprobe", "{module}"),), undo=(("modprobe", "-r", "{module}"),),
    ),
    "blacklist-module": Kind(
        _("keep the kernel module {module} from loading, and rebuild the initramfs"), ("module",), "kernel", root=True,
        restart=True, tag="caution", commands=(
            ("sh", "-c", 'printf "blacklist %s\\noptions %s modeset=0\\n" "$1" "$1" > "/etc/modprobe.d/rigup-blacklist-$1.conf"',
             "sh", "{module}"), _INITRAMFS,
        ), undo=(("rm", "-f", "/etc/modprobe.d/rigup-blacklist-{module}.conf"), _INITRAMFS),
    ),
    "set-module-option": Kind(
        _("set {module}.{name} to {value} for the next start"), ("module", "name", "value"), "kernel", root=True,
        restart=True, tag="caution", commands=(
            ("sh", "-c", 'printf "options %s %s=%s\\n" "$1" "$2" "$3" > "/etc/modprobe.d/rigup-$1-$2.conf"',
             "sh", "{module}", "{name}", "{value}"), _INITRAMFS,
        ), undo=(("rm", "-f", "/etc/modprobe.d/rigup-{module}-{name}.conf"), _INITRAMFS),
    ),
    "enrol-module-key": Kind(
        _("enrol the key that signs the module, and confirm it at the next start"), (), "kernel", root=True,
        restart=True, tag="caution", commands=(("mokutil", "--import", "/var/lib/shim-signed/mok/MOK.der"),),
        undo_because=_("a key is taken back with mokutil --delete and another restart"),
    ),
    "restart-machine": Kind(
        _("restart the machine"), (), "kernel", root=True, restart=True, tag="caution",
        commands=(("systemctl", "reboot"),), undo=(),
    ),
    "power-cycle": Kind(
        _("switch the machine off, wait a minute, and start it again; then check power, slot and temperature"), (),
        "by-hand", restart=True, undo_because=_("nothing is changed"),
    ),
    "find-out": Kind(
        _("find out more: {about}"), ("about",), "kernel", root=True,
        commands=(("dkms", "status"), ("mokutil", "--sb-state"), ("modprobe", "-v", "{module}"), ("dmesg",)), undo=(),
    ),
    # -- drivers, cards and their memory
    "rebuild-modules": Kind(
        _("install the headers of the kernel {kernel}, and build the driver's module for it"), ("kernel",), "kernel",
        root=True, network=True, tag="caution",
        commands=(("@install", "@headers"), ("dkms", "autoinstall", "-k", "{kernel}")), undo=(),
    ),
    "boot-kernel": Kind(
        _("start the kernel {kernel}, for which there is a module"), ("kernel",), "by-hand", restart=True, undo=(),
    ),
    "install-driver-branch": Kind(
        _("install the {vendor} driver of the branch {branch}, and none newer"), ("vendor", "branch"), "kernel", root=True,
        network=True, restart=True, tag="caution", undo_because=_("the driver that was there before is not kept"),
    ),
    "install-module-flavour": Kind(
        _("install the {flavour} flavour of the NVIDIA kernel module, of the branch that is there"), ("flavour",), "kernel",
        root=True, network=True, restart=True, tag="caution",
        undo_because=_("the flavour that was there before is installed in the same way"),
    ),
    "leave-kernel-module": Kind(
        _("install ROCm without its own kernel module (--no-dkms), on the amdgpu of the kernel"), (), "kernel", root=True,
        tag="caution", commands=(("@remove", "amdgpu-dkms"),),
        undo_because=_("install amdgpu-dkms again once it supports the kernel"),
    ),
    "delete-stale-dkms": Kind(
        _("delete what DKMS still keeps of {module} {version}"), ("module", "version"), "kernel", root=True, tag="destructive",
        commands=(("rm", "-r", "/var/lib/dkms/{module}/{version}"),),
        undo_because=_("nothing there is used: its sources are gone"),
    ),
    "take-off-loader-path": Kind(
        _("take {path} off LD_LIBRARY_PATH and /etc/ld.so.conf.d, for programs and services"), ("path",), "by-hand", undo=(),
    ),
    "remove-foreign-library": Kind(
        _("remove the driver library that does not belong to the loaded module ({path})"), ("path",), tag="caution",
        undo_because=_("install the package again that it came with"),
    ),
    "enlarge-bars": Kind(
        _("switch on Above 4G Decoding and Resizable BAR in the firmware set-up"), (), "by-hand", restart=True, undo=(),
    ),
    "switch-secure-boot-off": Kind(_("switch Secure Boot off in the firmware set-up"), (), "by-hand", restart=True, undo=()),
    "graphics-mode": Kind(
        _("give the discrete GPU back with {tool}: choose hybrid (on-demand) or nvidia, and restart"), ("tool",), "by-hand",
        root=True, restart=True, undo=(),
    ),
    "repair-passthrough": Kind(
        _("at the host: pass all functions of the card, and give the guest UEFI firmware with a large MMIO window"), (),
        "by-hand", restart=True, undo=(),
    ),
    "pass-gpu-to-guest": Kind(_("at the host: pass a GPU to this guest"), (), "by-hand", restart=True, undo=()),
    "create-uvm-node": Kind(
        _("load nvidia_uvm and make its device node"), (), "kernel", root=True,
        commands=(("nvidia-modprobe", "-u", "-c=0"),), undo=(),
    ),
    "enable-service": Kind(
        _("start the service {service}, now and with the machine"), ("service",), "kernel", root=True,
        commands=(("systemctl", "enable", "--now", "{service}"),), undo=(("systemctl", "disable", "--now", "{service}"),),
    ),
    "match-fabric-manager": Kind(
        _("install the fabric manager of exactly the driver's version ({version})"), ("version",), "kernel", root=True,
        network=True, tag="caution", commands=(("@install", "nvidia-fabricmanager={version}*"),),
        undo_because=_("the version that was there before did not fit the driver"),
    ),
    "update-system-package": Kind(
        _("update the package {package}"), ("package",), "kernel", root=True, network=True, tag="caution",
        commands=(("@upgrade", "{package}"),),
        undo_because=_("the version that was there before is in the package manager's log"),
    ),
    "other-firmware": Kind(
        _("install another linux-firmware than {version}: a newer one, or the last good one, and rebuild the initramfs"),
        ("version",), "kernel", root=True, network=True, restart=True, tag="caution", commands=(_INITRAMFS,),
        undo_because=_("the version that was there before is installed in the same way"),
    ),
    "slot-of-processor": Kind(
        _("put the card into a slot that is wired to the processor, PCIe 3 or newer"), (), "by-hand", restart=True, undo=(),
    ),
    "other-slot": Kind(
        _("put the card into another slot, without a riser, or into another machine"), (), "by-hand", restart=True, undo=(),
    ),
    "reset-gpu": Kind(
        _("take the work off the GPU {index}, and reset it"), ("index",), "kernel", root=True, tag="caution",
        commands=(("nvidia-smi", "--gpu-reset", "-i", "{index}"),), undo=(),
    ),
    "default-compute-mode": Kind(
        _("let several processes share the GPU {index}"), ("index",), "kernel", root=True,
        commands=(("nvidia-smi", "-i", "{index}", "-c", "0"),), undo=(("nvidia-smi", "-i", "{index}", "-c", "3"),),
    ),
    "find-holders": Kind(
        _("find who holds the GPU, from the host, and end it or take another GPU"), (), "kernel", root=True,
        commands=(("fuser", "-v", "/dev/nvidia0"),), undo=(),
    ),
    "shrink-work": Kind(_("ask for less memory: {how}"), ("how",), "by-hand", undo=()),
    "need-less-memory": Kind(
        _("ask for less memory: a smaller batch, lower precision, offloading, or sharding over several GPUs"), (), "by-hand",
        undo=(),
    ),
    "create-mig-instances": Kind(
        _("make GPU instances, each with a compute instance"), (), "kernel", root=True, tag="caution",
        commands=(("nvidia-smi", "mig", "-lgip"), ("nvidia-smi", "mig", "-cgi", "0", "-C")),
        undo=(("nvidia-smi", "mig", "-dci"), ("nvidia-smi", "mig", "-dgi")),
    ),
    "switch-mig-off": Kind(
        _("switch MIG mode off"), (), "kernel", root=True, restart=True, tag="caution",
        commands=(("nvidia-smi", "-mig", "0"),), undo=(("nvidia-smi", "-mig", "1"),),
    ),
    "name-mig-device": Kind(_("name the MIG device by its UUID ({uuid})"), ("uuid",), undo=()),
    "least-carve-out": Kind(
        _("set the graphics memory in the firmware set-up to its least value"), (), "by-hand", restart=True, undo=(),
    ),
    "larger-carve-out": Kind(
        _("set the graphics memory in the firmware set-up to a larger value"), (), "by-hand", restart=True, undo=(),
    ),
    "raise-shared-memory": Kind(
        _("set ttm.pages_limit to the GiB wished for times 262144, and restart"), (), "by-hand", root=True, restart=True, undo=(),
    ),
    "plan-from-sysfs": Kind(
        _("hold the program to what mem_info_gtt_total and the free memory allow"), (), "by-hand", undo=(),
    ),
    "join-group": Kind(
        _("add {user} to the group {group}"), ("user", "group"), "kernel", root=True,
        commands=(("usermod", "-aG", "{group}", "{user}"),), undo=(("gpasswd", "-d", "{user}", "{group}"),),
    ),
    "log-in-again": Kind(
        _("log out and in again (or restart the service): groups count from the next login on"), (), "by-hand", undo=(),
    ),
    "service-variable": Kind(
        _("give the service {service} the variable {name}={value}, and restart it"), ("service", "name", "value"),
        root=True, commands=(
            ("mkdir", "-p", "/etc/systemd/system/{service}.service.d"),
            ("sh", "-c", 'printf "[Service]\\nEnvironment=\\"%s=%s\\"\\n" "$2" "$3" > '
             '"/etc/systemd/system/$1.service.d/rigup-$2.conf"', "sh", "{service}", "{name}", "{value}"), *_RELOAD,
        ), undo=(("rm", "-f", "/etc/systemd/system/{service}.service.d/rigup-{name}.conf"), *_RELOAD),
    ),
    "restart-service": Kind(_("restart the service {service}"), ("service",), root=True, commands=_RELOAD, undo=()),
    "set-variable": Kind(
        _("set {name}={value} for the program"), ("name", "value"), "by-hand", undo=(),
    ),
    "unset-variable": Kind(
        _("unset {name} wherever it is set (shell files, /etc/environment, units)"), ("name",), "by-hand", undo=(),
    ),
    # -- environments
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
        undo=(("jupyter", "kernelspec", "remove", "-f", "{name}"),),
    ),
    "install-python": Kind(
        _("install Python for {machine} and make the environment again with it"), ("machine",), "by-hand",
        network=True, undo=(),
    ),
    # -- containers, WSL, schedulers
    "container-option": Kind(
        _("start the container with {option}"), ("option",), "host-of-container", undo=(),
    ),
    "purge-packages": Kind(
        _("remove the packages {packages}"), ("packages",), root=True, tag="destructive",
        commands=(("@remove", "{packages*}"),), undo_because=_("install them again from the distribution"),
    ),
    "batch-option": Kind(_("ask the scheduler with {option}"), ("option",), undo=()),
    "attach-gpu": Kind(
        _("use a machine with a supported GPU, or a build for the CPU: {command}"), ("command",), "by-hand", undo=(),
    ),
    "use-other-backend": Kind(
        _("use another backend with this card: {backend}"), ("backend",), "by-hand", undo=(),
    ),
    # -- builds and libraries
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
    "upgrade-package": Kind(
        _("install a release of {package} that has what is missing"), ("package",), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "--upgrade", "{package}"),),
        undo_because=_("install the version that was there before"),
    ),
    "get-build": Kind(_("get, or make, a build of the program for {what}"), ("what",), "by-hand", network=True, undo=()),
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
    # -- programs, schedulers, Macs, DirectML, oneAPI
    "use-spawn": Kind(
        _("start worker processes with the spawn method, and keep the GPU out of the parent process"), (), "by-hand", undo=(),
    ),
    "use-one-device": Kind(_("bring the model and its inputs to one device in the program"), (), "by-hand", undo=()),
    "set-before-start": Kind(_("set {name} before the program starts, not inside it"), ("name",), "by-hand", undo=()),
    "start-with-srun": Kind(_("start the program with srun in the batch script"), (), "by-hand", undo=()),
    "use-batch-job": Kind(
        _("run it as a batch job, or tell Lightning to leave Slurm alone (plugins=LightningEnvironment())"), (), "by-hand", undo=(),
    ),
    "clear-acs": Kind(
        _("switch ACS off on the PCIe bridges above the GPUs (firmware setup, or setpci at every start)"), (), "kernel", root=True,
        tag="caution", undo_because=_("it comes back by itself at the next start"),
    ),
    "iommu-pass-through": Kind(
        _("add iommu=pt to the kernel's command line"), (), "kernel", root=True, restart=True, tag="caution",
        commands=(("grubby", "--update-kernel=ALL", "--args=iommu=pt"),), undo=(("grubby", "--update-kernel=ALL", "--remove-args=iommu=pt"),),
    ),
    "open-ports": Kind(
        _("let the nodes reach each other on all high ports (firewall, routing)"), (), "every-node", root=True, tag="caution",
        undo_because=_("close the ports again in the firewall"),
    ),
    "update-macos": Kind(
        _("update macOS to {version} or newer"), ("version",), "by-hand", network=True, restart=True, tag="caution",
        undo_because=_("macOS is not taken back to an older release"),
    ),
    "run-on-the-mac": Kind(_("run the program on macOS itself, outside containers"), (), "by-hand", undo=()),
    "leave-sandbox": Kind(_("run the program in a plain terminal, or let the sandbox use the GPU"), (), "by-hand", undo=()),
    "use-float32": Kind(_("convert the data to float32 before it goes to the GPU"), (), "by-hand", undo=()),
    "choose-adapter": Kind(_("name the adapter: index {index}, {name}"), ("index", "name"), "by-hand", undo=()),
    "source-oneapi": Kind(
        _("load oneAPI's environment before Python starts: source /opt/intel/oneapi/setvars.sh"), (), "by-hand", undo=(),
    ),
    "install-oneapi": Kind(
        _("install the oneAPI Base Toolkit release that brings {lib}"), ("lib",), root=True, network=True, tag="caution",
        undo_because=_("remove its packages again"),
    ),
    # -- access, containers, WSL, AMD
    "relabel-nodes": Kind(
        _("let containers use devices under SELinux, and give the nodes their labels back"), (), "host-of-container",
        root=True, tag="caution", commands=(
            ("setsebool", "-P", "container_use_devices", "on"), ("sh", "-c", "restorecon -v /dev/nvidia*"),
        ), undo=(("setsebool", "-P", "container_use_devices", "off"),),
    ),
    "restart-container": Kind(
        _("stop the container and start it again"), (), "host-of-container", tag="caution",
        commands=(("docker", "restart", "{container}"),), undo=(),
    ),
    "link-nvidia-nodes": Kind(
        _("make links under /dev/char for the NVIDIA nodes, so that systemd keeps them in the container's rules"), (),
        "host-of-container", root=True,
        commands=(("nvidia-ctk", "system", "create-dev-char-symlinks", "--create-all"),), undo=(),
    ),
    "install-container-toolkit": Kind(
        _("install the NVIDIA Container Toolkit, make it known to {engine}, and restart that"), ("engine",),
        "host-of-container", root=True, network=True, tag="caution", commands=(
            ("@install", "nvidia-container-toolkit"),
            ("nvidia-ctk", "runtime", "configure", "--runtime={engine}"), ("systemctl", "restart", "{engine}"),
        ), undo=(("@remove", "nvidia-container-toolkit"),),
    ),
    "describe-devices": Kind(
        _("write the CDI description of the NVIDIA devices anew"), (), "host-of-container", root=True,
        commands=(("nvidia-ctk", "cdi", "generate", "--output=/etc/cdi/nvidia.yaml"),),
        undo=(("rm", "-f", "/etc/cdi/nvidia.yaml"),),
    ),
    "use-native-engine": Kind(
        _("use a container engine that runs on the host itself (Docker Engine's own packages, or podman)"), (),
        "host-of-container", root=True, network=True, tag="caution",
        commands=(("docker", "context", "use", "default"),), undo=(("docker", "context", "use", "desktop-linux"),),
    ),
    "choose-image": Kind(_("use an image {what}"), ("what",), "host-of-container", network=True, undo=()),
    "own-files": Kind(
        _("give {path} to the user that the container runs as"), ("path",), "host-of-container", root=True, tag="caution",
        commands=(("chown", "-R", "1000:100", "{path}"),), undo_because=_("the owners that were there are not kept"),
    ),
    "update-wsl": Kind(
        _("update Windows, then WSL"), (), "windows-host", root=True, network=True, restart=True, tag="caution",
        commands=(("wsl", "--update"), ("wsl", "--shutdown")), undo_because=_("Windows keeps no older kernel of WSL"),
    ),
    "convert-to-wsl2": Kind(
        _("turn the distribution into one of WSL 2"), (), "windows-host", restart=True, tag="caution",
        commands=(("wsl", "--set-version", "{distribution}", "2"),), undo=(("wsl", "--set-version", "{distribution}", "1"),),
    ),
    "use-wddm": Kind(
        _("switch the NVIDIA GPUs of the Windows host to WDDM, or disable the one that cannot"), (), "windows-host",
        root=True, restart=True, tag="caution", commands=(("nvidia-smi", "-dm", "0"),), undo=(("nvidia-smi", "-dm", "1"),),
    ),
    "add-loader-path": Kind(
        _("put {path} on the loader's path"), ("path",), root=True, commands=(
            ("sh", "-c", 'printf "%s\\n" "$1" > /etc/ld.so.conf.d/rigup.conf', "sh", "{path}"), ("ldconfig",),
        ), undo=(("rm", "-f", "/etc/ld.so.conf.d/rigup.conf"), ("ldconfig",)),
    ),
    "link-library": Kind(
        _("link {path} to {target}"), ("path", "target"), root=True, commands=(("ln", "-s", "{target}", "{path}"), ("ldconfig",)),
        undo=(("rm", "-f", "{path}"), ("ldconfig",)),
    ),
    "set-aside": Kind(
        _("set {path} aside, so that the system's own is used"), ("path",), tag="caution",
        commands=(("sh", "-c", 'for one in "$1"*; do mv "$one" "$one.aside"; done', "sh", "{path}"),),
        undo=(("sh", "-c", 'for one in "$1"*.aside; do mv "$one" "${one%.aside}"; done', "sh", "{path}"),),
    ),
    "install-rocm": Kind(
        _("install ROCm {version} ({usecase})"), ("version", "usecase"), root=True, network=True, tag="caution",
        commands=(("amdgpu-install", "-y", "--usecase={usecase}", "--no-dkms"),), undo=(("amdgpu-uninstall",),),
    ),
    "install-in-two-steps": Kind(
        _("install torch from its own index first, and the rest from PyPI after it"), ("index",), network=True, tag="caution",
        commands=(
            ("python", "-m", "pip", "install", "torch", "torchvision", "torchaudio", "--index-url", "{index}"),
            ("python", "-m", "pip", "install", "-r", "requirements.txt"),
        ), undo_because=_("remove what was installed"),
    ),
}  # fmt: skip
