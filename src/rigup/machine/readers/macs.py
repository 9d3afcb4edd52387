"""What torch answers about MPS, and which kind of Mac it runs on."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Cpu, Platform, PythonEnv, Torch, World
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Text

# The answer stands behind the question on its line, or on the next one.
_ANSWER = r"[^\n]{0,24}?(?:\n[^\n]{0,20}?)?(?<=[\s:=?#>)\"'}])(?P<value>True|False)\b"
_TRUTH = lazy_regex(r"\b(?:True|False)\b")
_QUESTIONS = {
    "mps_built": r"(?:mps\.is_built\(\)|\bMPS[^\n]{0,50}\b(?:built|compiled)|\bmps[_ ](?:is_)?built)",
    "mps_available": r"(?:mps\.is_available\(\)|\b(?:MPS|mps)[^\n]{0,30}\bavailable|\bmps_is_available|\bmps[_ ]available)",
}


@reads(adds=(Torch,), marks=("mps", "MPS"), rank=0)
def mps_answers(text: Text) -> Statements:
    """`torch.backends.mps.is_available()` and its answer, also as people print it: `MPS available: False`."""
    asked = sorted(spot for mark in ("mps", "MPS") for spot in text.spots(mark))
    spots = [spot for spot in asked if _TRUTH.search(text.body, spot, spot + 160)]
    for field, question in _QUESTIONS.items():
        for hit in text.near(question + _ANSWER, spots, lines=2):
            line = text.where(hit.start).text
            if not ("is_built" in line and "is_available" in line):  # two questions in one line have two answers in the next
                yield hit.states(Torch, **{field: hit["value"] == "True"})


@reads(adds=(Platform,), marks=("macOS",), rank=0)
def system_as_written(text: Text) -> Statements:
    """`- macOS 14.5`, "OS: `macOS 26.2`": a line of somebody's own list. What a message asks for (14.0+) is not what is there."""
    for hit in text.near(
        r"^[ \t>*|•-]{0,8}(?:(?:OS|System|Operating [Ss]ystem|Platform|macOS [Vv]ersion)[ *`]{0,4}:)?[ *`]{0,4}macOS[ :*`]{1,4}(?P<version>\d{2}\.\d{1,2}(?:\.\d{1,2})?)(?![\d+]|\.\d)",
        text.spots("macOS"),
    ):
        yield hit.states(Platform, system="macos", version=hit["version"])


_NAMES = r"Big Sur|Monterey|Ventura|Sonoma|Sequoia|Tahoe"
_WISH = r"(?i:requir|support|need|minim|newer|later|since|built|target|only|at least|error|older|above|higher|from|before|until|prior|beta)"


@reads(adds=(Platform,), marks=("MacOS", "Mac OS", "macOS", *_NAMES.split("|")), rank=0)
def system_in_prose(text: Text) -> Statements:
    """`MacBook Pro with Ventura 13.7 (22H123)`, `M3 Pro, MacOS 14.4.1`: what a line says that asks for nothing."""
    for hit in text.near(
        r"^(?![^\n]{0,200}"
        + _WISH
        + r")[^\n]{0,60}?\b(?:[Mm]ac ?OS(?: X)?(?: (?:"
        + _NAMES
        + r"))?|"
        + _NAMES
        + r")(?: [Vv]ersion)?[ :*`(]{1,4}"
        r"(?P<version>1[1-5]\.\d{1,2}(?:\.\d{1,2})?|26\.\d(?:\.\d{1,2})?)(?![\d+x]|\.[\dx])[^\n]{0,80}$",
        sorted(spot for mark in ("acOS", "ac OS", *_NAMES.split("|")) for spot in text.spots(mark)),
    ):
        yield hit.states(Platform, system="macos", version=hit["version"])


@reads(adds=(Cpu,), marks=("CPU:\n", "CPU: Apple", "chip: Apple", "Chip: Apple", "Processor: Apple", "device set to: Apple"), rank=0)
def chip_of_report(text: Text) -> Statements:
    """collect_env on a Mac: `CPU:` and the chip's name on the next line; `Metal device set to: Apple M1 Pro` of TensorFlow's plugin."""
    for hit in text.each(
        r"(?:^[> \t]{0,8}(?:CPU|[Cc]hip|Processor):[ \t]{0,8}\n?[> \t]{0,8}|\bMetal device set to: )(?P<model>Apple M\d{1,2}(?: (?:Pro|Max|Ultra))?)[ \t]*$"
    ):
        yield hit.states(Cpu, model=hit["model"])


_LONGER = r"[\w-]|\.\w| ?(?i:pro|max|ultra)\b"  # a name's end is not its middle: of "M1 Pro." no "M1"
_LISTED = (
    r"^[ \t>*|•-]{0,8}(?:(?:[Hh]ardware|[Dd]evice|[Mm]achine|Mac|[Cc]omputer|[Ss]ystem|GPU|OS)[ *]{0,3}[:=]|macOS \d|Mac[Bb]ook|Mac (?:mini|Studio|Pro))"
    r"[^\n]{0,60}?(?P<model>(?:Apple )?M[1-9](?: ?(?:Pro|Max|Ultra))?)\b(?!" + _LONGER + r")"
    r"|^[ \t>*|•-]{0,8}(?P<first>(?:Apple )?M[1-9](?: ?(?:Pro|Max|Ultra))?) (?:Mac\b|Mac[Bb]ook)"
)


