"""Steps at accounts, variables and the settings of services."""

from rigup.language import N_
from rigup.steps.step import Kind

_ = N_  # what it marks is translated when a step is made


_RELOAD = (("systemctl", "daemon-reload"), ("systemctl", "restart", "{service}"))
_WRITE_DROP_IN = 'printf "[Service]\\nEnvironment=\\"%s=%s\\"\\n" "$2" "$3" > "/etc/systemd/system/$1.service.d/rigup-$2.conf"'
_WRITE_DROP_INS = (
    'file="/etc/systemd/system/$1.service.d/rigup.conf"; shift; '
    '{ printf "[Service]\\n"; for one in "$@"; do printf "Environment=\\"%s\\"\\n" "$one"; done; } > "$file"'
)
# A line is not deleted but made a comment, so that a person sees what was there. Words come as arguments, awk's
# own names among them, so that nothing of them is read as a program.
_OUT = (
    'new=$(mktemp) || exit 1; awk \'BEGIN { name = ARGV[1]; ARGV[1] = "" } '
    '{ line = $0; sub(/^[ \\t]+/, "", line); sub(/^(export|declare -x|typeset -x)[ \\t]+/, "", line); '
    'fish = sub(/^set[ \\t]+(-[-A-Za-z]+[ \\t]+)+/, "", line) ? " " : "="; '
    'if (index(line, name fish) == 1) print "# taken out by rigup: " $0; else print }\' "$1" "$2" > "$new" && '
    'cat "$new" > "$2"; done=$?; rm -f "$new"; exit $done'
)
_PATH_OUT = (
    'new=$(mktemp) || exit 1; awk \'BEGIN { path = ARGV[1]; ARGV[1] = "" } '
    '{ line = $0; gsub(/^[ \\t]+|[ \\t\\/]+$/, "", line); if (line == path) print "# taken out by rigup: " $0; else print }\' '
    '"${1%/}" "$2" > "$new" && cat "$new" > "$2"; done=$?; rm -f "$new"; exit $done'
)
_IN_AGAIN = (
    'new=$(mktemp) || exit 1; sed "s/^# taken out by rigup: //" "$1" > "$new" && cat "$new" > "$1"; done=$?; rm -f "$new"; exit $done'
)

