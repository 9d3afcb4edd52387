"""Steps where containers are described and started: manifests, compose files, engines, images; and WSL around them."""

from rigup.language import N_
from rigup.steps.step import Kind
from rigup.steps.surroundings import ENGINE_FILES

_ = N_  # what it marks is translated when a step is made

# Which group owns the nodes only the machine knows; who would become root by it is not added.
_JOIN_OWNERS = (
    'group=$(stat -c %G "$1") || exit 1; [ "$group" != root ] || exit 1; '
    'user=$SUDO_USER; [ "$user" ] || user=$(id -un); usermod -aG "$group" "$user"'
)
_PURGE = 'dpkg -l | awk \'$1 == "ii" { print $2 }\' | cut -d: -f1 | grep -xP "$1" | xargs -r apt-get purge -y'
_WHEELS_ASIDE = (
    'lib=$(python -c \'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0] + "/lib")\') || exit 1; '
    'for one in "$lib/$1"*; do mv "$one" "$one.aside" || exit 1; done'
)
_WHEELS_AGAIN = (
    'lib=$(python -c \'import importlib.util as u; print(u.find_spec("torch").submodule_search_locations[0] + "/lib")\') || exit 1; '
    'for one in "$lib/$1"*.aside; do mv "$one" "${one%.aside}" || exit 1; done'
)


