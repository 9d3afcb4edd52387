"""What ollama's server says it runs with."""

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Hit, Text

_NAMES = lazy_regex(
    r"(?<=[\[ ])(?P<name>(?:HSA|HIP|ROCR|CUDA|GPU|OLLAMA)_[A-Z_]{3,40}):(?P<value>\"(?:[^\"\\]|\\.){0,200}\"|\[[^\]\n]{0,900}\]|[^\s\]]{0,300})"
)


_STARTS = r"(?:^(?P<journal>[^\n]{0,120}\bollama\[\d{1,9}\]: )[^\n]{0,300}?)?server config\"? env=\"?(?P<map>map\[[^\n]{0,8000})"


def _in_force(starts: list[Hit]) -> list[Hit]:
    """Of the starts that the system's journal keeps the last alone is in force."""
    journals = [start for start in starts if start["journal"]]
    return [start for start in starts if start not in journals[:-1]]


@reads(marks=("server config",), adds=(Variable,))
def ollama_environment(text: Text) -> Statements:
    """`msg="server config" env="map[CUDA_VISIBLE_DEVICES: HSA_OVERRIDE_GFX_VERSION:10.3.0 …]"`: a name without a value is not set."""
    for line in _in_force(list(text.each(_STARTS))):
        start = line.match.start("map")
        for match in _NAMES.finditer(line["map"]):
            draft = Draft(text, Variable, start + match.start())
            draft.add("name", match["name"])
            if match["value"]:
                draft.add("value", match["value"].replace("\\", ""))
            else:
                draft.lacks("value")
            for variable in draft.facts():
                variable.place = variable.place if variable.place.process else variable.place._replace(process="service:ollama")
                yield variable
