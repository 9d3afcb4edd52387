"""The kinds of steps. Families stand together; a new kind is one row here."""

from rigup.steps.step import Kind

_ = str  # marks a text for the catalogues; it is translated when a step is made

_RELOAD = (("systemctl", "daemon-reload"), ("systemctl", "restart", "{service}"))
_INITRAMFS = ("update-initramfs", "-u", "-k", "all")

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
    # -- people and services
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
        _("install {packages} from {index}"), ("packages", "index"), network=True, tag="caution",
        commands=(("python", "-m", "pip", "install", "{packages}", "--index-url", "{index}"),),
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
        commands=(("python", "-m", "pip", "uninstall", "-y", "{packages}"),),
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
        commands=(("apt-get", "purge", "{packages}"),), undo_because=_("install them again from the distribution"),
    ),
    "batch-option": Kind(_("ask the scheduler with {option}"), ("option",), undo=()),
    "attach-gpu": Kind(
        _("use a machine with a supported GPU, or a build for the CPU: {command}"), ("command",), "by-hand", undo=(),
    ),
    "use-other-backend": Kind(
        _("use another backend with this card: {backend}"), ("backend",), "by-hand", undo=(),
    ),
}  # fmt: skip
