"""pip was told to look in torch's index only."""

from rigup.diagnosis.rule import Params, Verdict, mends, rule, seen, text_rule
from rigup.machine.kinds import Symptom

_BESIDE = (
    "numpy",
    "pillow",
    "typing-extensions",
    "requests",
    "filelock",
    "jinja2",
    "networkx",
    "sympy",
    "fsspec",
    "setuptools",
    "packaging",
)


@rule("pip-index-url-hides-pypi")
def asked_one_index_for_all(
    index: Symptom = seen("pip-single-index", "index-url-of-torch"),
    missing: Symptom = seen("pip-no-match-for-plain-package", "uv-no-match-on-single-index"),
) -> Verdict:
    """An index of torch's builds has nothing else."""
    return {"index": index.get("index"), "package": missing.get("package")}


@text_rule("pip-index-url-hides-pypi", "likely")
def index_of_builds_has_other_releases(
    symptom: Symptom = seen("pip-no-version"), index: Symptom = seen("pip-single-index"), builds: Symptom = seen("pip-looks-in")
) -> Verdict:
    """torch's index keeps some releases of what torch stands on, and not the one that is wanted."""
    plain = str(symptom.get("name")).lower() in _BESIDE and symptom.get("offered", "none") != "none"
    return plain and {"index": index.get("index"), "package": symptom.name, "said": builds.id}


@text_rule("pip-index-url-hides-pypi")
def uv_takes_what_the_first_index_has(symptom: Symptom = seen("uv-found-it-on-an-index-before")) -> Verdict:
    """uv takes a package from the first index that has it, whatever releases the others have."""
    return {"first": symptom.get("from"), "wanted": symptom.wanted}


@mends("pip-index-url-hides-pypi")
def index_for_torch_alone(
    knew: Params, pip: Symptom | None = seen("uv-pip-is-typed"), project: Symptom | None = seen("uv-project-at-work")
) -> Params:
    """A project names the index and asks it for torch alone; `uv pip` has an option."""
    first = str(knew.get("first") or "").rstrip("/")
    if not first:
        return {}
    if pip is not None and project is None:
        return {"strategy": "unsafe-best-match"}
    return {"only": first, "name": ("pytorch-" if "pytorch.org" in first else "index-") + first.rpartition("/")[2]}
