"""Several questions to torch or TensorFlow and to Python in one line, and their answers in the next: `print(torch.__version__, torch.cuda.is_available())`."""

import re
from collections.abc import Iterator
from typing import TypeAlias

from rigup.knowledge.gpus import one_gpu
from rigup.machine.facts import Fact
from rigup.machine.kinds import Gpu, JupyterKernel, PythonEnv, TensorFlow, Torch
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.executables import prefix_of
from rigup.machine.readers.rocm_smi import gfx
from rigup.machine.readers.values import platform_of
from rigup.machine.texts import Hit, Text

_TRUTH = r"True|False"
_PLAIN = r"[^\n]{0,160}?"  # an answer of which nothing is known
# A question, its answer, and the field of torch that it tells.
_QUESTIONS = (
    (r"torch\.__version__", r"\d{1,2}\.\d{1,2}\.\d{1,2}[\w.+]{0,40}", "version"),
    (r"torch\.version\.hip", r"None|\d{1,2}\.\d[\w.+-]{0,40}", "hip"),
    (r"torch\.version\.cuda", r"None|\d{1,2}\.\d{1,2}", "cuda"),
    (r"torch\.cuda\.is_available\(\)", _TRUTH, "available"),
    (r"torch\.cuda\.device_count\(\)", r"\d{1,3}", "devices"),
    (r"torch\.cuda\.get_arch_list\(\)", r"\[[^\]\n]{0,400}\]", "code"),
    (r"torch\.cuda\.get_device_properties\([^()]{0,12}\)\.gcnArchName", r"gfx[0-9a-f]{3,4}[\w:+-]{0,40}", "chip"),
    (r"torch\.cuda\.get_device_capability\([^()]{0,20}\)", r"\(?\d{1,2}, ?\d\)?", "capability"),
    (r"torch\.xpu\.is_available\(\)", _TRUTH, "xpu_available"),
    (r"torch\.backends\.mps\.is_built\(\)", _TRUTH, "mps_built"),
    (r"torch\.backends\.mps\.is_available\(\)", _TRUTH, "mps_available"),
    (r"torch\.cuda\.get_device_name\([^()]{0,20}\)", r"[A-Z][^\n\"',]{3,60}?", "name"),
    (r"platform\.machine\(\)", r"x86_64|arm64|aarch64|AMD64", "machine"),
    (r"platform\.python_version\(\)|sys\.version\.split\(\)\[0\]", r"3\.\d{1,2}\.\d{1,2}\w{0,6}", "release"),
    (r"sys\.version", r"3\.\d{1,2}\.\d{1,2}\w{0,6}\+? \([^\n]{4,120}\)? \[[^\]\n]{3,80}\]", "release"),
    (r"platform\.platform\(\)", r"[A-Z][\w.+-]{8,120}", "platform"),
    (r"sys\.executable", r"(?:/|[A-Z]:\\)[^\n'\"]{1,200}?python[\d.]{0,5}(?:\.exe)?", "python"),
)
Questions: TypeAlias = tuple[tuple[str, str, str], ...]
Answered: TypeAlias = tuple[Hit, dict[str, str], str]  # where, each field's answer, and the question for a card's name
_LOGGED = r"[^\n]{0,120}\.cc:\d{1,5}\][^\n]{0,600}|WARNING: ?[^\n]{1,300}|To enable the following instructions:[^\n]{0,300}|Skipping registering GPU devices\.{3}"
_WARNED = (
    r"(?:[^\n]{0,300}\.py:\d{1,6}: \w*Warning: [^\n]{0,1200}\n(?:[ \t]{2}[^\n]{0,200}\n)?|(?:" + _LOGGED + r")\n){0,12}"
)  # before what was printed
_LINE = (
    r"^(?:[^\n]{0,200}\bprint\((?P<printed>[^\n]{8,400})\)[\"';)]{0,3}|>>> (?P<typed>(?!import |from )[^\n=]{8,400}))[ \t]*\n"
    + _WARNED
    + r"[ \t]{0,4}\(?(?P<answer>[^\n]{2,600}?)\)?[ \t]*$"
)


@reads(adds=(Torch, Gpu, PythonEnv, JupyterKernel), marks=("torch.", "platform."), rank=0)
def answers_of_one_line(text: Text) -> Statements:
    """Each answer belongs to the question at the same place."""
    for hit, answers, named in in_one_line(text, _QUESTIONS):
        yield from _facts(hit, answers, named)


