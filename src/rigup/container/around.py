"""What a container needs beside its devices: memory to share, folders, whose files they are, ports, proxies, labels."""

import re
from posixpath import join
from urllib.parse import urlsplit

from rigup.container.asked import Mount
from rigup.container.draft import APPTAINER, DOCKER_RUN, PODMAN_RUN, SELINUX, Draft
from rigup.container.host import Folder
from rigup.knowledge.container_images import caches, limit
from rigup.knowledge.cuda import version_key
from rigup.knowledge.secrets import is_secret
from rigup.language import _

_NETWORK_FOLDERS = ("nfs", "cifs", "smb", "lustre", "gpfs", "beegfs", "ceph", "9p", "fuse", "sshfs", "afs", "panfs", "glusterfs")
_FILE = re.compile(r"(?:\.{1,2}/.*|(?!-)[^/:=][^:=]*\.(?:py|sh|ipynb|json[l]?|ya?ml|toml|txt|csv|cfg|ini|gguf|pth?|safetensors|parquet))")
_STARTERS = (
    "python",
    "python3",
    "bash",
    "sh",
    "zsh",
    "torchrun",
    "accelerate",
    "deepspeed",
    "jupyter",
    "ipython",
    "pytest",
    "make",
    "pip",
    "uv",
)
_WORKERS = re.compile(r"torchrun|accelerate|deepspeed|--?(?:num[-_])?workers|tensor[-_]parallel|nproc", re.IGNORECASE)
_NUMA = re.compile(r"numactl|numa_bind|--cpunodebind|--membind|--interleave")
PROXIES = tuple(
    variable for name in ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy") for variable in (name, name.upper())
)
_LOOPBACK = ("127.", "localhost", "::1")
_INHERITED = (
    "CUDA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "ZE_AFFINITY_MASK",
    "ONEAPI_DEVICE_SELECTOR",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HF_DATASETS_CACHE",
    "HF_ENDPOINT",
    "HF_HUB_OFFLINE",
    "TRANSFORMERS_CACHE",
    "TORCH_HOME",
    "XDG_CACHE_HOME",
    "PIP_CACHE_DIR",
    "PIP_INDEX_URL",
    "TRITON_CACHE_DIR",
    "MASTER_ADDR",
    "MASTER_PORT",
    "WORLD_SIZE",
    "RANK",
    "LOCAL_RANK",
    "OMP_NUM_THREADS",
)
_FOLDERS_OF = (
    "HF_HOME",
    "HF_HUB_CACHE",
    "HF_DATASETS_CACHE",
    "TRANSFORMERS_CACHE",
    "TORCH_HOME",
    "XDG_CACHE_HOME",
    "PIP_CACHE_DIR",
    "TRITON_CACHE_DIR",
)
_BOUND_ANYWAY = ("/tmp", "/proc", "/sys", "/dev")
_ROOM = 40e9  # bytes that the layers of an image and their unpacking take
_HOME = "/tmp"
_WORK = "/work"  # where a folder of Windows is inside


def works_in_folder(draft: Draft, wished: bool) -> bool:
    """The program works in the caller's folder: for a wish, or where its command names files there."""
    words = draft.asked.command
    if wished or draft.asked.own_program or any(_FILE.fullmatch(word) for word in words):
        return True
    if draft.image.kind.server:
        return False
    return not words or words[0].rpartition("/")[2] in _STARTERS


def give_all(draft: Draft, wished: bool) -> None:
    """All that stands beside the devices, in the order in which it is read."""
    inside = works_in_folder(draft, wished)
    draft.variables |= {}
    if draft.engine.hpc:
        _for_apptainer(draft)
        return
    _memory(draft, wished)
    _calls(draft)
    _folders(draft, inside)
    _caches(draft)
    _user(draft, inside)
    _ports(draft)
    _asked_variables(draft)
    _proxies(draft)
    _labels(draft)


# -- docker and podman -----------------------------------------------------------------------------------


def _memory(draft: Draft, wished: bool) -> None:
    """Workers and servers of several processes pass tensors through /dev/shm, of which a container has 64 MB."""
    words = " ".join(draft.asked.command)
    if wished or draft.image.kind.shm or draft.image.torch or _WORKERS.search(words):
        why = _("Worker processes pass tensors through shared memory, of which a container has 64 MB by itself.")
        draft.add("--ipc", "host", why, "https://docs.pytorch.org/docs/stable/data.html")


def _calls(draft: Draft) -> None:
    if _NUMA.search(" ".join(draft.asked.command)):
        why = _("Binding memory to a NUMA node calls mbind and set_mempolicy, which the engine's filter refuses without this capability.")
        draft.add("--cap-add", "SYS_NICE", why, "https://docs.docker.com/engine/security/seccomp/")


def _folders(draft: Draft, inside: bool) -> None:
    cwd = draft.host.cwd
    if inside and cwd != "/":
        target = cwd if cwd.startswith("/") else _WORK
        draft.mount(Mount(source=cwd, target=target), _("The program works in your folder, at the same path inside."))
        draft.add("--workdir", target, _("The program works in your folder, at the same path inside."))
    for mount in draft.asked.mounts:
        draft.mount(mount, _("You asked for this folder."))


