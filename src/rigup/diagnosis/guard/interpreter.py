"""Which Python a finding is about: the one whose packages failed, or that was typed."""

from rigup.diagnosis.findings import Finding
from rigup.diagnosis.rule import wordings
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Symptom
from rigup.machine.store import Facts

_EMBEDDED, _TYPED, _LOOKED_UP = "embedded-python-typed", "program-of-an-environment-typed", "python-looked-up"
_STARTER = "webui-names-its-environment"
_IN_AN_ENVIRONMENT = lazy_regex(r"(?<![\w.~-])(/[^\s\"\'`:,()<>]{1,200}?)/lib(?:64)?/python3(?:\.\d+)?/site-packages\b")
_IN_WINDOWS = lazy_regex(r"(?i)(?<![\w\\])([A-Z]:(?:\\{1,2}[\w.~+-]{1,80}){1,12}?)\\{1,2}Lib\\{1,2}site-packages\b")
_OF_A_BUILD = lazy_regex(r"/uv/builds-v\d+/|/\.tmp[^/]*$|/pip-(?:build-env|ephem|install|wheel)[-_\w]*(?:/|$)|/uv-build-env")
_VENV_FOLDER = lazy_regex(r"\.?v?env(?:[-_.]?[\w.-]{1,20})?|[\w-]{1,20}[-_.]v?env")
_TOOLS_FOLDER = lazy_regex(r"(?i)\\(?:uv\\tools|pipx\\venvs)\\[^\\]{1,80}")
_OWN_FOLDER = lazy_regex(
    r"(?i)conda\w{0,3}\\envs\\|(?:forge|conda|mamba)\w{0,3}$|\\python_embed\w{2,4}$|\\installer_files\\env$|\\system\\python$"
)
_SYSTEMS = lazy_regex(r"/(?:usr|usr/local|root/\.local|home/[^/]+/\.local)")
_SYSTEMS_PYTHON = wordings(tag="systems-python-typed")


def interpreter(finding: Finding, facts: Facts) -> str:
    """The Python that a finding is about, by the one folder of packages from which the finding's own lines, else all messages, come; the system's has a name of its own."""
    embedded = {str(symptom.get("python")) for symptom in facts.heard(_EMBEDDED)}
    whole = {path for path in embedded if path[1:2] == ":"} or embedded  # the whole path is meant by `.\…`, too
    if len(whole) == 1:
        python = whole.pop()
        return python if python.lower().endswith(".exe") else python + "\\python.exe"
    started = {_of_a_starter(symptom) for symptom in facts.heard(_STARTER)}
    if len(started) == 1:
        return started.pop()
    own = [str(line.value) for line in finding.evidence]
    every_line = [str(symptom.fields["id"].where.text or "") for symptom in facts.of(Symptom)]
    looked_up = [f"{_folder_of(symptom)}/lib/python3/site-packages" for symptom in facts.heard(_LOOKED_UP)]
    for lines in (own, looked_up, every_line):
        prefixes = {found for text in lines for found in _IN_AN_ENVIRONMENT.findall(text) if not _OF_A_BUILD.search(found)}
        if len(prefixes) == 1 and not _SYSTEMS.fullmatch(prefix := prefixes.pop()):
            return f"{prefix}/bin/python"
        windows = {_python_of_windows(found) for text in lines for found in _IN_WINDOWS.findall(text)}
        if len(windows) == 1 and (python := windows.pop()):
            return python
        if prefixes and lines is not looked_up:
            break
    typed = {typed for symptom in facts.heard(_TYPED) if (typed := _python_typed(str(symptom.get("program"))))}
    if len(typed) == 1:
        return typed.pop()
    systems = {str(symptom.get("python") or "python3") for symptom in facts.heard(*_SYSTEMS_PYTHON)}
    return "python" if not systems else systems.pop() if len(systems) == 1 else "python3"


def _folder_of(symptom: Symptom) -> str:
    return str(symptom.get("python")).rpartition("/bin/")[0]


def _of_a_starter(symptom: Symptom) -> str:
    """The interpreter of the environment that a program's own starter names."""
    folder = str(symptom.get("venv") or "").rstrip("\\/")
    return str(symptom.get("exe") or (f"{folder}\\Scripts\\python.exe" if "\\" in folder else f"{folder}/bin/python"))


def _python_typed(program: str) -> str:
    """The interpreter beside a program of an environment that is called by its path; "" for one of the system's."""
    folder, slash, _name = program.rpartition("\\" if "\\" in program else "/")
    if _SYSTEMS.fullmatch(folder.removesuffix("/bin")):
        return ""
    return f"{folder}{slash}python" + (".exe" if slash == "\\" else "")


def _python_of_windows(prefix: str) -> str:
    """A virtual environment has it in Scripts, conda's and an installation in their folder; "" where the name does not tell which it is."""
    prefix = prefix.replace("\\\\", "\\")
    folder = prefix.lower().rpartition("\\")[2]
    own = _OWN_FOLDER.search(prefix) or folder.startswith("python3")
    if not own and (_VENV_FOLDER.fullmatch(folder) or _TOOLS_FOLDER.search(prefix)):
        return prefix + "\\Scripts\\python.exe"
    return prefix + "\\python.exe" if own else ""
