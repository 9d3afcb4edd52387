"""Containers: how they were started, what engine starts them, what they are let."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import ContainerEngine, DeviceRules, Folder, SharedMemory, World
from rigup.machine.reader import File, Listing, Run, Statements, reads
from rigup.machine.readers.values import size
from rigup.machine.texts import Text

_NO_PROSE = (
    r"(?! (?:commands?|options?|it|this|that|the|with|without|and|or|to|in|on|from|then|as|by|works?|fails?|does|is|will|when|if)\b)"
)
_RUN = (
    r"^[^\n]{0,120}?\b(?P<engine>docker|podman|nerdctl|apptainer|singularity)\b[^\n]{0,40}? (?:run|exec|shell|create)\b"
    + _NO_PROSE
    + r"(?P<words>(?:[^\n]{0,1500}?\\\n){0,30}[^\n]{0,1500})$"
)
_PROBE = lazy_regex(r" (?:nvidia-smi|rocminfo|rocm-smi|works?|worked)\b")
_TRIAL = lazy_regex(
    r"[`'\"“](?:sudo )?(?:docker|podman|nerdctl) [^\n`'\"”]{3,300}[`'\"”][^\n.]{0,20} (?:works?|worked|is (?:fine|ok)|runs)\b"
)
_CLUSTER = lazy_regex(r"\bkubectl |\bkubelet\b")
_ASKS = lazy_regex(
    r"--gpus[ =]|--runtime[ =]nvidia|--device[ =]\S{0,40}(?:nvidia|/dev/kfd|/dev/dri|/dev/dxg)|--nv\b|--nvccli\b|--rocm\b|NVIDIA_VISIBLE_DEVICES|--privileged|nvidia-docker"
)


@reads(marks=("docker run", "docker container run", "podman run", "nerdctl run", "apptainer ", "singularity "), adds=(World,))
def container_started(text: Text) -> Statements:
    """`docker run --gpus all …`: whether GPUs were asked for.

    What is run in one that runs already does not tell, nor a trial of the engine beside a file that describes another container.
    """
    described = text.first(r"^services:|\bdevcontainer\.json\b")
    of_a_cluster = _CLUSTER.search(text.body)  # whose containers another engine starts
    for hit in text.each(_RUN):
        if (described and _PROBE.search(hit.match[0])) or (of_a_cluster and _TRIAL.search(hit.match[0])):
            continue
        if " exec" in hit.match[0] and hit["engine"] in ("docker", "podman", "nerdctl"):
            continue
        world = hit.states(World, container=hit["engine"], gpu_requested=bool(_ASKS.search(hit.match[0])))
        world.place = world.place._replace(world=world.place.world if world.place.world.startswith("container") else "container")
        yield world


_MACHINES = r"^(?:colima|rancher-desktop|lima-[\w-]{1,40})(?:[ \t]{0,20}\*[^\n]{0,200}|[ \t]*)$"  # of an engine's own, as Docker Desktop's


_INFO = r"^ *(?:Client|Server|host|Containers)\b.*:|[Dd]ocker daemon|docker\.sock|permission denied"


@reads(
    ContainerEngine,
    inputs=[Run(("docker", "info"), seconds=4, given="/{var/run,run}/docker.sock", says=_INFO)],
    marks=(
        "Docker Desktop",
        "desktop-linux",
        "docker-desktop",
        "/snap/docker",
        "/snap/bin/docker",
        "canonical",
        "Docker Root Dir",
        "Docker version",
        "docker.desktop",
        "snap.docker",
        "docker context",
        "DOCKER ENDPOINT",
    ),
)
def docker_info(text: Text) -> Statements:
    """`Operating System: Docker Desktop`, `Context: desktop-linux`, `Docker Root Dir: /var/snap/docker/…`."""
    if hit := text.first(
        r"(?P<flavour>(?<!not )(?<!no )(?<!without )(?<!instead of )(?:Docker Desktop|desktop-linux|docker-desktop)\b|" + _MACHINES + ")"
    ):
        yield hit.states(ContainerEngine, name="docker", flavour="desktop")
    elif hit := text.first(
        r"(?P<flavour>/(?:var/)?snap/(?:bin/)?docker|\bsnap\.docker\.dockerd|/run/snap\.docker)\b|^docker {1,20}\d[\w.+-]{1,20} {1,20}\d{2,6} {1,20}\S{3,30} {1,20}canonical"
    ):
        yield hit.states(ContainerEngine, name="docker", flavour="snap")
    elif hit := text.first(r"^[ \t]*Docker Root Dir: (?P<flavour>/\S{1,120})"):
        yield hit.states(ContainerEngine, name="docker", flavour="engine")


@reads(
    inputs=[
        Listing("/snap/bin/docker"),
        Listing("/var/snap/docker/current"),
        Listing("/opt/docker-desktop/bin"),
        Listing("/usr/bin/dockerd"),
    ],
    adds=(ContainerEngine,),
)
def docker_files(text: Text) -> Statements:
    """Which Docker is installed; where the engine's own daemon is there, it is the one."""
    flavours = {"/snap/": "snap", "/docker-desktop/": "desktop", "dockerd": "engine"}
    for mark, flavour in flavours.items():
        if hit := text.first(r"(?P<flavour>/(?:snap|var/snap|opt|usr)[^\n]{0,60}" + re.escape(mark).rstrip("/") + r")"):
            yield hit.states(ContainerEngine, name="docker", flavour=flavour)
            return