def in_one_line(text: Text, known: Questions) -> Iterator[Answered]:
    """The answers of a line that asks several questions, by the fields of a framework's questions."""
    for hit in text.each(_LINE):
        parts = _arguments(hit["printed"] or hit["typed"])
        told = _told(parts, hit["answer"], known) if 2 <= len(parts) <= 12 else None
        if told and told[0]:
            yield hit, *told


def _told(parts: list[str], answer: str, known: Questions) -> tuple[dict[str, str], str] | None:
    """What one line answers, and the question for a card's name; None where it doesn't fit the questions."""
    questions = [next((row for row in known if re.fullmatch(row[0], part)), None) for part in parts]
    form = r"[\s,'\"]{1,6}".join("(" + (row[1] if row else _PLAIN) + ")" for row in questions)
    match = re.fullmatch(r"['\"]?" + form + r"['\"]?", answer.strip())
    if not match:
        return None
    pairs = list(zip(questions, match.groups(), parts, strict=True))
    return {row[2]: value for row, value, _part in pairs if row}, next(
        (part for row, _value, part in pairs if row and row[2] == "name"), ""
    )


_ANSWERS = r"(?P<answers>(?:[^\n]{0,600}(?:\n|$)){1,6})"
_COMMAND = r"^(?P<typed>[^\n]{0,300}\bprint\([^\n]{4,400}\) ?;[^\n]{2,600}[\"')] ?)\n" + _ANSWERS
_SCRIPTS = (  # the same over several lines
    r"\bpython[\d.]{0,5} (?:-u )?-c (?P<quote>[\"'])[ \t]*\n(?P<typed>(?:[^\n]{0,300}\n){0,12}?[^\n]{0,300})(?P=quote)[ \t]*\n" + _ANSWERS,
    r"\bpython[\d.]{0,5} (?:-u )?(?:- ?)?<<-? ?['\"]?(?P<tag>\w{1,12})['\"]?[ \t]*\n(?P<typed>(?:[^\n]{0,300}\n){1,14}?)(?P=tag)[ \t]*\n"
    + _ANSWERS,
)
_ASIDE = re.compile(r"\w*Warning: |^[ \t]{2,}\S|^[ \t]*$|^(?:" + _LOGGED + r")$")  # what Python warns of between the answers


@reads(adds=(Torch, Gpu, PythonEnv, JupyterKernel), marks=("torch.",), rank=0)
def answers_of_several_prints(text: Text) -> Statements:
    """`print(torch.__version__); print(torch.cuda.is_available())`: a line of answers for each print, whatever else is done there."""
    for hit, answers, named in in_several_prints(text, _QUESTIONS):
        yield from _facts(hit, answers, named)


def in_several_prints(text: Text, known: Questions) -> Iterator[Answered]:
    """The answers of several prints, by the fields of a framework's questions."""
    for hit in (hit for form in (_COMMAND, *_SCRIPTS) for hit in text.each(form)):
        answers, named = dict[str, str](), ""
        lines = [line for line in hit["answers"].splitlines() if not _ASIDE.search(line)]
        for printed, answer in zip(_print_arguments(hit["typed"]), lines, strict=False):
            parts = _arguments(printed)
            told = _told(parts, answer, known)
            if told is None or not parts:
                break
            answers, named = answers | told[0], told[1] or named
        if answers:
            yield hit, answers, named


_TENSORFLOW = (
    (r"(?:tf|tensorflow)\.(?:__version__|version\.VERSION)", r"\d{1,2}\.\d{1,2}\.\d{1,2}[\w.+-]{0,20}", "version"),
    (r"(?:tf|tensorflow)\.test\.is_built_with_cuda\(\)", _TRUTH, "built"),
    (r"(?:tf|tensorflow)\.test\.is_gpu_available\([^()]{0,40}\)", _TRUTH, "available"),
    (r"len\((?:tf|tensorflow)\.config\.(?:experimental\.)?list_physical_devices\([\"']GPU[\"']\)\)", r"\d{1,3}", "count"),
    (r"(?:tf|tensorflow)\.config\.(?:experimental\.)?list_physical_devices\([\"']GPU[\"']\)", r"\[[^\n]{0,600}?\]", "seen"),
)


