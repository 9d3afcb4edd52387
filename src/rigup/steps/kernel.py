"""Steps at the kernel: drivers, modules, cards and their memory."""

from rigup.language import N_
from rigup.steps.step import Kind

_ = N_  # what it marks is translated when a step is made


_INITRAMFS = ("@initramfs",)

# ldconfig makes a library's link again, also from a file of another name, if that only begins with "lib".
_ASIDE = (
    'real=$(readlink -f -- "$1") || exit 1; for one in "$1" "$real"; do '
    '[ ! -L "$one" ] && [ ! -e "$one" ] || mv -T -- "$one" "${one%/*}/.rigup-aside-${one##*/}" || exit 1; done'
)
_FROM_ASIDE = (
    'for one in "${1%/*}"/.rigup-aside-*; do [ ! -L "$one" ] && [ ! -e "$one" ] || '
    'mv -T -- "$one" "${one%/*}/${one##*/.rigup-aside-}" || exit 1; done'
)

_NEWEST_KEY = 'mokutil --import "$(ls -t $1 2>/dev/null | head -n 1)"'  # of patterns, by the files' times
_BOOTS = "findmnt /boot; findmnt /efi; findmnt /boot/efi; ls -l /boot; grep -s ^GRUB_DEFAULT /etc/default/grub; bootctl list --no-pager"

