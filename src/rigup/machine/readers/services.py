"""Services and what they are given; what login shells are given; groups."""

from collections.abc import Iterator

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Group, Service, Variable
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.values import Draft, says
from rigup.machine.texts import Text

_ASSIGNED = lazy_regex(r"\"(?P<double>(?:[^\"\\\n]|\\.){1,1000})\"|'(?P<single>[^'\n]{1,1000})'|(?P<bare>[^\s\"']\S{0,1000})")
_NAME = lazy_regex(r"[A-Za-z_]\w{0,60}")

# Services that have to do with GPUs, by their units' names.
_NAMES = (
    "ollama",
    "docker",
    "containerd",
    "podman",
    "jupyter",
    "jupyterhub",
    "jupyterlab",
    "code-server",
    "nvidia-fabricmanager",
    "nvidia-persistenced",
    "nvidia-powerd",
    "nvidia-dcgm",
    "nvidia-suspend",
    "nvidia-resume",
    "nvidia-hibernate",
    "slurmd",
    "vllm",
    "llama-server",
    "llamacpp",
    "comfyui",
    "open-webui",
    "localai",
    "text-generation-webui",
    "lightdm",
    "gdm",
    "switcheroo-control",
)
NAMED = "{" + ",".join(_NAMES) + "}.service"
_UNITS = ("/etc/systemd/system/", "/run/systemd/system/", "/usr/local/lib/systemd/system/", "{HomeFolder.path}/.config/systemd/user/")
_DEFAULTS = "/etc/{default,sysconfig}/{ollama,docker,jupyter,jupyterhub,vllm,llama-server,slurmd}"
_UNIT_NAME = lazy_regex(r"/(?P<name>[\w@.\\-]{1,80}?)\.service(?:\.d/[^/]{1,100})?\Z")
_WORK = lazy_regex(
    r"python|conda|ollama|llama|vllm|jupyter|comfy|docker|podman|nvidia|cuda|rocm|hip|webui|triton|torch|slurm|stable-diffusion|kobold|lmstudio|lms\b"
)
_RC = "{.bashrc,.bash_profile,.profile,.bash_login,.zshrc,.zshenv,.zprofile,.config/fish/config.fish}"


@reads(
    Variable,
    Service,
    inputs=[
        *(File(folder + "{*.service,*.service.d/*.conf}", process="unit") for folder in _UNITS),
        File("/{usr/,}lib/systemd/system/" + NAMED, process="unit"),
        File("/{usr/,}lib/systemd/system/{ollama,jupyterhub,docker}.service.d/*.conf", process="unit"),
    ],
    marks=("[Service]", "\nExecStart="),
    whole=r"^\[Install\]",
    process="unit",
)
def unit(text: Text) -> Statements:
    """A unit names every variable that its service will get, and who runs it."""
    for hit in text.each(r"^[ \t]{0,8}Environment=(?P<words>(?:[^\\\n]|\\[\s\S]){1,8000})"):
        yield from _assignments(text, hit.match.start("words"), hit["words"].replace("\\\n", "  "))
    name = _UNIT_NAME.search(text.source)
    fields = {"User": "user", "SupplementaryGroups": "groups", "ExecStart": "command"}
    found = {hit["key"]: hit for hit in text.each(r"^[ \t]{0,8}(?P<key>User|SupplementaryGroups|ExecStart)=(?P<value>[^\n]{1,600})$")}
    ours = name and (name["name"] in _NAMES or any(_WORK.search(hit["value"].lower()) for hit in found.values()))
    if name and (ours or ".service.d/" in text.source):
        draft = Draft(text, Service, next((hit.start for hit in found.values()), 0))
        draft.add("name", name["name"])
        for key, hit in found.items():
            value = hit["value"].strip()
            draft.add(fields[key], value.split() if key == "SupplementaryGroups" else value, hit.start)
        yield from draft.facts()


@reads(
    inputs=[File(_DEFAULTS, process="unit"), File("/etc/{ollama,vllm,llama}/{env,environment,ollama.env,vllm.env}", process="unit")],
    adds=(Variable,),
    process="unit",
)
def unit_environment(text: Text) -> Statements:
    """A file that a unit takes its variables from: NAME=value, a line each."""
    for hit in text.each(r"^(?:export )?(?P<name>[A-Za-z_]\w{1,60})=(?P<value>[^\n]{0,1000})$"):
        yield hit.states(Variable, name=hit["name"], value=_unquote(hit["value"]))