def _caches(draft: Draft) -> None:
    """Caches and models of the caller that are there, where the program looks for them."""
    kind, host = draft.image.kind, draft.host
    for cache in caches():
        setting = host.environment.get(cache.variable, "")
        folder = setting if setting and not cache.inside else join(host.home, cache.folder)
        wanted = cache.id == kind.cache or (not kind.server and not cache.below_root)
        if not wanted or cache.variable in draft.asked.variables or not (host.has(folder) or setting == folder):
            continue
        why = _("What is in your cache already is not fetched again.")
        if cache.below_root:  # the image looks below root's home
            draft.mount(Mount(source=folder, target=join("/root", cache.folder)), why, cache.source)
            continue
        draft.mount(Mount(source=folder, target=folder), why, cache.source)
        draft.set(cache.variable, folder, why, cache.source)


def _user(draft: Draft, inside: bool) -> None:
    """Files that the program writes are the caller's."""
    engine, host = draft.engine, draft.host
    writes = inside or any(not mount.read_only for mount in draft.asked.mounts)
    if not writes or engine.in_machine or draft.site.macos or draft.asked.form == "devcontainer":
        return
    if engine.podman and engine.rootless:
        if engine.more_ids is False:
            return  # root inside is the caller, and podman refuses to keep a number where it has no other
        draft.add("--userns", "keep-id", _("In a rootless container your files stay yours when your number is kept."), PODMAN_RUN)
    elif not engine.rootless and host.uid:
        why = _("What the program writes belongs to you and not to root.")
        draft.add("--user", f"{host.uid}:{host.gid}", why)
        draft.set("HOME", _HOME, _("That number has no home in the image: programs get one that they may write to."))


def _ports(draft: Draft) -> None:
    for port in draft.asked.publish:
        why = _("The port is reached from this machine alone: without an address it would be open to the network.")
        draft.add("--publish", f"127.0.0.1:{port}:{port}", why, "https://docs.docker.com/engine/network/port-publishing/")


def _asked_variables(draft: Draft) -> None:
    for name, value in draft.asked.variables.items():
        secret = value is not None and is_secret(name)
        why = _("The value is taken from your environment and stands in no command line.")
        draft.set(name, None if value is None or secret else value, why if value is None or secret else _("You asked for this variable."))
        if secret:
            template = _("{name} looks like a secret: the command takes it from your environment, so set it there.")
            draft.warn("secret-by-value", template.format(name=name))


def _proxies(draft: Draft) -> None:
    """The caller's proxies reach the program; one on the host's loopback is not there inside."""
    engine, found = (draft.engine, {name: draft.host.environment[name] for name in PROXIES if draft.host.environment.get(name)})
    if not found:
        return
    local = [name for name, value in found.items() if _is_local(name, value)]
    moved = bool(local) and (bool(draft.asked.publish) or engine.in_machine or (engine.rootless and not engine.podman))
    inner_name = "host.containers.internal" if engine.podman else "host.docker.internal"
    if local:
        sentence = _("Your proxy listens on this machine's loopback, which is another one inside a container.")
        draft.warn("proxy-on-host-loopback", sentence)
        if not moved:
            draft.add("--network", "host", sentence, DOCKER_RUN)
        elif not engine.podman:  # podman has a name for the host by itself
            draft.add("--add-host", f"{inner_name}:host-gateway", sentence, DOCKER_RUN)
    by_itself = (engine.podman and not engine.in_machine and not draft.asked.form) or (
        engine.name == "docker" and draft.host.docker_config_proxies
    )
    for name, value in found.items():
        if moved and name in local and "@" not in value:
            inner = re.sub(r"127(?:\.\d{1,3}){3}|localhost|\[::1\]", inner_name, value, count=1)
            draft.set(name, inner, _("From inside, the host has this name."), DOCKER_RUN)
        elif not by_itself:
            why = _("The engine hands the program no proxy of your shell; without it nothing is downloaded.")
            draft.set(name, None, why, "https://docs.docker.com/engine/cli/proxy/")


def _is_local(name: str, value: str) -> bool:
    if name.lower() == "no_proxy":
        return False
    host = urlsplit(value if "://" in value else "http://" + value).hostname or ""
    return host.startswith(_LOOPBACK)


def _labels(draft: Draft) -> None:
    """SELinux: what a container may open needs a label, or labels are off for it."""
    host = draft.host
    if host.selinux != "enforcing" or draft.engine.in_machine:
        return
    source = SELINUX
    if reason := _closed_device(draft):
        draft.add("--security-opt", "label=disable", reason, source)
        return
    kept = [mount for mount, _flag in draft.mounts if _not_to_relabel(mount.source, draft)]
    if kept:
        why = _("SELinux keeps containers from {folder}, and its label must not be changed: labels are off for this container.")
        draft.add("--security-opt", "label=disable", why.format(folder=kept[0].source), source)
        return
    for number, (mount, _flag) in enumerate(draft.mounts):
        draft.mounts[number] = (mount, "z")
        why = _("SELinux lets containers at folders with a label of their own.")
        draft.tell((draft.mount_word, f"{mount.source}:{mount.target}:z"), why, source)


