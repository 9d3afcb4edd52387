"""Python environments and the packages in them, from files and their names alone: nothing is imported or run."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import HomeFolder, Package, PythonEnv, Torch
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Text

_DRIVE = lazy_regex(r"[A-Za-z]:")
_SIGNS = lazy_regex(r"[_.]+")

# Packages that have to do with what runs on a GPU; all others are nobody's business here.
_PACKAGE = lazy_regex(
    r"torch(?:-?\w{1,30}){0,2}|pytorch[\w-]{0,40}|triton[\w-]{0,40}|nvidia-[\w.-]{2,60}|cuda-[\w.-]{2,60}|cudatoolkit|cudnn|cupy[\w-]{0,30}|"
    r"rocm[\w-]{0,60}|amd-?smi[\w-]{0,20}|tensorflow[\w-]{0,40}|tensorrt[\w-]{0,40}|tf-nightly[\w-]{0,20}|keras|jax(?:lib)?|jax-[\w-]{2,60}|"
    r"onnxruntime[\w-]{0,40}|ort-[\w-]{2,30}|flash-attn[\w-]{0,10}|bitsandbytes[\w-]{0,20}|vllm[\w-]{0,20}|sglang|lmcache|xformers|"
    r"llama-cpp-python|xllamacpp|ctransformers|exllamav\d|auto-?gptq|autoawq|deepspeed|apex|transformer-engine[\w-]{0,20}|lightning|"
    r"pytorch-lightning|intel-extension-for-pytorch|openvino|ipex-llm|intel-sycl-rt|intel-cmplr-[\w-]{2,30}|mkl|mkl-dpcpp|dpcpp-cpp-rt|oneccl[\w-]{0,30}|"
    r"fbgemm-gpu[\w-]{0,20}|mlx[\w-]{0,20}|ctranslate2|faster-whisper|numba[\w-]{0,10}|numpy|accelerate|transformers|diffusers|ipykernel|"
    r"cpuonly|libtorch|onnx|magma-cuda\d{0,4}|nccl|hip[\w-]{0,30}|dgl[\w-]{0,20}|spconv-cu\d{2,4}|paddlepaddle[\w-]{0,20}|mmcv[\w-]{0,10}"
)
_SITE = "/lib{,64}/python3*/{site,dist}-packages/"
_WINDOWS = "/Lib/site-packages/"
_CONDAS = "{miniconda3,anaconda3,miniforge3,mambaforge,micromamba,.conda}"
# Where a packages folder lies, its environment's prefix before it.
_PREFIX = lazy_regex(r"(?P<prefix>[^\s'\"]{0,300}?)/(?:lib(?:64)?/python(?P<python>3(?:\.\d{1,2})?t?)|Lib)/(?:site|dist)-packages/")
_LINE = r"^[^\n]{0,120}?(?P<path>(?:[A-Za-z]:)?/[^\n]{0,300}?)(?: -> [^\n]{0,200})?$"


@reads(
    PythonEnv,
    inputs=[
        File("{HomeFolder.path}/{.venv,venv,env,*,.virtualenvs/*,.venvs/*,venvs/*,envs/*}/pyvenv.cfg"),
        File("/opt/*/pyvenv.cfg"),
        File("/{venv,app/.venv,app/venv,workspace/.venv,workspace/venv,.venv}/pyvenv.cfg"),
    ],
)
def pyvenv(text: Text) -> Statements:
    """`home = /usr/bin`, `version = 3.11.4`: a virtual environment and the interpreter below it."""
    prefix = text.source.rpartition("/")[0]
    lines = {hit["key"].lower(): hit for hit in text.each(r"^(?P<key>home|version|version_info|executable) ?= ?(?P<value>[^\n]{1,300})$")}
    if not lines or not prefix:
        return
    draft = Draft(text, PythonEnv, next(iter(lines.values())).start)
    draft.add("prefix", prefix)
    draft.add("kind", "venv")
    if hit := lines.get("home"):
        draft.add("base", re.sub(r"/bin/?$", "", hit["value"].strip()), hit.start)
    for key in ("version", "version_info"):
        if key in lines and (match := re.match(r"3\.\d{1,2}(?:\.\d{1,3})?", lines[key]["value"])):
            draft.add("version", match[0], lines[key].start)
    yield from draft.facts()


@reads(
    PythonEnv,
    inputs=[
        Listing("{HomeFolder.path}/" + _CONDAS + "{,/envs/*}/conda-meta"),
        Listing("/opt/" + _CONDAS.replace(".conda", "conda") + "{,/envs/*}/conda-meta"),
    ],
)
def conda_folders(text: Text) -> Statements:
    """Every environment of conda has a folder conda-meta."""
    for hit in text.each(r"(?P<prefix>/[^\n]{1,300}?)/conda-meta$"):
        yield hit.states(PythonEnv, prefix=_path(hit["prefix"]), kind="conda")


@reads(PythonEnv, inputs=[File("{HomeFolder.path}/.conda/environments.txt")])
def conda_list(text: Text) -> Statements:
    """Where conda has made environments, a path a line."""
    for hit in text.each(r"^(?P<prefix>(?:[A-Za-z]:[\\/]|/)[^\n]{1,300}?)\s*$"):
        yield hit.states(PythonEnv, prefix=hit["prefix"], kind="conda")


@reads(
    PythonEnv,
    inputs=[
        Listing("/usr/{,local/}lib{,64}/python3*/{site,dist}-packages"),
        Listing("{HomeFolder.path}/{.local,.pyenv/versions/*}/lib/python3*/site-packages"),
    ],
)
def packages_folders(text: Text) -> Statements:
    """The system's own packages, and those that a user put beside them."""
    for hit in text.each(r"(?P<prefix>/[^\n]{1,300}?)/lib(?:64)?/python(?P<version>3(?:\.\d{1,2}t?)?)/(?:site|dist)-packages$"):
        prefix = _path(hit["prefix"])
        kind = "user" if prefix.endswith("/.local") else "system"
        known = {"version": hit["version"]} if "." in hit["version"] else {}
        yield hit.states(PythonEnv, prefix=prefix, kind=kind, **known)


