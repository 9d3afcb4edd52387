"""DirectML uses the integrated graphics instead of the graphics card."""

import re

from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.gpus import one_gpu
from rigup.machine.kinds import Gpu, Symptom
from rigup.machine.names import same_name, words

_INSIDE = ("uhd graphics", "hd graphics", "iris", "radeon vega", "basic render")


def small(name: str) -> bool:
    """Whether a name is that of graphics inside a processor: by the catalogue, else by how makers call those."""
    row = one_gpu(name)
    if row is not None:
        return bool(row.integrated)
    low = name.lower().replace("(r)", "").replace("(tm)", "")
    if re.fullmatch(r"(?:intel arc|amd radeon \d{3}m)(?: graphics)?", low.strip()):
        return True
    return any(word in low for word in _INSIDE) or low.split("[")[0].strip() in ("amd radeon graphics", "radeon graphics")


@rule("directml-wrong-adapter", "likely")
def integrated_is_used_beside_a_card(used: Symptom = seen("directml-adapter-listed", tag="directml-used"), other: Gpu = one()) -> Verdict:
    """The adapter in use has no memory of its own, and a card is there that has. Of a list the first is used."""
    if used.get("index", "0") != "0":
        return False
    name = str(used.get("name")).strip()
    better = other.name if other.knows("name") else ""
    differs = bool(better) and (not any(words(name)) or not same_name(better, name))  # "AMD Radeon Graphics" tells no model
    return differs and small(name) and not other.get("integrated", small(better)) and {"used": name, "better": better}


@rule("directml-wrong-adapter", "likely")
def first_of_two_is_the_processors_own(
    where: Symptom = seen("directml-spoken-of", "directml-provider-spoken-of", "directml-imported", "directml-first-asked"),
    first: Gpu = one(runtime_index=0),
    other: Gpu = one(integrated=False),
    chosen: Symptom | None = seen(tag="directml-second-adapter"),
) -> Verdict:
    """Unless told otherwise a program takes the adapter with the first number, and nothing shows that another was asked for."""
    differs = other.get("runtime_index") != 0
    return chosen is None and differs and small(first.name) and {"used": first.name, "better": other.get("name"), "said": where.id}


@rule("directml-wrong-adapter", "likely")
def first_number_where_windows_lists_two(
    asked: Symptom = seen("directml-first-asked"),
    other: Gpu = one(integrated=False),
    inner: Symptom = seen("intel-drawing-chip-named", "radeon-graphics-of-windows-listed"),
    chosen: Symptom | None = seen(tag="directml-second-adapter"),
    first: Gpu | None = one(runtime_index=0),
) -> Verdict:
    """The program asks for the first, and the processor's graphics, which mostly are that, stand in Windows's list beside a card."""
    inside = first is None or small(str(first.get("name")))
    return chosen is None and inside and {"used": inner.get("name"), "better": other.get("name"), "said": asked.id}


@rule("directml-wrong-adapter", "likely")
def integrated_is_used_as_people_say(
    symptom: Symptom = seen(
        "integrated-used-in-words",
        "igpu-used-in-words",
        "intel-graphics-used-in-words",
        "internal-used-in-words",
        "wrong-adapter-in-words",
        "discrete-not-used-in-words",
    ),
    where: Symptom = seen("directml-spoken-of", "directml-provider-spoken-of", "dml-spoken-of", tag="directml-used"),
    wish: Symptom | None = seen("integrated-wished-in-words"),
) -> Verdict:
    """Somebody with a card sees the processor's graphics at work."""
    return wish is None and {"said": symptom.id, "where": where.id}


@text_rule("directml-wrong-adapter", "likely")
def first_of_a_list_is_integrated(
    used: Symptom = seen("directml-adapter-printed", "directml-numbered-in-use"), other: Gpu = one(integrated=False)
) -> Verdict:
    """The adapter with the first number is used unless told otherwise."""
    name, better = str(used.get("name")).strip(), str(other.get("name") or "")
    return bool(better) and small(name) and not same_name(better, name) and {"used": name, "better": better}


@mends("directml-wrong-adapter")
def index_of_the_card(knew: Params, card: Gpu | None = one(integrated=False)) -> Params:
    """Where a list tells it; else the one after the first, for the first is the processor's."""
    index = (card.get("runtime_index") or card.get("adapter")) if card else None
    named = knew.get("better") or (card and card.get("name"))
    return {"index": index or 1, "better": named or None, "unnamed": None if named else "unnamed"}
