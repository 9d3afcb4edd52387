"""Steps around the work: containers, WSL, access, programs, schedulers."""

from rigup.language import N_
from rigup.steps.step import Kind

_ = N_  # what it marks is translated when a step is made

# What `nvidia-ctk runtime configure` may change, each engine's own file.
ENGINE_FILES = (
    "/etc/docker/daemon.json",
    "/etc/containerd/config.toml",
    "/etc/containerd/conf.d/99-nvidia.toml",
    "/etc/crio/crio.conf.d/99-nvidia.toml",
    "/etc/nvidia-container-runtime/config.toml",
)

# A key stands in no argument: what runs is shown to every account of the machine, and kept in the journal.
_MAKE_KEY = (
    '[ -s "$1" ] || { umask 077 && mkdir -p "$(dirname "$1")" && rm -f "$1" && '
    'head -c 32 /dev/urandom | od -An -v -tx1 | tr -d " \\n" > "$1"; } && chmod 600 "$1"'
)
_OF_USER_SERVICE = ("{folder}/{service}.service", "{folder}/default.target.wants/{service}.service")
# The files are as they were before: what they say is made true.
_FILES_SAY = (
    'if [ -e "$2" ]; then systemctl --user daemon-reload && systemctl --user restart "$1"; '
    'else systemctl --user stop "$1" 2> /dev/null; systemctl --user daemon-reload; fi'
)
_AS_FILES_SAY = ("sh", "-c", _FILES_SAY, "sh", "{service}.service", "{folder}/{service}.service")

# NVIDIA's own rule: the links are made anew whenever the driver takes a card.
_MOVE_ALL = 'mv "$1"/* "$2"/'
_LINK_NODES = 'ACTION=="add", DEVPATH=="/bus/pci/drivers/nvidia", RUN+="/usr/bin/nvidia-ctk system create-dev-char-symlinks --create-all"'
_LINK_RULE = "/etc/udev/rules.d/71-nvidia-dev-char.rules"
_WRITE_LINE = 'printf "%s\\n" "$1" > "$2"'