KINDS: dict[str, Kind] = {
    "take-off-loader-path": Kind(
        _("take {path} off LD_LIBRARY_PATH and /etc/ld.so.conf.d, for programs and services"), ("path",), "by-hand", undo=()
    ),
    "take-out-loader-path": Kind(
        _("take {path} out of {file}, so that the loader looks there no more"),
        ("path", "file"),
        root=True,
        commands=(("sh", "-c", _PATH_OUT, "sh", "{path}", "{file}"), ("ldconfig",)),
        undo=(("sh", "-c", _IN_AGAIN, "sh", "{file}"), ("ldconfig",)),
        writes=("{file}",),
    ),
    "enable-service": Kind(
        _("start the service {service}, now and with the machine"),
        ("service",),
        "kernel",
        root=True,
        commands=(("systemctl", "enable", "--now", "{service}"),),
        undo=(("systemctl", "disable", "--now", "{service}"),),
    ),
    "enable-hook": Kind(  # of the moments of sleep and waking: started by hand it would put the card to sleep
        _("enable {service}, which runs when the machine goes to sleep or wakes up"),
        ("service",),
        "kernel",
        root=True,
        commands=(("systemctl", "enable", "{service}"),),
        undo=(("systemctl", "disable", "{service}"),),
    ),
    "join-group-yourself": Kind(
        _("add your account to the group {group}"),
        ("group",),
        "kernel",
        root=True,
        commands=(("sh", "-c", 'user=$SUDO_USER; [ "$user" ] || user=$(id -un); usermod -aG "$1" "$user"', "sh", "{group}"),),
        undo=(("sh", "-c", 'user=$SUDO_USER; [ "$user" ] || user=$(id -un); gpasswd -d "$user" "$1"', "sh", "{group}"),),
    ),
    "join-group": Kind(
        _("add {user} to the group {group}"),
        ("user", "group"),
        "kernel",
        root=True,
        commands=(("usermod", "-aG", "{group}", "{user}"),),
        undo=(("gpasswd", "-d", "{user}", "{group}"),),
    ),
    "take-out-variable-as-root": Kind(
        _("take {name} out of {file}"),
        ("name", "file"),
        root=True,
        commands=(("sh", "-c", _OUT, "sh", "{name}", "{file}"),),
        undo=(("sh", "-c", _IN_AGAIN, "sh", "{file}"),),
        writes=("{file}",),
    ),
    "log-in-again": Kind(_("log out and in again (or restart the service): groups count from the next login on"), (), "by-hand", undo=()),
    "service-variable": Kind(
        _("give the service {service} the variable {name}={value}, and restart it"),
        ("service", "name", "value"),
        root=True,
        commands=(
            ("mkdir", "-p", "/etc/systemd/system/{service}.service.d"),
            ("sh", "-c", _WRITE_DROP_IN, "sh", "{service}", "{name}", "{value}"),
            *_RELOAD,
        ),
        undo=(("rm", "-f", "/etc/systemd/system/{service}.service.d/rigup-{name}.conf"), *_RELOAD),
        writes=("/etc/systemd/system/{service}.service.d/rigup-{name}.conf",),
    ),
    "service-variables": Kind(
        _("give the service {service} the variables {assignments}, and restart it"),
        ("service", "assignments"),
        root=True,
        commands=(
            ("mkdir", "-p", "/etc/systemd/system/{service}.service.d"),
            ("sh", "-c", _WRITE_DROP_INS, "sh", "{service}", "{assignments|}"),
            *_RELOAD,
        ),
        undo=(("rm", "-f", "/etc/systemd/system/{service}.service.d/rigup.conf"), *_RELOAD),
        writes=("/etc/systemd/system/{service}.service.d/rigup.conf",),
    ),
    "drop-service-variables": Kind(
        _("take back all variables that rigup gives the service {service}, and restart it"),
        ("service",),
        root=True,
        commands=(("rm", "-f", "/etc/systemd/system/{service}.service.d/rigup.conf"), *_RELOAD),
        undo=_RELOAD,
        writes=("/etc/systemd/system/{service}.service.d/rigup.conf",),
    ),
    "restart-service": Kind(_("restart the service {service}"), ("service",), root=True, commands=_RELOAD, undo=()),
    "set-variable": Kind(_("set {name}={value} for the program"), ("name", "value"), "by-hand", undo=()),
    "set-variable-on-nodes": Kind(
        _("set {name}={value} for the program on every node, to the name that this interface has there"),
        ("name", "value"),
        "by-hand",
        commands=(("export", "{name}={value}"),),
        undo=(),
    ),
    "set-variable-of-windows": Kind(
        _("set {name}={value} among the environment variables of Windows, and open a new console"),
        ("name", "value"),
        "by-hand",
        commands=(("setx", "{name}", "{value}"),),
        undo=(("reg", "delete", "HKCU\\Environment", "/v", "{name}", "/f"),),
    ),
    "unset-variable-of-windows": Kind(
        _("take {name} out of the environment variables of Windows (the user's and the system's), and open a new console"),
        ("name",),
        "by-hand",
        undo=(),
    ),
    "use-listed-devices": Kind(
        _("tell the program only numbers of devices that the command lists; what a mask leaves is counted from 0 again"),
        ("part",),
        commands=(("nvidia-smi", "-L"),),
        undo=(),
    ),
    "unset-variable": Kind(
        _("unset {name} wherever it is set (the program itself, shell files, /etc/environment, units)"), ("name",), "by-hand", undo=()
    ),
    "unset-after-module": Kind(
        _(
            "where the rest of the module is needed (nvcc, a compiler): unset {name} after module load and before the program, in the job script too; torch brings its own CUDA libraries"
        ),
        ("name",),
        "by-hand",
        commands=(("unset", "{name}"),),
        undo=(),
    ),
    "take-out-variable": Kind(
        _("take {name} out of {file}"),
        ("name", "file"),
        commands=(("sh", "-c", _OUT, "sh", "{name}", "{file}"),),
        undo=(("sh", "-c", _IN_AGAIN, "sh", "{file}"),),
        writes=("{file}",),
    ),
}