@reads(adds=(Cpu,), marks=("Apple M", "(M", " M1", " M2", " M3", " M4", " M5", "M1 Mac", "M2 Mac", "M3 Mac", "M4 Mac", "M5 Mac"), rank=0)
def chip_as_written(text: Text) -> Statements:
    """`- macOS 26.2 (Build 25C56), Apple M3`, `MacBook Air (M2)`: a line of somebody's own list."""
    for hit in text.near(
        _LISTED, sorted({*text.spots("Apple M"), *(spot for n in "12345" for spot in text.spots("M" + n)), *text.spots("(M")})
    ):
        model = re.sub(r"(?<=M\d)(?=[PMU])", " ", hit["model"] or hit["first"])
        yield hit.states(Cpu, model=model if model.startswith("Apple") else "Apple " + model)


_IN_WORDS = (
    r"(?i)\b(?:mac ?book(?: (?:pro|air))?|i?mac(?: (?:mini|studio|pro))?)(?:[ ,(-]{1,3}|,? (?:with|avec|mit|con|на|с)(?: an?| the| einem| un| une)? )"
    r"(?:apple )?(?P<model>m[1-9](?: ?(?:pro|max|ultra))?)\b(?!" + _LONGER + r")"
)


@reads(adds=(Cpu,), marks=tuple(" " + letter + number for letter in "Mm" for number in "12345"), rank=-1)
def chip_in_words(text: Text) -> Statements:
    """`how do I install it on a macbook pro m1 pro (16gb)?`: where the text names one chip only."""
    hits = list(text.near(_IN_WORDS, sorted(at for n in "12345" for letter in "Mm" for at in text.spots(" " + letter + n))))
    chips = {re.sub(r"(?<=\d)(?=[PMU])", " ", hit["model"].title()) for hit in hits}
    if len(chips) == 1:
        yield hits[0].states(Cpu, model="Apple " + chips.pop())


@reads(adds=(PythonEnv,), marks=("osx-64", "osx-arm64", "macosx_", "platform.machine()"), rank=0)
def python_of_conda(text: Text) -> Statements:
    """`platform : osx-64` of `conda info`; `platform.machine()` and its answer."""
    for hit in text.each(r"^[ \t]{0,30}platform : osx-(?P<machine>64|arm64)[ \t]*$"):
        yield hit.states(PythonEnv, machine="x86_64" if hit["machine"] == "64" else "arm64")
    for hit in text.each(
        r"platform\.machine\(\)[^\n]{0,12}[ \t]*\n?[ \t]{0,8}(?:# ?)?(?:Out ?\[\d{1,4}\]: ?)?(?:(?P<version>3\.\d{1,2}\.\d{1,2}) )?['\"]?(?P<machine>x86_64|arm64)['\"]?[ \t]*$"
    ):
        yield hit.states(PythonEnv, **hit.found())


@reads(adds=(World, Platform), marks=("linuxkit", "orbstack"), rank=0)
def container_of_kernel(text: Text) -> Statements:
    """The kernels of Docker Desktop's and OrbStack's virtual machines: what runs on them is in a container."""
    for hit in text.each(r"\b(?P<release>\d{1,2}\.\d{1,3}\.\d{1,3}[\w.-]{0,40}?-(?:linuxkit|orbstack))\b(?P<machine>-aarch64|-x86_64)?"):
        yield hit.states(World, container="docker")
        yield hit.states(Platform, system="linux", release=hit["release"])
        if hit["machine"]:
            yield hit.states(Platform, architecture=hit["machine"].strip("-"))


@reads(adds=(Platform, PythonEnv), marks=("mac_ver(", "Mach-O", "uname -m"), rank=0)
def single_answers(text: Text) -> Statements:
    """`platform.mac_ver()`, `file $(which python3)` and `uname -m`, each with its answer."""
    for hit in text.each(
        r"mac_ver\(\)(?:\[0\])?\)?[\"']?[ \t]*\n(?:Out ?\[\d{1,4}\]: ?)?[ \t]*\(?['\"]?(?P<version>\d{2}(?:\.\d{1,2}){1,2})\b[^\n]{0,60}$"
    ):
        yield hit.states(Platform, system="macos", version=hit["version"])
    for hit in text.each(r"(?P<folder>/bin/)?\bpython[\d.]{0,5}: {1,4}Mach-O 64-bit executable (?P<machine>x86_64|arm64)[ \t]*$"):
        if not hit["folder"]:  # of one with its path another reader tells more
            yield hit.states(PythonEnv, machine=hit["machine"])
        yield hit.states(Platform, system="macos")
    for hit in text.each(r"\buname -m[ \t]*\narm64[ \t]*$"):  # Linux says aarch64
        yield hit.states(Platform, system="macos", architecture="arm64")