KINDS: dict[str, Kind] = {
    "pod-setting": Kind(_("write into the manifest of the pod: {lines}; then create it anew"), ("lines",), "by-hand", undo=()),
    "compose-setting": Kind(
        _("write into the service of the compose file: {lines}; then run docker compose up -d"), ("lines",), "host-of-container", undo=()
    ),
    "renew-compose": Kind(
        _(
            "leave the file as it is, but for its line `version:`, and start it with the plugin of today: docker compose up -d, with a blank in place of the dash (the package docker-compose-plugin of Docker's own repository, docker-compose-v2 of Ubuntu's)"
        ),
        ("wish",),
        "host-of-container",
        undo=(),
    ),
    "devcontainer-setting": Kind(
        _("write into devcontainer.json: {lines}; then rebuild the container (Dev Containers: Rebuild Container)"),
        ("lines",),
        "host-of-container",
        undo=(),
    ),
    "image-line": Kind(
        _("a container keeps nothing that is installed in it: build its image anew with the line RUN {line}, and start that one"),
        ("line",),
        "host-of-container",
        network=True,
        undo=(),
    ),
    "guest-setting": Kind(_("give the container on its host: {lines}; then start it again"), ("lines",), "host-of-container", undo=()),
    "driver-in-container": Kind(
        _("install in the container the driver in the version of the host, without its kernel module (--no-kernel-module)"),
        (),
        root=True,
        network=True,
        tag="caution",
        undo_because=_("it is removed with the package manager"),
    ),
    "host-driver-in-container": Kind(
        _(
            "put the libraries of the driver {version}, which the host runs, into the container in place of the others: take packages of another release off in it, get NVIDIA's installer of that version, and run it there without the kernel module"
        ),
        ("version",),
        root=True,
        network=True,
        tag="caution",
        commands=(("sh", "NVIDIA-Linux-x86_64-{version}.run", "--no-kernel-module"),),
        undo=(("nvidia-uninstall",),),
    ),
    "image-without-driver": Kind(
        _("build the image without packages of the driver: the engine brings in the libraries of the host"),
        (),
        "host-of-container",
        network=True,
        undo=(),
    ),
    "image-of-the-machine": Kind(
        _("use an image, or a tag, that was made for the architecture of the machine (uname -m tells it)"),
        (),
        "host-of-container",
        network=True,
        undo=(),
    ),
    "use-cgroupfs": Kind(
        _('write "exec-opts": ["native.cgroupdriver=cgroupfs"] into /etc/docker/daemon.json, and restart Docker: its containers stop'),
        (),
        "host-of-container",
        root=True,
        tag="caution",
        undo=(),
    ),
    "find-group-number": Kind(
        _("look up the number of the group that owns {node} on the host"),
        ("node",),
        "host-of-container",
        commands=(("stat", "-c", "%g", "{node}"),),
        undo=(),
    ),
    "join-nodes-group": Kind(
        _("add your account to the group that owns {path}"),
        ("path",),
        "kernel",
        root=True,
        commands=(("sh", "-c", _JOIN_OWNERS, "sh", "{path}"),),
        undo_because=_("an account is taken out of a group with gpasswd -d"),
    ),
    "use-docker-on-jetson": Kind(
        _("run it with Docker and NVIDIA's runtime (docker run --runtime=nvidia), which brings in the libraries of the module"),
        (),
        "host-of-container",
        undo=(),
    ),
    "remove-engine-snap": Kind(
        _("remove the snap of Docker, and with it its images and containers"),
        (),
        "host-of-container",
        root=True,
        tag="destructive",
        commands=(("snap", "remove", "docker"),),
        undo_because=_("its images and containers are not kept"),
    ),
    "use-wsl-engine": Kind(
        _("let Docker Desktop use WSL 2 (Settings, General), and give Windows a current driver for the card"),
        (),
        "windows-host",
        network=True,
        restart=True,
        undo=(),
    ),
    "set-up-nodes": Kind(
        _("install the NVIDIA Container Toolkit, make it known to {engine}, and restart that"),
        ("engine",),
        "every-gpu-node",
        root=True,
        network=True,
        tag="caution",
        commands=(
            ("@container-toolkit",),
            ("nvidia-ctk", "runtime", "configure", "--runtime={engine}", "--set-as-default"),
            ("systemctl", "restart", "{engine}"),
        ),
        undo=(("@remove", "nvidia-container-toolkit"),),
        writes=ENGINE_FILES,
    ),
    "set-up-k3s-nodes": Kind(  # it finds the runtime by itself when it starts, as a server and as an agent
        _("install the NVIDIA Container Toolkit, make it known to {engine}, and restart that"),
        ("engine",),
        "every-gpu-node",
        root=True,
        network=True,
        tag="caution",
        commands=(("@container-toolkit",), ("systemctl", "restart", "{engine}*")),
        undo=(("@remove", "nvidia-container-toolkit"),),
    ),
    "give-plugin-runtime": Kind(
        _("let the pods of the device plugin be started with NVIDIA's runtime (by the name that its DaemonSet has in your cluster)"),
        ("namespace", "daemonset", "patch"),
        "by-hand",
        tag="caution",
        commands=(("kubectl", "-n", "{namespace}", "patch", "daemonset", "{daemonset}", "--type", "merge", "-p", "{patch}"),),
        undo=(("kubectl", "-n", "{namespace}", "rollout", "undo", "daemonset", "{daemonset}"),),
    ),
    "default-runtime-of-k3s": Kind(
        _("start all pods of the node with it: default-runtime: nvidia in /etc/rancher/k3s/config.yaml, and restart k3s"),
        ("wish",),
        "every-gpu-node",
        root=True,
        tag="caution",
        commands=(("systemctl", "restart", "k3s*"),),
        undo_because=_("take the line out again, and restart k3s"),
    ),
    "default-runtime-of-nodes": Kind(
        _("make NVIDIA's runtime the one that {engine} starts all pods of the node with, and restart that"),
        ("engine",),
        "every-gpu-node",
        root=True,
        tag="caution",
        commands=(("nvidia-ctk", "runtime", "configure", "--runtime={engine}", "--set-as-default"), ("systemctl", "restart", "{engine}")),
        undo_because=_("the engine's former default stands in the copy of its file, or is runc"),
        writes=ENGINE_FILES,
    ),
    "run-device-plugin": Kind(
        _("let NVIDIA's device plugin run in the cluster, or the GPU Operator, which brings it and the toolkit"),
        (),
        "by-hand",
        network=True,
        undo_because=_("it is removed in the way it came"),
    ),
    "restart-device-plugin": Kind(
        _("start the device plugin anew, which looks for cards only when it starts (by the name that its DaemonSet has in your cluster)"),
        (),
        "by-hand",
        commands=(("kubectl", "-n", "kube-system", "rollout", "restart", "daemonset", "nvidia-device-plugin-daemonset"),),
        undo=(),
    ),
    "renew-container-tools": Kind(
        _(
            "if nvidia-smi answers in WSL itself: update what starts the container, Docker Desktop on Windows or nvidia-container-toolkit in WSL; older ones do not bring all libraries of Windows' driver inside"
        ),
        (),
        "by-hand",
        network=True,
        undo=(),
    ),
    "toolkit-for-wsl": Kind(
        _(
            "this takes nvidia-cuda-toolkit along, which needs libnvidia-compute: do not install it again from the distribution, it would bring the driver back; where nvcc is wanted, take cuda-toolkit from NVIDIA's repository for WSL-Ubuntu, which has no driver"
        ),
        ("part",),
        "by-hand",
        undo=(),
    ),
    "end-wsl": Kind(
        _("end WSL, which starts anew with the libraries of Windows"),
        (),
        "windows-host",
        tag="caution",
        commands=(("wsl", "--shutdown"),),
        undo=(),
    ),
    "update-windows": Kind(
        _("update Windows to build {build} or newer"),
        ("build",),
        "windows-host",
        root=True,
        network=True,
        restart=True,
        tag="caution",
        undo_because=_("Windows takes an update back in its settings, for some days"),
    ),
    "update-wsl-kernel": Kind(
        _("update WSL with its kernel, and start it again"),
        (),
        "windows-host",
        network=True,
        tag="caution",
        commands=(("wsl", "--update"), ("wsl", "--shutdown")),
        undo_because=_("Windows keeps no older kernel of WSL"),
    ),
    "install-wsl-distribution": Kind(
        _("install {distribution} in WSL, and work there"),
        ("distribution",),
        "windows-host",
        network=True,
        commands=(("wsl", "--install", "-d", "{distribution}"),),
        undo=(("wsl", "--unregister", "{distribution}"),),
    ),
    "purge-linux-driver": Kind(
        _("remove the packages of the Linux driver, and leave the CUDA toolkit"),
        (),
        root=True,
        tag="destructive",
        commands=(("sh", "-c", _PURGE, "sh", "{pattern}"),),
        undo_because=_("install them again from the distribution"),
    ),
    "set-aside-in-torch": Kind(
        _("set {path} aside, so that the system's own is used"),
        ("path",),
        tag="caution",
        commands=(("sh", "-c", _WHEELS_ASIDE, "sh", "{file}"),),
        undo=(("sh", "-c", _WHEELS_AGAIN, "sh", "{file}"),),
    ),
    "install-shared-ffmpeg": Kind(
        _("install FFmpeg {version} with its shared libraries"),
        ("version",),
        network=True,
        commands=(("winget", "install", "-e", "--id", "Gyan.FFmpeg.Shared", "--version", "{version}"),),
        undo=(("winget", "uninstall", "-e", "--id", "Gyan.FFmpeg.Shared"),),
    ),
    "add-dll-folder": Kind(
        _(
            'in the program, before torchaudio or torchcodec is imported: import os; os.add_dll_directory(os.path.expandvars(r"%LOCALAPPDATA%\\Microsoft\\WinGet\\Packages\\Gyan.FFmpeg.Shared_Microsoft.Winget.Source_8wekyb3d8bbwe\\ffmpeg-{version}-full_build-shared\\bin"))'
        ),
        ("version",),
        "by-hand",
        undo=(),
    ),
    "install-ffmpeg-of-homebrew": Kind(
        _("install {formula} with Homebrew"),
        ("formula",),
        network=True,
        commands=(("brew", "install", "{formula}"),),
        undo=(("brew", "uninstall", "{formula}"),),
    ),
}