KINDS: dict[str, Kind] = {
    "container-option": Kind(_("start the container with {option}"), ("option",), "host-of-container", undo=()),
    "purge-packages": Kind(
        _("remove the packages {packages}"),
        ("packages",),
        root=True,
        tag="destructive",
        commands=(("@remove", "{packages*}"),),
        undo_because=_("install them again from the distribution"),
    ),
    "batch-option": Kind(_("ask the scheduler with {option}"), ("option",), undo=()),
    "batch-line": Kind(_("add the line `#SBATCH {option}` to the others of the batch script, and submit it again"), ("option",), undo=()),
    "batch-option-instead": Kind(_("ask the scheduler with {option} in place of {former}"), ("option", "former"), undo=()),
    "cores-for-the-loader": Kind(
        _(
            "ask the scheduler for cores: the line `#SBATCH {option}` in the batch script, and {option} behind srun, which has not taken it over from there since Slurm 22.05; then num_workers={workers}. Where the site gives a card fewer cores, take as many as it gives for both"
        ),
        ("option", "workers"),
        undo=(),
    ),
    "data-that-cost-less": Kind(
        _(
            "where no more cores are to be had: num_workers={cores}, and data that cost them less: pictures shrunk beforehand, or decoded on the card (NVIDIA DALI)"
        ),
        ("cores",),
        "by-hand",
        undo=(),
    ),
    "as-many-gpus": Kind(_("ask the scheduler for as many GPUs on each node as the program is told ({option})"), ("option",), undo=()),
    "as-many-tasks": Kind(
        _("ask the scheduler for as many tasks on each node as the program is told devices ({option})"), ("option",), undo=()
    ),
    "attach-gpu": Kind(
        _("use a machine with a supported GPU, or a build for the CPU: {command}"),
        ("command",),
        "by-hand",
        commands=(("python", "-m", "pip", "install", "--force-reinstall", "torch", "--index-url", "{index}"),),
        undo=(),
    ),
    "use-other-backend": Kind(_("use another backend with this card: {backend}"), ("backend",), "by-hand", undo=()),
    "relabel-nodes": Kind(
        _("let containers use devices under SELinux, and give the nodes their labels back"),
        (),
        "host-of-container",
        root=True,
        tag="caution",
        commands=(("setsebool", "-P", "container_use_devices", "on"), ("sh", "-c", "restorecon -v /dev/nvidia*")),
        undo=(("setsebool", "-P", "container_use_devices", "off"),),
    ),
    "restart-container": Kind(
        _("stop the container and start it again"),
        (),
        "host-of-container",
        tag="caution",
        commands=(("docker", "restart", "{container}"),),
        undo=(),
    ),
    "restart-docker-container": Kind(
        _("start the container again, by `docker restart` and its name"), (), "host-of-container", tag="caution", undo=()
    ),
    "link-nvidia-nodes": Kind(
        _(
            "make links under /dev/char for the NVIDIA nodes, now and whenever the driver is loaded, so that systemd keeps them in the container's rules"
        ),
        (),
        "host-of-container",
        root=True,
        commands=(
            ("nvidia-ctk", "system", "create-dev-char-symlinks", "--create-all"),
            ("sh", "-c", _WRITE_LINE, "sh", _LINK_NODES, _LINK_RULE),
        ),
        undo=(("rm", "-f", _LINK_RULE),),
        writes=(_LINK_RULE,),
    ),
    "install-container-toolkit": Kind(
        _("install the NVIDIA Container Toolkit, make it known to {engine}, and restart that"),
        ("engine",),
        "host-of-container",
        root=True,
        network=True,
        tag="caution",
        commands=(
            ("@container-toolkit",),
            ("nvidia-ctk", "runtime", "configure", "--runtime={engine}"),
            ("systemctl", "restart", "{engine}"),
        ),
        undo=(("@remove", "nvidia-container-toolkit"),),
        writes=ENGINE_FILES,
    ),
    "describe-devices": Kind(
        _("write the CDI description of the NVIDIA devices anew"),
        (),
        "host-of-container",
        root=True,
        commands=(("nvidia-ctk", "cdi", "generate", "--output=/etc/cdi/nvidia.yaml"),),
        undo=(("rm", "-f", "/etc/cdi/nvidia.yaml"),),
        writes=("/etc/cdi/nvidia.yaml",),
    ),
    "use-native-engine": Kind(
        _("use a container engine that runs on the host itself (Docker Engine's own packages, or podman)"),
        (),
        "host-of-container",
        network=True,
        tag="caution",  # a context is the account's own: root would change root's
        commands=(("docker", "context", "use", "default"),),
        undo=(("docker", "context", "use", "desktop-linux"),),
    ),
    "image-for-cuda": Kind(
        _("use an image that was made for CUDA {cuda} or older, which this driver carries by itself"),
        ("cuda",),
        "host-of-container",
        network=True,
        undo=(),
    ),
    "image-below-cuda": Kind(
        _("use an image that was made for a CUDA older than {cuda}"), ("cuda",), "host-of-container", network=True, undo=()
    ),
    "image-below-driver": Kind(
        _("use an image that was made for a driver older than {driver}"), ("driver",), "host-of-container", network=True, undo=()
    ),
    "start-jetson-image": Kind(
        _("use an image that NVIDIA builds for this JetPack, with its own runtime"),
        ("image",),
        "host-of-container",
        network=True,
        commands=(("docker", "run", "--rm", "-it", "--runtime", "nvidia", "{image}"),),
        undo=(),
    ),
    "image-of-architecture": Kind(
        _("use an image that was made for {architecture}"), ("architecture",), "host-of-container", network=True, undo=()
    ),
    "own-files": Kind(
        _("give {path} to the user that the container runs as"),
        ("path",),
        "host-of-container",
        root=True,
        tag="caution",
        commands=(("chown", "-R", "{owner}", "{mounted}"),),
        undo_because=_("the owners that were there are not kept"),
    ),
    "update-wsl": Kind(
        _("update Windows, then WSL"),
        (),
        "windows-host",
        root=True,
        network=True,
        restart=True,
        tag="caution",
        commands=(("wsl", "--update"), ("wsl", "--shutdown")),
        undo_because=_("Windows keeps no older kernel of WSL"),
    ),
    "convert-to-wsl2": Kind(
        _("turn the distribution into one of WSL 2"),
        (),
        "windows-host",
        tag="caution",
        commands=(("wsl", "--update"), ("wsl", "--set-version", "{distribution}", "2")),
        undo=(("wsl", "--set-version", "{distribution}", "1"),),
    ),
    "use-wddm": Kind(
        _("switch the NVIDIA GPUs of the Windows host to WDDM, or disable the one that cannot"),
        (),
        "windows-host",
        root=True,
        restart=True,
        tag="caution",
        commands=(("nvidia-smi", "-dm", "0"),),
        undo=(("nvidia-smi", "-dm", "1"),),
    ),
    "add-loader-path": Kind(
        _("put {path} on the loader's path"),
        ("path",),
        root=True,
        commands=(("sh", "-c", 'printf "%s\\n" "$1" > /etc/ld.so.conf.d/rigup.conf', "sh", "{path}"), ("ldconfig",)),
        undo=(("rm", "-f", "/etc/ld.so.conf.d/rigup.conf"), ("ldconfig",)),
        writes=("/etc/ld.so.conf.d/rigup.conf",),
    ),
    "link-library": Kind(
        _("link {path} to {target}"),
        ("path", "target"),
        root=True,
        commands=(("ln", "-s", "{target}", "{path}"), ("ldconfig",)),
        undo=(("rm", "-f", "{path}"), ("ldconfig",)),
        writes=("{path}",),
    ),
    "set-aside": Kind(
        _("set {path} aside, so that the system's own is used"),
        ("path",),
        tag="caution",
        commands=(("sh", "-c", 'for one in "$1"*; do mv "$one" "$one.aside"; done', "sh", "{path}"),),
        undo=(("sh", "-c", 'for one in "$1"*.aside; do mv "$one" "${one%.aside}"; done', "sh", "{path}"),),
    ),
    "install-rocm": Kind(
        _("install ROCm {version} ({usecase})"),
        ("version", "usecase"),
        root=True,
        network=True,
        tag="caution",
        commands=(("amdgpu-install", "-y", "--usecase={usecase}", "--no-dkms"),),
        undo=(("amdgpu-uninstall",),),
    ),
    "install-in-two-steps": Kind(
        _("install torch from its own index first, and the rest from PyPI after it"),
        ("index",),
        network=True,
        tag="caution",
        commands=(
            ("python", "-m", "pip", "install", "torch", "torchvision", "torchaudio", "--index-url", "{index}"),
            ("python", "-m", "pip", "install", "-r", "requirements.txt"),
        ),
        undo_because=_("remove what was installed"),
    ),
    "use-spawn": Kind(
        _("start worker processes with the spawn method, and keep the GPU out of the parent process"), (), "by-hand", undo=()
    ),
    "launch-from-fresh-kernel": Kind(
        _(
            'restart the notebook\'s kernel, and keep all that touches the GPU (.to("cuda"), torch.cuda, Accelerator()) inside the function that {program} starts'
        ),
        ("program",),
        "by-hand",
        undo=(),
    ),
    "restart-notebook": Kind(
        _("restart the notebook's kernel, which still holds what it imported, and execute its cells from the first on"),
        (),
        "by-hand",
        undo=(),
    ),
    "meet-at-real-address": Kind(
        _(
            "let the ranks meet at an address that the other nodes reach, and let the node's name lead to it in /etc/hosts, not to 127.0.x.1"
        ),
        ("part",),
        "every-node",
        commands=(("ip", "-brief", "address"),),
        undo=(),
    ),
    "name-the-interface": Kind(
        _("set {name} to the interface by which the nodes reach each other; the command lists them"),
        ("name",),
        "every-node",
        commands=(("ip", "-brief", "address"),),
        undo=(),
    ),
    "use-one-device": Kind(_("bring the model and its inputs to one device in the program"), (), "by-hand", undo=()),
    "set-before-start": Kind(_("set {name} before the program starts, not inside it"), ("name",), "by-hand", undo=()),
    "keep-path": Kind(
        _("in the batch script: keep what PATH held, which is where srun lies: end that line with :$PATH ({line})"),
        ("line",),
        "by-hand",
        undo=(),
    ),
    "srun-around-container": Kind(
        _("call srun in the batch script, outside of the container, and the container in it: the image has no Slurm"),
        (),
        "by-hand",
        undo=(),
    ),
    "find-srun": Kind(
        _(
            "load the module of Slurm (or call srun by its whole path, as `which srun` tells on the login node): the batch script's PATH has lost it"
        ),
        (),
        "by-hand",
        undo=(),
    ),
    "start-with-srun": Kind(_("start the program with srun in the batch script"), (), "by-hand", undo=()),
    "use-batch-job": Kind(
        _("run it as a batch job, or tell Lightning to leave Slurm alone (plugins=LightningEnvironment())"), (), "by-hand", undo=()
    ),
    "clear-acs": Kind(
        _("switch ACS off on the PCIe bridges above the GPUs (firmware setup, or setpci at every start)"),
        (),
        "kernel",
        root=True,
        tag="caution",
        undo_because=_("it comes back by itself at the next start"),
    ),
    "iommu-pass-through": Kind(
        _("add iommu=pt to the kernel's command line"),
        (),
        "kernel",
        root=True,
        restart=True,
        tag="caution",
        undo_because=_("the argument is taken out in the same way"),
    ),
    "open-ports": Kind(
        _("let the nodes reach each other on all high ports (firewall, routing)"),
        (),
        "every-node",
        root=True,
        tag="caution",
        undo_because=_("close the ports again in the firewall"),
    ),
    "update-macos": Kind(
        _("update macOS to {version} or newer"),
        ("version",),
        "by-hand",
        network=True,
        restart=True,
        tag="caution",
        commands=(("softwareupdate", "--list-full-installers"),),
        undo_because=_("macOS is not taken back to an older release"),
    ),
    "run-on-the-mac": Kind(_("run the program on macOS itself, outside containers"), (), "by-hand", undo=()),
    "ollama-on-the-mac": Kind(
        _(
            "stop the container of ollama, which holds the port {port}, and run ollama on macOS itself (Homebrew, or the app from ollama.com; models are fetched once more); a web interface may stay in its container and reaches it at http://host.docker.internal:{port} (OLLAMA_BASE_URL of Open WebUI)"
        ),
        ("port",),
        network=True,
        tag="caution",
        commands=(("brew", "install", "ollama"), ("brew", "services", "start", "ollama")),
        undo=(("brew", "services", "stop", "ollama"), ("brew", "uninstall", "ollama")),
    ),
    "leave-sandbox": Kind(_("run the program in a plain terminal, or let the sandbox use the GPU"), (), "by-hand", undo=()),
    "hide-graphics": Kind(
        _("hide the processor's graphics from ROCm: {name}={value} for the program"), ("name", "value"), "by-hand", undo=()
    ),
    "override-by-node": Kind(
        _("set {name}_N={value} for the card that needs it, N being its node in rocminfo"), ("name", "value"), "by-hand", undo=()
    ),
    "set-variable-early": Kind(_("set {name}={value} before Python starts, not inside the program"), ("name", "value"), "by-hand", undo=()),
    "set-variable-in-first-cell": Kind(
        _(
            'restart the notebook\'s kernel, and set it in the first cell, before torch is imported: import os; os.environ["{name}"] = "{value}"'
        ),
        ("name", "value"),
        "by-hand",
        undo=(),
    ),
    "use-float32": Kind(_("convert the data to float32 before it goes to the GPU"), (), "by-hand", undo=()),
    "choose-adapter": Kind(_("name the adapter: index {index}, {name}"), ("index", "name"), "by-hand", undo=()),
    "choose-unnamed-adapter": Kind(
        _("name the adapter of the card by its number, mostly {index}: the first is the processor's graphics"),
        ("index", "name"),
        "by-hand",
        undo=(),
    ),
    "move-to-processor": Kind(
        _("run the part that needs {operator} on the processor: bring its module and inputs there"), ("operator",), "by-hand", undo=()
    ),
    "move-part-to-processor": Kind(
        _("run the part that fails on the processor: bring its module and inputs there"), (), "by-hand", undo=()
    ),
    "call-oneapi": Kind(_("load oneAPI's environment before Python starts: {script}"), ("script",), "by-hand", undo=()),
    "install-oneapi-release": Kind(
        _("install the oneAPI Base Toolkit {release}, which brings {lib}"),
        ("release", "lib"),
        root=True,
        network=True,
        tag="caution",
        undo_because=_("remove its packages again"),
    ),
    "install-oneapi": Kind(
        _("install the oneAPI Base Toolkit release that brings {lib}"),
        ("lib",),
        root=True,
        network=True,
        tag="caution",
        undo_because=_("remove its packages again"),
    ),
    # -- disks, engines, ranks, files of models
    "show-room": Kind(_("see which disk is full, by bytes and by inodes"), (), commands=(("df", "-h"), ("df", "-i")), undo=()),
    "show-room-of": Kind(
        _("see how full the disk of {path} is, by bytes and by inodes, and what fills it"),
        ("path",),
        commands=(("df", "-h", "{path}"), ("df", "-i", "{path}"), ("du", "-xhd1", "{path}")),
        undo=(),
    ),
    "make-room": Kind(_("remove what nobody needs from that disk, or let it be written to another one"), (), "by-hand", undo=()),
    "fewer-files": Kind(
        _("remove or pack folders with very many small files on {path}, where no inode is left; the command counts them"),
        ("path",),
        commands=(("du", "--inodes", "-xd2", "{path}"),),
        undo=(),
    ),
    "show-quota": Kind(
        _(
            "see how much your account may keep and does, then remove some of it, let it be written elsewhere, or ask the administrators for more"
        ),
        (),
        commands=(("quota", "-s"),),
        undo=(),
    ),
    "clear-engine": Kind(
        _("see what {engine} keeps, and remove build caches and images that nobody needs (it asks first)"),
        ("engine",),
        "host-of-container",
        tag="destructive",
        commands=(("{engine}", "system", "df"), ("{engine}", "builder", "prune"), ("{engine}", "image", "prune")),
        undo_because=_("images are pulled or built again"),
    ),
    "list-models": Kind(
        _("remove models that nobody needs with `ollama rm NAME`; the command lists them"), (), commands=(("ollama", "list"),), undo=()
    ),
    "unload-models": Kind(
        _("let ollama give the memory back: `ollama stop NAME`, or OLLAMA_KEEP_ALIVE for good; the command lists what is loaded"),
        (),
        commands=(("ollama", "ps"),),
        undo=(),
    ),
    "write-elsewhere": Kind(
        _("set {name} to a folder on a disk with room, for the program or the service that writes"), ("name",), "by-hand", undo=()
    ),
    "write-on-disk": Kind(
        _("set {name} to a folder of yours on {disk}, which has room, for the program"), ("name", "disk"), "by-hand", undo=()
    ),
    "move-cache": Kind(
        _(
            "set {name} to a folder of yours on {disk}, which has room, in the shell's own file and in the job's script, and move what lies in {cache} there"
        ),
        ("name", "disk", "cache"),
        "by-hand",
        undo=(),
    ),
    "make-folder-of-service": Kind(
        _("make {folder}, and give it to the account of the service {service}: what a shell's file sets does not reach a service"),
        ("folder", "service"),
        "kernel",
        root=True,
        commands=(("install", "-d", "-o", "{service}", "-g", "{service}", "{folder}"),),
        undo=(("rmdir", "{folder}"),),
    ),
    "move-into-folder": Kind(
        _("stop {service}, and move what lies in {path} there"),
        ("path", "folder", "service"),
        "kernel",
        root=True,
        tag="caution",
        commands=(("systemctl", "stop", "{service}"), ("sh", "-c", _MOVE_ALL, "sh", "{path}", "{folder}")),
        undo=(("sh", "-c", _MOVE_ALL, "sh", "{folder}", "{path}"),),
    ),
    "fewer-checkpoints": Kind(
        _("keep fewer checkpoints ({option} of the transformers trainer), or write them to a disk with room; the command shows which has"),
        ("option",),
        commands=(("df", "-h"),),
        undo=(),
    ),
    "empty-apt-cache": Kind(_("empty apt's cache of packages"), (), root=True, commands=(("apt-get", "clean"),), undo=()),
    "empty-pip-cache": Kind(_("empty pip's cache"), (), commands=(("python", "-m", "pip", "cache", "purge"),), undo=()),
    "empty-conda-cache": Kind(_("empty conda's cache of packages"), (), commands=(("conda", "clean", "-y", "--all"),), undo=()),
    "empty-uv-cache": Kind(_("empty uv's cache"), (), commands=(("uv", "cache", "clean"),), undo=()),
    "start-engine": Kind(
        _("start the service {service}, now and with the machine"),
        ("service",),
        "host-of-container",
        root=True,
        commands=(("systemctl", "enable", "--now", "{service}"),),
        undo=(("systemctl", "disable", "--now", "{service}"),),
    ),
    "start-desktop": Kind(_("start {program} and wait until it says that its engine runs"), ("program",), "by-hand", undo=()),
    "start-podman-machine": Kind(
        _("start podman's virtual machine"), ("machine",), commands=(("podman", "machine", "start"),), undo=(("podman", "machine", "stop"),)
    ),
    "look-for-gpu-faults": Kind(
        _("if other programs fail in the same way, look in the kernel's log for faults of the card itself"),
        (),
        "kernel",
        root=True,
        commands=(("journalctl", "-k", "-b", "--no-pager"),),
        undo=(),
    ),
    "start-all-ranks": Kind(
        _(
            "start the same command on every node, each with a --node-rank of its own and all with the address and port of the first ({address})"
        ),
        ("address",),
        "by-hand",
        undo=(),
    ),
    "try-port": Kind(
        _("on another node, while the first one waits: see whether {host} is reached at port {port}"),
        ("host", "port"),
        "every-node",
        commands=(("nc", "-vz", "{host}", "{port}"),),
        undo=(),
    ),
    "find-first-rank": Kind(
        _("look through the logs of all ranks for the one that failed or stopped first: the others only waited for it"),
        (),
        "by-hand",
        undo=(),
    ),
    "try-without-direct-way": Kind(
        _("it is the very first collective: try once with {name}={value}; if that runs, the direct way between the cards is at fault"),
        ("name", "value"),
        "by-hand",
        undo=(),
    ),
    "call-on-every-rank": Kind(
        _(
            "take {call} out of the condition that one rank alone fulfils: all ranks take part in it, so each has to call it; only the file is written by one"
        ),
        ("call",),
        "by-hand",
        undo=(),
    ),
    "align-collectives": Kind(
        _(
            "find what some ranks run and others do not: at collective {number} some called {operation}, others {other}; mostly a condition on the rank stands around a call that all have to make (state_dict of a sharded model, saving, evaluating)"
        ),
        ("number", "operation", "other"),
        "by-hand",
        undo=(),
    ),
    "longer-timeout": Kind(
        _("only where a step honestly takes longer (saving, evaluating): give init_process_group a longer {argument}"),
        ("argument",),
        "by-hand",
        undo=(),
    ),
    "show-shared-memory": Kind(
        _("see whether {path} has room: ranks of one machine meet there"), ("path",), commands=(("df", "-h", "{path}"),), undo=()
    ),
    "show-start-of-job": Kind(
        _("see when Slurm means to start the job {job}, and ask for less (time, nodes, memory) where that is late"),
        ("job",),
        commands=(("squeue", "--start", "-j", "{job}"),),
        undo=(),
    ),
    "start-shell-in-job": Kind(
        _("ask Slurm for a shell on a node with a GPU, in a partition that has them; in a batch script the same option"),
        ("gpus",),
        commands=(("srun", "--gpus-per-node={gpus}", "--pty", "bash"),),
        undo=(),
    ),
    "use-python-that-has-it": Kind(
        _(
            "start it with the Python of the environment that has {module}, under sudo and in services by its full path; the command names the one that runs here"
        ),
        ("module",),
        commands=(("python", "-c", "import sys; print(sys.executable)"),),
        undo=(),
    ),
    "find-package-of-library": Kind(
        _("find the distribution's package that brings {lib}, and add it; the command looks it up where apt-file or dnf is there"),
        ("lib",),
        root=True,
        network=True,
        commands=(("sh", "-c", 'apt-file search "$1" || dnf provides "*/$1"', "sh", "{lib}"),),
        undo=(),
    ),
    "use-another-type": Kind(
        _("take a form of the model that this GPU computes (another quantisation, bfloat16, float16, GGUF) in place of {feature}"),
        ("feature",),
        "by-hand",
        undo=(),
    ),
    "keep-one-openmp": Kind(
        _(
            "keep one copy of {lib} in the environment: torch from pip beside NumPy from conda brings two; the command tells where the packages are from"
        ),
        ("lib",),
        commands=(("conda", "list"),),
        undo=(),
    ),
    "wait-for-process": Kind(
        _("wait until the process {pid} has ended, then try again; the lock is not to be removed"),
        ("pid",),
        commands=(("ps", "-o", "user,pid,etime,args", "-p", "{pid}"),),
        undo=(),
    ),
    "list-associations": Kind(
        _("ask for what your account may use: the command lists accounts, partitions and qualities of service"),
        ("reason",),
        commands=(
            ("sh", "-c", 'sacctmgr show associations where user="$(id -un)" format=Account,Partition,QOS'),
            ("sacctmgr", "show", "qos", "format=Name,MaxWall,MaxTRESPU,MaxJobsPU,MaxSubmitPU"),
            ("sinfo", "-o", "%P %l %G"),
        ),
        undo=(),
    ),
    "list-gres": Kind(
        _("ask for GPUs that the partition has: the command lists the partitions with the names of their GPUs"),
        (),
        commands=(("sinfo", "-o", "%P %D %G"),),
        undo=(),
    ),
    "download-again": Kind(
        _("remove the file and download it again, whole (hf download with --force-download; ollama pull)"),
        (),
        "by-hand",
        network=True,
        undo=(),
    ),
    "fetch-large-files": Kind(
        _("fetch the files that Git LFS keeps, in the folder of the repository: what is there is a pointer"),
        ("pointer",),
        network=True,
        commands=(("git", "lfs", "pull"),),
        undo=(),
    ),
    "ask-for-access": Kind(
        _("ask for access on the page of {model} and wait for it, then log in with a token of that account"),
        ("model",),
        network=True,
        commands=(("hf", "auth", "login"),),
        undo=(("hf", "auth", "logout"),),
    ),
    "show-listener": Kind(
        _("see which program listens on port {port}; end it if it is your own, or take another port"),
        ("port",),
        commands=(("ss", "-ltnp", "sport = :{port}"),),
        undo=(),
    ),
    "trust-proxy": Kind(
        _("let Python trust your proxy's certificate: set {name} to the file that its administrators give"),
        ("name", "seen"),
        "by-hand",
        undo=(),
    ),
    "try-host": Kind(
        _("see whether this machine reaches {host}, by its proxy where it has one"),
        ("host",),
        commands=(("curl", "-sSI", "https://{host}"),),
        undo=(),
    ),
    "find-program-in-image": Kind(
        _(
            "ask the image where it has the program: in a shell of it, `command -v {program}`; then start it by that path or name, or mount the folder that holds it"
        ),
        ("program",),
        "by-hand",
        undo=(),
    ),
    "download-where-there-is-a-net": Kind(
        _("on a node without internet: download on one that has it into the same cache, and start here with {name}=1"),
        ("name",),
        "by-hand",
        undo=(),
    ),
    "more-open-files": Kind(
        _("let programs of this shell open more files"), ("limit",), "by-hand", commands=(("ulimit", "-n", "{limit}"),), undo=()
    ),
    "make-key": Kind(
        _("make a key in {path}, which you alone can read, where there is none"),
        ("path",),
        commands=(("sh", "-c", _MAKE_KEY, "sh", "{path}"),),
        undo=(),
        writes=("{path}",),
    ),
    "user-service": Kind(
        _("let your systemd start {service} when you log in, and now"),
        ("service", "folder"),
        commands=(
            ("mkdir", "-p", "{folder}"),
            ("sh", "-c", 'printf "%s" "$1" > "$2"', "sh", "{text}", "{folder}/{service}.service"),
            ("systemctl", "--user", "daemon-reload"),
            ("systemctl", "--user", "enable", "{service}.service"),
            ("systemctl", "--user", "restart", "{service}.service"),
        ),
        undo=(_AS_FILES_SAY,),
        writes=_OF_USER_SERVICE,
    ),
    "drop-user-service": Kind(
        _("end {service} and let your systemd start it no more"),
        ("service", "folder"),
        commands=(
            ("systemctl", "--user", "disable", "--now", "{service}.service"),
            ("rm", "-f", "{folder}/{service}.service"),
            ("systemctl", "--user", "daemon-reload"),
        ),
        undo=(_AS_FILES_SAY,),
        writes=_OF_USER_SERVICE,
    ),
    "share-by-files": Kind(_("let the program call {call} before it starts workers"), ("call",), "by-hand", undo=()),
}