@reads(
    Torch,
    inputs=[
        File("{PythonEnv.prefix}" + _SITE + "torch/version.py"),
        File("{PythonEnv.prefix}" + _WINDOWS + "torch/version.py"),
        File("{HomeFolder.path}/*" + _SITE + "torch/version.py"),
        File("{Proof.env}" + _SITE + "torch/version.py"),
        File("{Proof.env}" + _WINDOWS + "torch/version.py"),
    ],
    marks=("cuda: Optional[str]", "hip: Optional[str]", "git_version: Optional[str]"),
    rank=2,
)
def torch_version(text: Text) -> Statements:
    """`__version__ = '2.6.0+cu124'`, `cuda: Optional[str] = '12.4'`, `hip … = None`: what the build says of itself."""
    env = _PREFIX.search(text.source)
    form = r"^(?P<name>__version__|cuda|hip|xpu)(?:: ?[\w.\[\] |]{1,40})? ?= ?(?:['\"](?P<value>[^'\"\n]{1,80})['\"]|None)"
    fields = {hit["name"]: hit for hit in text.each(form)}
    if "__version__" not in fields or not fields["__version__"]["value"]:
        return
    draft = Draft(text, Torch, fields["__version__"].start)
    draft.add("env", env["prefix"] or "/" if env else None)
    draft.add("version", fields["__version__"]["value"])
    for name in ("cuda", "hip"):
        if name in fields and fields[name]["value"]:
            draft.add(name, fields[name]["value"], fields[name].start)
        else:  # old releases do not speak of hip at all
            draft.lacks(name, fields[name].start if name in fields else None)
    yield from draft.facts()


@reads(
    inputs=[Listing("{PythonEnv.prefix}" + _SITE + "torch/_C.*"), Listing("{PythonEnv.prefix}" + _WINDOWS + "torch/_C.*")],
    adds=(Torch, PythonEnv),
)
def torch_extension(text: Text) -> Statements:
    """`torch/_C.cpython-311-x86_64-linux-gnu.so`: its name tells for which system it was built."""
    for hit in text.each(r"(?P<path>/[^\n]{1,400}/)torch/_C\.(?P<tag>cpython-\d{2,4}t?-[\w-]{4,40}|cp\d{2,4}-win_\w{3,8})\.(?:so|pyd)$"):
        env, platform = _PREFIX.search(hit["path"]), _platform(hit["tag"])
        if env and platform:
            yield hit.states(Torch, env=_path(env["prefix"]), platform=platform)
            if "-" in platform:
                yield hit.states(PythonEnv, prefix=_path(env["prefix"]), machine=platform.partition("-")[2])