def _assignments(text: Text, start: int, words: str) -> Iterator[Variable]:
    """`"A=b c" D=e`: several to a line, each quoted or not."""
    for match in _ASSIGNED.finditer(words):
        assignment = match["double"] or match["single"] or match["bare"]
        name, sign, value = assignment.partition("=")
        if sign and _NAME.fullmatch(name):
            yield from says(text, Variable, start + match.start(), name=name, value=value.strip("\"'"))


@reads(inputs=[Listing("/sys/fs/cgroup/{,systemd/}system.slice/" + name + ".service") for name in _NAMES[:12]], adds=(Service,))
def running(text: Text) -> Statements:
    """A service has a control group for as long as it runs."""
    for hit in text.each(r"/system\.slice/(?P<name>[\w@.-]{1,80}?)\.service$"):
        yield hit.states(Service, name=hit["name"], running=True)


@reads(
    inputs=[Listing("/etc/systemd/system/*.target.wants/" + NAMED), Listing("/etc/systemd/system/*.service.requires/" + NAMED)],
    adds=(Service,),
)
def enabled(text: Text) -> Statements:
    """A service that is started with the machine is linked from a target."""
    for hit in text.each(r"/etc/systemd/system/[\w@.-]{1,80}/(?P<name>[\w@.-]{1,80}?)\.service(?: -> \S{1,200})?$"):
        yield hit.states(Service, name=hit["name"], enabled=True)


@reads(
    inputs=[
        File("{HomeFolder.path}/" + _RC, process="shell"),
        File("/etc/{profile,bash.bashrc,bashrc,zsh/zshenv}", process="shell"),
        File("/etc/profile.d/*.sh", process="shell"),
    ],
    adds=(Variable,),
    process="shell",
    rank=0,
)
def shell_files(text: Text) -> Statements:
    """`export NAME=value`: what the next login shell gets. What is in force in this one counts more."""
    for line in text.each(r"^[ \t]{0,16}(?:export|declare -x|typeset -x)[ \t]{1,4}(?P<words>[A-Za-z_]\w{0,60}=[^\n]{0,1000})$"):
        for name, value in _exports(line["words"]):
            yield line.states(Variable, name=name, value=value, **_file_of(text))
    for line in text.each(
        r"^[ \t]{0,16}set (?:-[a-zA-Z]{1,4} |--\w{1,12} ){0,3}(?:-gx|-Ux|-x|-xg|-xU|--export) (?P<name>[A-Za-z_]\w{0,60}) (?P<value>[^\n]{0,600})$"
    ):
        yield line.states(Variable, name=line["name"], value=_unquote(line["value"]), **_file_of(text))


def _file_of(text: Text) -> dict[str, str]:
    """The file that a text is of, where it is one of a machine and no paste."""
    return {"file": text.source} if text.source.startswith("/") else {}


def _exports(words: str) -> Iterator[tuple[str, str]]:
    """The assignments of one export, as far as a shell's rules for quotes and comments tell without running it."""
    import shlex

    try:
        split_words = shlex.split(words.partition(" #")[0].partition(";")[0], posix=True)
    except ValueError:
        split_words = words.split()
    for word in split_words:
        name, sign, value = word.partition("=")
        if sign and _NAME.fullmatch(name) and "$(" not in value and "`" not in value:
            yield name, value


@reads(
    inputs=[
        File("/etc/environment", process="shell"),
        File("/etc/environment.d/*.conf", process="shell"),
        File("{HomeFolder.path}/.config/environment.d/*.conf", process="shell"),
    ],
    adds=(Variable,),
    process="shell",
    rank=0,
)
def login_environment(text: Text) -> Statements:
    """NAME=value, for every login."""
    for hit in text.each(r"^(?:export )?(?P<name>[A-Za-z_]\w{0,60})=(?P<value>[^\n]{0,1000})$"):
        yield hit.states(Variable, name=hit["name"], value=_unquote(hit["value"]), **_file_of(text))


def _unquote(value: str) -> str:
    plain = value.strip()
    return plain[1:-1] if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'" else plain


@reads(Group, inputs=[File("/etc/group")])
def groups(text: Text) -> Statements:
    """`render:x:993:ada,bob`: members count from their next login on."""
    for hit in text.each(r"^(?P<name>[a-z_][\w.-]{0,40}):[^:\n]{0,20}:(?P<gid>\d{1,10}):(?P<members>[^\n]{0,2000})$"):
        members = [name for name in hit["members"].strip().split(",") if name]
        if members or hit["name"] in ("render", "video", "docker", "kvm", "root"):
            yield hit.states(Group, name=hit["name"], gid=int(hit["gid"]), members=members)