KINDS: dict[str, Kind] = {
    "install-driver": Kind(
        _("install the {vendor} driver {branch} or newer"),
        ("vendor", "branch"),
        "kernel",
        root=True,
        network=True,
        restart=True,
        tag="caution",
        undo_because=_("the driver that was there before is not kept"),
    ),
    "reload-driver": Kind(
        _(
            "once no work runs on the GPU any more: stop what still holds it (nvidia-persistenced, the desktop), then unload NVIDIA's modules and load them anew"
        ),
        (),
        "kernel",
        root=True,
        tag="caution",
        commands=(("modprobe", "-r", "nvidia_uvm", "nvidia_drm", "nvidia_modeset", "nvidia"), ("modprobe", "nvidia")),
        undo=(),
    ),
    "reload-module": Kind(
        _("load the kernel module {module} anew"),
        ("module",),
        "kernel",
        root=True,
        tag="caution",
        commands=(("modprobe", "-r", "{module}"), ("modprobe", "{module}")),
        undo=(),
    ),
    "reload-module-under-service": Kind(
        _("load the kernel module {module} anew while {service} is stopped: it looks for cards only when it starts"),
        ("module", "service"),
        "kernel",
        root=True,
        tag="caution",
        commands=(
            ("systemctl", "stop", "{service}"),
            ("modprobe", "-r", "{module}"),
            ("modprobe", "{module}"),
            ("systemctl", "start", "{service}"),
        ),
        undo=(),
    ),
    "load-module": Kind(
        _("load the kernel module {module}"),
        ("module",),
        "kernel",
        root=True,
        commands=(("modprobe", "{module}"),),
        undo=(("modprobe", "-r", "{module}"),),
    ),
    "blacklist-module": Kind(
        _("keep the kernel module {module} from loading, and rebuild the initramfs"),
        ("module",),
        "kernel",
        root=True,
        restart=True,
        tag="caution",
        commands=(
            (
                "sh",
                "-c",
                'printf "blacklist %s\\noptions %s modeset=0\\n" "$1" "$1" > "/etc/modprobe.d/rigup-blacklist-$1.conf"',
                "sh",
                "{module}",
            ),
            _INITRAMFS,
        ),
        undo=(("rm", "-f", "/etc/modprobe.d/rigup-blacklist-{module}.conf"), _INITRAMFS),
        writes=("/etc/modprobe.d/rigup-blacklist-{module}.conf",),
    ),
    "rebuild-initramfs-without": Kind(
        _("rebuild the initramfs, which still loads {module} although files keep it out"),
        ("module",),
        "kernel",
        root=True,
        restart=True,
        tag="caution",
        commands=(_INITRAMFS,),
        undo=(),
    ),
    "run-driver-installer": Kind(
        _("run the installer {installer} again, with --dkms so that new kernels get the module too"),
        ("installer",),
        "kernel",
        root=True,
        tag="caution",
        commands=(("sh", "{installer}", "--dkms"),),
        undo=(("nvidia-uninstall",),),
    ),
    "set-module-option": Kind(
        _("set {module}.{name} to {value} for the next start"),
        ("module", "name", "value"),
        "kernel",
        root=True,
        restart=True,
        tag="caution",
        commands=(
            (
                "sh",
                "-c",
                'printf "options %s %s=%s\\n" "$1" "$2" "$3" > "/etc/modprobe.d/rigup-$1-$2.conf"',
                "sh",
                "{module}",
                "{name}",
                "{value}",
            ),
            _INITRAMFS,
        ),
        undo=(("rm", "-f", "/etc/modprobe.d/rigup-{module}-{name}.conf"), _INITRAMFS),
        writes=("/etc/modprobe.d/rigup-{module}-{name}.conf",),
    ),
    "enrol-module-key": Kind(
        _(
            "enrol the key that signs the module; at the next start choose Enroll MOK on the blue screen, and type the password that you chose for it"
        ),
        (),
        "kernel",
        root=True,
        restart=True,
        tag="caution",
        commands=(("mokutil", "--import", "{key}"),),
        undo_because=_("a key is taken back with mokutil --delete and another restart"),
    ),
    "enrol-newest-module-key": Kind(
        _(
            "enrol the key that signs the module; at the next start choose Enroll MOK on the blue screen, and type the password that you chose for it"
        ),
        ("keys",),
        "kernel",
        root=True,
        restart=True,
        tag="caution",
        commands=(("sh", "-c", _NEWEST_KEY, "sh", "{keys}"),),
        undo_because=_("a key is taken back with mokutil --delete and another restart"),
    ),
    "restart-machine": Kind(
        _("restart the machine"), (), "kernel", root=True, restart=True, tag="caution", commands=(("systemctl", "reboot"),), undo=()
    ),
    "power-cycle": Kind(
        _("switch the machine off, wait a minute, and start it again; then check power, slot and temperature"),
        (),
        "by-hand",
        restart=True,
        undo_because=_("nothing is changed"),
    ),
    "find-out": Kind(
        _("find out why the kernel module {module} does not load"),
        ("module",),
        "kernel",
        root=True,
        commands=(("dkms", "status"), ("mokutil", "--sb-state"), ("modprobe", "-v", "{module}"), ("dmesg",)),
        undo=(),
    ),
    "rebuild-modules": Kind(
        _("install the headers of the kernel {kernel}, and build the driver's module for it"),
        ("kernel",),
        "kernel",
        root=True,
        network=True,
        tag="caution",
        commands=(("@install", "@headers"), ("dkms", "autoinstall", "-k", "{kernel}")),
        undo_because=_("`rigup undo` takes the headers and the module that it built away again"),
    ),
    "choose-compiler": Kind(
        _("make gcc-{version} the compiler that modules are built with"),
        ("version",),
        "kernel",
        root=True,
        tag="caution",
        commands=(("update-alternatives", "--install", "/usr/bin/gcc", "gcc", "/usr/bin/gcc-{version}", "{version}"),),
        undo=(("update-alternatives", "--remove", "gcc", "/usr/bin/gcc-{version}"),),
    ),
    "run-installer-again": Kind(
        _("run NVIDIA's installer of {version} again: it puts its libraries back where those of the packages were"),
        ("version",),
        "kernel",
        root=True,
        tag="caution",
        undo=(),
    ),
    "build-modules": Kind(
        _("install the headers of the kernel that runs, and build the driver's module for it"),
        ("builder",),
        "kernel",
        root=True,
        network=True,
        tag="caution",
        commands=(("{builder|}",),),
        undo_because=_("the headers are removed with the package manager, and the module with them"),
    ),
    "install-headers": Kind(
        _("install the headers of the kernel that runs"),
        (),
        "kernel",
        root=True,
        network=True,
        undo_because=_("the headers are removed with the package manager, and the module with them"),
    ),
    "repeat-installer": Kind(
        _("run NVIDIA's installer again (the same file), with --dkms so that new kernels get the module too"),
        ("what",),
        "kernel",
        root=True,
        tag="caution",
        undo=(("nvidia-uninstall",),),
    ),
    "start-new-kernel": Kind(
        _(
            "where the system was updated since the last start, the modules of the running kernel {kernel} are gone: the restart takes the new kernel with its own"
        ),
        ("kernel",),
        "by-hand",
        undo=(),
    ),
    "mount-boot": Kind(
        _(
            "mount the boot partition /dev/{partition} at /boot, and put its line back into /etc/fstab, so that kernels are written where the machine starts them; where mount knows no vfat, the modules of the running kernel are gone: bring its package back from /var/cache/pacman/pkg first (pacman -U), or do it from the installation medium (arch-chroot)"
        ),
        ("partition",),
        "kernel",
        root=True,
        tag="caution",
        commands=(("mount", "/dev/{partition}", "/boot"),),
        undo=(("umount", "/boot"),),
    ),
    "write-kernel-again": Kind(
        _("install the package {package} once more: it writes the kernel onto the partition that is there now"),
        ("package",),
        "kernel",
        root=True,
        network=True,
        tag="caution",
        commands=(("pacman", "-S", "--noconfirm", "{package}"),),
        undo_because=_("the kernel is the one that the package manager lists already"),
    ),
    "choose-installed-kernel": Kind(
        _(
            "let the boot loader start {kernel}: see by the commands whether the partition that holds kernels is mounted, and whether an older entry is fixed in it (GRUB_DEFAULT, a saved entry, the default of systemd-boot); set the newest as the default, write the menu anew (update-grub, grub-mkconfig, bootctl)"
        ),
        ("kernel",),
        "kernel",
        root=True,
        tag="caution",
        commands=(("sh", "-c", _BOOTS),),
        undo_because=_("the default is set back in the same place"),
    ),
    "get-headers": Kind(
        _("install the headers of the kernel {kernel} with the package manager of the system"),
        ("kernel",),
        "kernel",
        root=True,
        network=True,
        undo_because=_("the headers are removed with the package manager, and the module with them"),
    ),
    "get-headers-of-running": Kind(
        _("install the headers of the kernel that runs (uname -r tells it) with the package manager of the system"),
        (),
        "kernel",
        root=True,
        network=True,
        undo_because=_("the headers are removed with the package manager, and the module with them"),
    ),
    "build-module": Kind(
        _("build the driver's module"), ("builder",), "kernel", root=True, tag="caution", commands=(("{builder|}",),), undo=()
    ),
    "drain-node": Kind(
        _(
            "on a node that runs the jobs of others: drain it first (scontrol, kubectl), and let them end; who is not its administrator asks them"
        ),
        (),
        "by-hand",
        undo=(),
    ),
    "ask-administrators": Kind(
        _("on a cluster's node this is for its administrators: who is none sends them what follows"), (), "by-hand", undo=()
    ),
    "leave-node-out": Kind(
        _("let the job run on another node meanwhile: --exclude={node} for sbatch or srun"), ("node",), "by-hand", undo=()
    ),
    "let-work-end": Kind(
        _("programs still compute on the GPU, and this would end them: wait until they are through, or ask whose they are"),
        (),
        "by-hand",
        undo=(),
    ),
    "new-session": Kind(
        _(
            "driver, kernel and card are its service's, and nothing that is run in the notebook changes them: end the session so that the machine is given back, start a new one, and install none of the driver's packages in it"
        ),
        (),
        "by-hand",
        undo=(),
    ),
    "choose-accelerator": Kind(
        _(
            "choose a machine with a GPU for the notebook (Colab: Runtime, Change runtime type; Kaggle: Settings, Accelerator; SageMaker: an instance with a GPU, as ml.g4dn.xlarge), and run its cells anew"
        ),
        ("part",),
        "by-hand",
        undo=(),
    ),
    "rent-another-machine": Kind(
        _(
            "driver, kernel and card are in the hands of who rents this machine out: save what is needed, end this instance, rent another one, and show the provider what is shown here"
        ),
        (),
        "by-hand",
        undo=(),
    ),
    "ask-for-option-when-renting": Kind(
        _(
            "the container is started by who rents the machine out: look for {option} among the options of its template, else rent one that gives more"
        ),
        ("option",),
        "by-hand",
        undo=(),
    ),
    "rent-machine-with-driver": Kind(
        _(
            "the driver is in the hands of who rents this machine out: rent one whose {vendor} driver is {branch} or newer; offers tell the driver, or the CUDA that it carries, and can be filtered by it"
        ),
        ("vendor", "branch"),
        "by-hand",
        undo=(),
    ),
    "move-cloud-machine": Kind(
        _(
            "the card is in the provider's hands: stop the machine and start it again, which mostly brings it up on another host, as a mere restart does not; what lies on disks of the host itself is lost by that, so save it first; where it comes again, report it to the provider"
        ),
        (),
        "by-hand",
        undo=(),
    ),
    "newer-driver": Kind(
        _("install a newer release of the {vendor} driver: its sources know this kernel"),
        ("vendor",),
        "kernel",
        root=True,
        network=True,
        restart=True,
        tag="caution",
        undo_because=_("the driver that was there before is not kept"),
    ),
    "boot-older-kernel": Kind(
        _("start an older kernel of the distribution, for which the module builds"), (), "by-hand", restart=True, undo=()
    ),
    "boot-kernel": Kind(_("start the kernel {kernel}, for which there is a module"), ("kernel",), "by-hand", restart=True, undo=()),
    "install-driver-branch": Kind(
        _("install the {vendor} driver of the branch {branch}, and none newer"),
        ("vendor", "branch"),
        "kernel",
        root=True,
        network=True,
        restart=True,
        tag="caution",
        undo_because=_("the driver that was there before is not kept"),
    ),
    "take-driver-packages-off": Kind(
        _("take the packages of the driver that is there off, and leave what depends on them: {packages}"),
        ("packages",),
        "kernel",
        root=True,
        tag="destructive",
        commands=(("pacman", "-Rdd", "--noconfirm", "{packages*}"),),
        undo_because=_("install them again by pacman"),
    ),
    "build-driver-packages": Kind(
        _(
            "build the NVIDIA driver of the branch {branch} from the AUR as yourself, and install it; the headers of each kernel have to be there"
        ),
        ("branch",),
        "by-hand",
        network=True,
        restart=True,
        tag="caution",
        undo_because=_("the driver that was there before is not kept"),
    ),
    "install-module-flavour": Kind(
        _("install the {flavour} flavour of the NVIDIA kernel module, of the branch that is there"),
        ("flavour",),
        "kernel",
        root=True,
        network=True,
        restart=True,
        tag="caution",
        undo_because=_("the flavour that was there before is installed in the same way"),
    ),
    "leave-kernel-module": Kind(
        _("remove {package}: ROCm works on the amdgpu of the kernel itself (amdgpu-install --no-dkms leaves it out from the start)"),
        ("package",),
        "kernel",
        root=True,
        tag="destructive",
        commands=(("@remove", "{package}"),),
        undo_because=_("install amdgpu-dkms again once it supports the kernel"),
    ),
    "delete-stale-dkms": Kind(
        _("set aside what DKMS still keeps of {module} {version}, whose sources are gone"),
        ("module", "version"),
        "kernel",
        root=True,
        tag="caution",
        commands=(
            ("mkdir", "-p", "/var/lib/rigup/dkms/{module}"),
            ("mv", "-T", "/var/lib/dkms/{module}/{version}", "/var/lib/rigup/dkms/{module}/{version}"),
        ),
        undo=(
            ("mv", "-T", "/var/lib/rigup/dkms/{module}/{version}", "/var/lib/dkms/{module}/{version}"),
            ("rmdir", "-p", "--ignore-fail-on-non-empty", "/var/lib/rigup/dkms/{module}"),
        ),
    ),
    "find-foreign-libcuda": Kind(
        _(
            "find which {lib} programs get: LD_LIBRARY_PATH goes before what the loader lists; take the folder off the path that is not the driver's, or remove the package that brought it"
        ),
        ("lib",),
        commands=(("printenv", "LD_LIBRARY_PATH"), ("ldconfig", "-p")),
        undo=(),
    ),
    "remove-foreign-library": Kind(
        _("remove the driver library that does not belong to the loaded module ({path})"),
        ("path",),
        root=True,
        tag="caution",
        commands=(("sh", "-c", _ASIDE, "sh", "{path}"), ("ldconfig",)),
        undo=(("sh", "-c", _FROM_ASIDE, "sh", "{path}"), ("ldconfig",)),
    ),
    "enlarge-bars": Kind(_("switch on Above 4G Decoding and Resizable BAR in the firmware set-up"), (), "by-hand", restart=True, undo=()),
    "switch-secure-boot-off": Kind(
        _(
            "switch Secure Boot off in the firmware set-up; where Windows encrypts a disk with BitLocker, have its recovery key at hand first: Windows asks for it then"
        ),
        (),
        "by-hand",
        restart=True,
        tag="caution",
        undo_because=_("Secure Boot is switched on again in the same place"),
    ),
    "graphics-mode": Kind(
        _("give the discrete GPU back with {tool}: choose hybrid (on-demand) or nvidia"),
        ("tool",),
        "by-hand",
        root=True,
        restart=True,
        commands=(("{switch|}",),),
        undo=(),
    ),
    "choose-graphics": Kind(
        _("choose hybrid (on-demand) or nvidia graphics where the GPU was switched off: a tool, a udev rule, or the firmware set-up"),
        (),
        "by-hand",
        restart=True,
        undo=(),
    ),
    "use-render-offload": Kind(
        _("start the program through the driver's own render offload instead of {tool}"), ("tool",), "by-hand", undo=()
    ),
    "find-stale-dkms": Kind(
        _("find the folder below /var/lib/dkms whose sources are gone, and set it aside"),
        (),
        "kernel",
        root=True,
        commands=(("dkms", "status"), ("find", "/var/lib/dkms", "-maxdepth", "3", "-name", "source", "-xtype", "l")),
        undo=(),
    ),
    "allow-module": Kind(
        _("take {argument} off the kernel's command line: it keeps the module from the card"),
        ("argument",),
        "by-hand",
        root=True,
        restart=True,
        undo=(),
    ),
    "repair-passthrough": Kind(
        _("at the host: pass all functions of the card, and give the guest UEFI firmware with a large MMIO window"),
        (),
        "by-hand",
        restart=True,
        undo=(),
    ),
    "cool-card": Kind(
        _("clean fans and heat sink, let air reach the card, and see by the command how hot it is against its limits"),
        ("part",),
        "by-hand",
        commands=(("nvidia-smi", "-q", "-d", "TEMPERATURE,POWER"),),
        undo=(),
    ),
    "cool-passive-card": Kind(
        _(
            "the card has no fan of its own: blow air through it, in a desktop by a shroud with a blower at its end, in a server by the chassis's fans; until then lower its power limit (nvidia-smi -pl)"
        ),
        ("part",),
        "by-hand",
        commands=(("nvidia-smi", "-q", "-d", "TEMPERATURE,POWER"),),
        undo=(),
    ),
    "plug-in-adapter": Kind(
        _(
            "plug in the laptop's own power adapter, straight into the laptop and not through a dock or a monitor: what a USB-C charger or a weaker one gives is too little for the card; and take the performance profile of its maker"
        ),
        ("part",),
        "by-hand",
        undo=(),
    ),
    "check-supply": Kind(
        _("check the power cables of the card, each to a socket of its own, and the supply: the board asks the card to slow down"),
        ("part",),
        "by-hand",
        restart=True,
        undo=(),
    ),
    "work-on-host": Kind(
        _("do the work on the host itself (on Windows also in WSL 2): {hypervisor} hands no GPU to its guests"),
        ("hypervisor",),
        "by-hand",
        undo=(),
    ),
    "pass-gpu-to-guest": Kind(_("at the host: pass a GPU to this guest"), (), "by-hand", restart=True, undo=()),
    "create-uvm-node": Kind(
        _("load nvidia_uvm and make its device node"), (), "kernel", root=True, commands=(("nvidia-modprobe", "-u", "-c=0"),), undo=()
    ),
    "restore-nvidia-nodes": Kind(
        _("let the driver's own tool make {node} and the other nodes again, with the modes that the module is set to"),
        ("node",),
        "kernel",
        root=True,
        commands=(("nvidia-modprobe", "-c=0", "-u"),),
        undo=(),
    ),
    "match-fabric-manager": Kind(
        _("install the fabric manager of exactly the driver's version ({version})"),
        ("version",),
        "kernel",
        root=True,
        network=True,
        tag="caution",
        undo_because=_("the version that was there before did not fit the driver"),
    ),
    "update-system-package": Kind(
        _("update the package {package}"),
        ("package",),
        "kernel",
        root=True,
        network=True,
        tag="caution",
        commands=(("@upgrade", "{package}"),),
        undo_because=_("the version that was there before is in the package manager's log"),
    ),
    "other-firmware": Kind(
        _("install another linux-firmware than {version}: a newer one, or the last good one, and rebuild the initramfs"),
        ("version",),
        "kernel",
        root=True,
        network=True,
        restart=True,
        tag="caution",
        undo_because=_("the version that was there before is installed in the same way"),
    ),
    "slot-of-processor": Kind(
        _("put the card into a slot that is wired to the processor, PCIe 3 or newer"), (), "by-hand", restart=True, undo=()
    ),
    "newer-board": Kind(
        _("use the card in a newer machine: PCIe atomics came with the processors of 2013 (Intel) and 2017 (AMD)"),
        (),
        "by-hand",
        restart=True,
        undo=(),
    ),
    "other-slot": Kind(_("put the card into another slot, without a riser, or into another machine"), (), "by-hand", restart=True, undo=()),
    "reset-gpu": Kind(
        _("take the work off the GPU {index}, and reset it"),
        ("index",),
        "kernel",
        root=True,
        tag="caution",
        commands=(("nvidia-smi", "--gpu-reset", "-i", "{index}"),),
        undo=(),
    ),
    "default-compute-mode": Kind(
        _("let several processes share the GPU {index}"),
        ("index",),
        "kernel",
        root=True,
        commands=(("nvidia-smi", "-i", "{index}", "-c", "0"),),
        undo=(("nvidia-smi", "-i", "{index}", "-c", "3"),),
    ),
    "find-holders": Kind(
        _("find who holds the GPU, from the host, and end it or take another GPU"),
        (),
        "kernel",
        root=True,
        commands=(("fuser", "-v", "{node}"),),
        undo=(),
    ),
    "look-at-process": Kind(
        _("see on the host whose the process {pid} is, and let it end, or end it if it is your own"),
        ("pid",),
        "kernel",
        commands=(("ps", "-o", "user,pid,etime,args", "-p", "{pid}"),),
        undo=(),
    ),
    "default-compute-mode-of-all": Kind(
        _("let several processes share every GPU of the machine"),
        ("part",),
        "kernel",
        root=True,
        commands=(("nvidia-smi", "-c", "0"),),
        undo_because=_("the modes that were set before are not kept"),
    ),
    "count-memory-errors": Kind(
        _("see which card counts the errors, and take the work off it"),
        ("part",),
        "kernel",
        commands=(("nvidia-smi", "-q", "-d", "ECC,ROW_REMAPPER,PAGE_RETIREMENT"),),
        undo=(),
    ),
    "replace-card": Kind(_("have the card exchanged: it has no spare memory left"), ("part",), "by-hand", undo=()),
    "replace-card-later": Kind(
        _("keep the card while remapping works; have it exchanged where a remapping fails, or where errors come again soon after that"),
        ("part",),
        "by-hand",
        undo=(),
    ),
    "fabric-manager-of-driver": Kind(
        _("install the fabric manager of exactly the driver's version, which the command tells"),
        ("part",),
        "kernel",
        root=True,
        network=True,
        tag="caution",
        commands=(("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),),
        undo_because=_("the version that was there before is installed in the same way"),
    ),
    "shrink-work": Kind(_("ask for less memory: {how}"), ("how",), "by-hand", undo=()),
    "need-less-memory": Kind(
        _("ask for less memory: a smaller batch, lower precision, offloading, or sharding over several GPUs"), (), "by-hand", undo=()
    ),
    "create-mig-instances": Kind(
        _("make GPU instances, each with a compute instance"),
        (),
        "kernel",
        root=True,
        tag="caution",
        commands=(("nvidia-smi", "mig", "-lgip"), ("nvidia-smi", "mig", "-cgi", "0", "-C")),
        undo=(("nvidia-smi", "mig", "-dci"), ("nvidia-smi", "mig", "-dgi")),
    ),
    "list-mig-profiles": Kind(
        _(
            "see which parts are made, and of which profiles this card has room for one more (Free/Total): the parts that are made take the card's slices; ask for one of these profiles by its number"
        ),
        (),
        "kernel",
        root=True,
        commands=(("nvidia-smi", "mig", "-lgi"), ("nvidia-smi", "mig", "-lgip")),
        undo=(),
    ),
    "free-card-for-mig": Kind(
        _(
            "let work on the card end, and stop what watches it (DCGM, exporters, nvidia-persistenced, a desktop): the command lists who holds it"
        ),
        (),
        "kernel",
        root=True,
        commands=(("fuser", "-v", "{node}"),),
        undo=(),
    ),
    "switch-mig-on": Kind(
        _("switch MIG mode on for GPU {index}"),
        ("index",),
        "kernel",
        root=True,
        tag="caution",
        commands=(("nvidia-smi", "-i", "{index}", "-mig", "1"),),
        undo=(("nvidia-smi", "-i", "{index}", "-mig", "0"),),
    ),
    "remove-mig-instances": Kind(
        _("destroy the compute instances of GPU {index} first, then its GPU instances"),
        ("index",),
        "kernel",
        root=True,
        tag="caution",
        commands=(("nvidia-smi", "mig", "-i", "{index}", "-dci"), ("nvidia-smi", "mig", "-i", "{index}", "-dgi")),
        undo_because=_("the parts are made again with nvidia-smi mig -cgi, with other UUIDs"),
    ),
    "do-without-mig": Kind(_("share the card without MIG, which it does not have: by CUDA's time slicing, or MPS"), (), "by-hand", undo=()),
    "use-mig-instances": Kind(
        _(
            "show each program one instance: CUDA_VISIBLE_DEVICES=MIG-… with the id that the command lists; after a restart of the machine the instances are made again"
        ),
        (),
        "by-hand",
        commands=(("nvidia-smi", "-L"),),
        undo=(),
    ),
    "lower-power-limit": Kind(
        _(
            "where it happens under load: lower the power limit of all cards (nvidia-smi -pl) below the one that the command shows, and see whether it comes again"
        ),
        (),
        "by-hand",
        commands=(("nvidia-smi", "-q", "-d", "POWER"),),
        undo_because=_("a restart brings the card's own limit back"),
    ),
    "switch-mig-off": Kind(
        _("switch MIG mode off"),
        (),
        "kernel",
        root=True,
        restart=True,
        tag="caution",
        commands=(("nvidia-smi", "-mig", "0"),),
        undo=(("nvidia-smi", "-mig", "1"),),
    ),
    "name-mig-device": Kind(_("name the MIG device by its UUID ({uuid})"), ("uuid",), commands=(("nvidia-smi", "-L"),), undo=()),
    "least-carve-out": Kind(_("set the graphics memory in the firmware set-up to its least value"), (), "by-hand", restart=True, undo=()),
    "larger-carve-out": Kind(_("set the graphics memory in the firmware set-up to a larger value"), (), "by-hand", restart=True, undo=()),
    "raise-shared-memory": Kind(
        _("set ttm.pages_limit to the GiB wished for times 262144"), (), "by-hand", root=True, restart=True, undo=()
    ),
    "plan-from-sysfs": Kind(_("hold the program to what mem_info_gtt_total and the free memory allow"), (), "by-hand", undo=()),
}