@reads(SharedMemory, inputs=[File("/proc/mounts")], marks=(" /dev/shm", '"ShmSize":'))
def shared_memory(text: Text) -> Statements:
    """`shm /dev/shm tmpfs rw,size=65536k`, and `df`: `shm 64M 0 64M 0% /dev/shm`."""
    for hit in text.each(r"\bon /dev/shm type tmpfs \([^)\n]{0,200}\bsize=(?P<total>\d{1,12}[kKmMgG]?)\b"):  # `mount`
        if (total := size(hit["total"] + "B")) is not None:
            yield hit.states(SharedMemory, total=total)
    for hit in text.each(r"\"ShmSize\": (?P<total>[1-9]\d{5,12})\b"):  # `docker inspect`
        yield hit.states(SharedMemory, total=int(hit["total"]))
    for hit in text.each(r"^\S{1,40} /dev/shm tmpfs [^\n ]{0,200}?\bsize=(?P<total>\d{1,12}[kKmMgG]?)\b"):
        if (total := size(hit["total"] + "B")) is not None:
            yield hit.states(SharedMemory, total=total)
    for hit in text.each(
        r"^[^\n]{0,40}?(?:shm|tmpfs|none|overlay) {1,40}(?P<total>\d[\d.]{0,12}[KMGT]?i?) {1,40}\S{1,16} {1,40}(?P<free>\d[\d.]{0,12}[KMGT]?i?) {1,40}\d{1,3}% /dev/shm[ \t]*$"
    ):
        total, free = size(hit["total"], "k"), size(hit["free"], "k")
        if total is not None and free is not None:
            yield hit.states(SharedMemory, total=total, free=free)


@reads(DeviceRules, inputs=[File("/sys/fs/cgroup/devices/devices.list")], marks=("c *:* m", "b *:* m"))
def device_rules(text: Text) -> Statements:
    """`c 195:255 rw`: devices that the group may open; `c *:* m` lets make nodes only."""
    hits = list(text.each(r"^(?P<rule>[abc] (?:\*|\d{1,5}):(?:\*|\d{1,8}) [rwm]{1,3})$"))
    if hits:
        yield hits[0].states(DeviceRules, allowed=[hit["rule"] for hit in hits])


@reads(inputs=[Listing("/home/*"), Listing("/workspace")], marks=(" /home/",), adds=(Folder,))
def home_owners(text: Text) -> Statements:
    """Whose the home folders are."""
    for hit in text.each(
        r"^d[rwxsStT-]{9}[+.@]? +\d{1,5} +(?P<owner>\S{1,40}) +\S{1,40} +(?:\d|[^\n]{1,60} )[^\n]{0,40}?(?P<path>/(?:home/[\w.@-]{1,60}(?:/[\w.-]{1,40})?|workspace))/?$"
    ):
        yield hit.states(Folder, path=hit["path"], owner=hit["owner"])