def _platform(tag: str) -> str | None:
    """linux-x86_64 of an extension's tag; a Mac's does not tell the machine."""
    if match := re.search(r"-(x86_64|aarch64|powerpc64le|riscv64)-linux", tag):
        return "linux-" + match[1]
    if "win_" in tag:
        return "windows-" + {"amd64": "x86_64"}.get(tag.partition("win_")[2], tag.partition("win_")[2])
    return "macos" if "darwin" in tag else None


@reads(inputs=[File("{PythonEnv.prefix}" + _SITE + "torch-*.dist-info/WHEEL")], adds=(Torch, PythonEnv))
def torch_wheel(text: Text) -> Statements:
    """`Tag: cp311-cp311-macosx_11_0_arm64`."""
    env = _PREFIX.search(text.source)
    hit = text.first(
        r"^Tag: (?P<python>[\w.]{2,20})-[\w.]{2,20}-(?P<system>manylinux\w{0,30}?|linux|macosx|win)_(?:\d{1,2}_\d{1,2}_)?(?P<machine>x86_64|aarch64|arm64|amd64)\b"
    )
    if env and hit:
        system = {"macosx": "macos", "win": "windows"}.get(hit["system"], "linux")
        machine = {"amd64": "x86_64"}.get(hit["machine"], hit["machine"])
        yield hit.states(Torch, env=env["prefix"], platform=system + "-" + machine)
        yield hit.states(PythonEnv, prefix=env["prefix"], machine=machine)


@reads(
    Package,
    inputs=[Listing("{PythonEnv.prefix}" + _SITE + "*-*.dist-info"), Listing("{PythonEnv.prefix}" + _WINDOWS + "*-*.dist-info")],
    marks=(".dist-info",),
)
def dist_infos(text: Text) -> Statements:
    """`torch-2.6.0+cu124.dist-info`: a folder for each package, named by it."""
    for hit in text.each(r"(?P<path>/[^\n]{1,400}/)(?P<name>[A-Za-z][\w.]{0,80})-(?P<version>\d[\w.+!]{0,60})\.dist-info$"):
        name, env = _SIGNS.sub("-", hit["name"]).lower(), _PREFIX.search(hit["path"])
        if env and _PACKAGE.fullmatch(name):
            yield hit.states(Package, env=_path(env["prefix"]), name=name, version=hit["version"], manager="pip")


@reads(Package, inputs=[Listing("{PythonEnv.prefix}/conda-meta/*.json")], marks=("/conda-meta/",))
def conda_packages(text: Text) -> Statements:
    """`conda-meta/pytorch-2.5.1-py3.11_cuda12.4_cudnn9.1.0_0.json`: name, version, build."""
    for hit in text.each(
        r"(?P<prefix>/[^\n]{1,300})/conda-meta/(?P<name>[a-z0-9_.][\w.-]{0,80}?)-(?P<version>\d[\w.+!]{0,40}|v\d[\w.]{0,20})-(?P<build>[\w.+]{1,80})\.json$"
    ):
        prefix = _path(hit["prefix"])
        if hit["name"] == "python":
            yield hit.states(PythonEnv, prefix=prefix, kind="conda", version=hit["version"])
        elif _PACKAGE.fullmatch(hit["name"].replace("_", "-")):
            yield hit.states(Package, env=prefix, name=hit["name"], version=hit["version"], build=hit["build"], manager="conda")


@reads(HomeFolder, inputs=[Listing("/home/*")])
def home_folders(text: Text) -> Statements:
    """The home folder of a machine that has one; of several it is only known whose eyes see when somebody says so."""
    hits = list(text.each(r"^d[^\n]{0,100} (?P<path>/home/[\w.@-]{1,60})$"))
    if len(hits) == 1:
        yield hits[0].states(HomeFolder, path=hits[0]["path"], role="home")


def _path(shown: str) -> str:
    """A path at the end of a line of `ls -l`, of which only the start may hold more."""
    return shown[shown.find("/") :] if not _DRIVE.match(shown) else shown