def _closed_device(draft: Draft) -> str:
    """Why the policy keeps the container from its devices; "" if it does not."""
    booleans, version = draft.host.selinux_booleans, version_key(draft.host.container_selinux)
    if booleans.get("container_use_devices"):
        return ""
    if draft.of("nvidia") and not booleans.get("container_use_xserver_devices"):
        return _("SELinux keeps containers from NVIDIA's nodes unless a boolean is on: labels are off for this container.")
    dri = draft.of("amd") or draft.of("intel")
    closed = version < limit("SELinux lets containers at /dev/dri") or booleans.get("container_use_dri_devices") is False
    if (dri and closed) or (draft.of("amd") and version < limit("SELinux lets containers at /dev/kfd")):
        return _("This SELinux policy keeps containers from the GPU's nodes: labels are off for this container.")
    return ""


def _not_to_relabel(path: str, draft: Draft) -> bool:
    """A home, a folder of the system or one on the network."""
    if path in (draft.host.home, "/home", "/root") or path.count("/") < 2 or path.startswith(("/usr", "/etc", "/var", "/opt", "/boot")):
        return True
    return any(file_system(path, draft).fs.lower().startswith(prefix) for prefix in _NETWORK_FOLDERS)


def file_system(path: str, draft: Draft) -> Folder:
    """What is known of the file system that a path lies on."""
    above = [folder for folder in draft.host.folders if (path + "/").startswith(folder.rstrip("/") + "/")]
    folders = (draft.host.folders[name] for name in sorted(above, key=len, reverse=True))
    return next((folder for folder in folders if folder.fs or folder.free), Folder())


# -- Apptainer -------------------------------------------------------------------------------------------


def _for_apptainer(draft: Draft) -> None:
    """The caller's environment stays out but for what the job needs; folders beside home are bound."""
    host, engine = draft.host, draft.engine
    prefix = "SINGULARITYENV_" if engine.name == "singularity" else "APPTAINERENV_"
    draft.add(
        "--cleanenv", why=_("Most of your variables would enter the container, PYTHONPATH and conda's too, and spoil it."), source=APPTAINER
    )
    why = _("Your home is bound: packages below ~/.local would be found before those of the image.")
    draft.set("PYTHONNOUSERSITE", "1", why, APPTAINER)
    passed = [name for name in host.environment if name in (*_INHERITED, *PROXIES) or name.startswith("SLURM_")]
    for name, value in draft.asked.variables.items():
        if value is None or is_secret(name):
            passed.append(name)
        else:
            draft.set(name, value, _("You asked for this variable."), APPTAINER)
    for name in dict.fromkeys(passed):
        if name not in draft.variables:
            from rigup.schemas.container import From

            draft.exports[prefix + name] = From(from_=name)
    needed = [host.cwd, *(host.environment[name] for name in _FOLDERS_OF if host.environment.get(name, "").startswith("/"))]
    for folder in dict.fromkeys(needed):
        if folder != "/" and not _inside(folder, (host.home, *_BOUND_ANYWAY)):
            draft.mount(
                Mount(source=folder, target=folder),
                _("Apptainer binds home, the working folder and /tmp by itself, and no others."),
                APPTAINER,
            )
    for mount in draft.asked.mounts:
        draft.mount(mount, _("You asked for this folder."), APPTAINER)
    draft.add("--pwd", host.cwd, _("The program works in your folder."), APPTAINER)
    if not draft.image.digest and not draft.image.name.startswith("/"):
        _room_for_layers(draft)


def _inside(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder + "/") for folder in folders)


def _room_for_layers(draft: Draft) -> None:
    """An image of a registry is unpacked: home and /tmp may not hold it."""
    host = draft.host
    name = "SINGULARITY" if draft.engine.name == "singularity" else "APPTAINER"
    roomy = {path: folder.room for path, folder in host.folders.items() if (folder.room or 0) >= _ROOM and path not in (host.home, "/tmp")}
    best = max((path for path in roomy), key=lambda path: (host.cwd.startswith(path + "/"), roomy[path] or 0), default="")
    if not best:
        return
    rest = host.cwd.removeprefix(best).strip("/").split("/")[0] if host.cwd.startswith(best + "/") else host.user
    base = join(best, rest) if rest else best
    why = _("The layers of an image and their unpacking take tens of gigabytes, which your home or /tmp does not hold.")
    for variable, place in (("CACHEDIR", host.home), ("TMPDIR", "/tmp")):
        room = file_system(place, draft).room
        if room is not None and room < _ROOM and f"{name}_{variable}" not in host.environment:
            draft.exports[f"{name}_{variable}"] = f"{base}/.apptainer/{variable.lower()}"
            draft.tell((f"{name}_{variable}",), why, "https://apptainer.org/docs/user/latest/build_env.html")