@reads(adds=(TensorFlow,), marks=("tf.", "tensorflow."), rank=0)
def answers_of_tensorflow(text: Text) -> Statements:
    """`print(tf.__version__, tf.test.is_built_with_cuda(), tf.config.list_physical_devices('GPU'))`, in any order and in several prints."""
    for hit, told, _named in (*in_one_line(text, _TENSORFLOW), *in_several_prints(text, _TENSORFLOW)):
        fields: dict[str, object] = {"version": told["version"]} if "version" in told else {}
        if "built" in told:
            fields["built_with_cuda"] = told["built"] == "True"
        if "count" in told or "seen" in told:
            fields["gpus"] = int(told["count"]) if "count" in told else told["seen"].count("PhysicalDevice(")
        elif told.get("available") == "False":
            fields["gpus"] = 0
        if fields:
            yield hit.states(TensorFlow, **fields)


def _print_arguments(typed: str) -> Iterator[str]:
    """What stands in the brackets of each `print(…)`."""
    for start in re.finditer(r"\bprint\(", typed):
        depth = 1
        for at in range(start.end(), len(typed)):
            depth += (typed[at] == "(") - (typed[at] == ")")
            if not depth:
                yield typed[start.end() : at]
                break


def _arguments(text: str) -> list[str]:
    """What stands between commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip() and not part.strip().startswith("sep=")]


_WORDS = {"True": True, "False": False, "None": None}
_BESIDE = ("name", "chip", "capability", "machine", "platform", "python", "release")  # what is no field of torch's
_CELL = re.compile(r"[ \t]*In ?\[\d{1,4}\]:")
_CELL_GOES_ON = re.compile(r"[ \t]{4}|[ \t]*\.\.\.:")
_MOST_LINES = 12  # of a cell, above the one that prints


def _facts(hit: Hit, answers: dict[str, str], named: str) -> Iterator[Fact]:
    """The facts; `named` is the question for a card's name, whose number is the runtime's."""
    torch: dict[str, object] = {key: _WORDS.get(value, value) for key, value in answers.items() if key not in _BESIDE}
    if "devices" in torch:
        torch["devices"] = int(answers["devices"])
    if "code" in torch:
        torch["code"] = re.findall(r"\w+", answers["code"])
    prefix = prefix_of(answers.get("python", ""))
    if torch:
        yield hit.states(Torch, **torch, **({"env": prefix} if prefix else {}))
    if prefix:
        yield _interpreter(hit, answers["python"], prefix)
    digits = re.findall(r"\d+", answers.get("capability", ""))
    rocm = torch.get("hip") or re.search(r"(?i)rocm|\bgfx\d|\bradeon\b", hit.text.body)  # HIP makes such a number up
    if digits and not rocm and "name" not in answers:
        yield hit.states(Gpu, vendor="nvidia", isa="sm_" + "".join(digits))
    if row := one_gpu(answers.get("name", "")):
        index = re.search(r"\((?:['\"]?cuda:)?(\d{1,2})?['\"]?\)\Z", named)
        number = {"runtime_index": int(index[1] or 0)} if index else {}
        yield hit.states(Gpu, name=answers["name"], vendor=row.vendor, **number, **({"isa": row.isa} if row.isa else {}))
    if chip := gfx(answers.get("chip", "")):
        yield hit.states(Gpu, vendor="amd", shown_isa=chip)
    if answers.get("machine") in ("x86_64", "arm64"):
        release = {"version": answers["release"].split()[0].rstrip("+")} if "release" in answers else {}
        yield hit.states(PythonEnv, machine=answers["machine"], **release)
    if "platform" in answers:
        yield from platform_of(hit.text, hit.start, answers["platform"])


def _interpreter(hit: Hit, python: str, prefix: str) -> Fact:
    """A notebook's kernel, or the environment in force."""
    if _in_a_cell(hit):
        return hit.states(JupyterKernel, name="notebook", python=python, prefix=prefix)
    return hit.states(PythonEnv, prefix=prefix, active=True)


def _in_a_cell(hit: Hit) -> bool:
    """Whether a notebook's cell was typed there, in one line or in several."""
    body = hit.text.body
    lines = [body[hit.start :].partition("\n")[0], *reversed(body[: hit.start].splitlines()[-_MOST_LINES:])]
    for line in lines:
        if _CELL.match(line):
            return True
        if not _CELL_GOES_ON.match(line):
            return False
    return False
