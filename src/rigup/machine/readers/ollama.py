"""What ollama's server says it runs with."""

from rigup.knowledge.patterns import late
from rigup.machine.kinds import Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Text

_NAMES = late(
    r"(?<=[\[ ])(?P<name>(?:HSA|HIP|ROCR|CUDA|GPU|OLLAMA)_[A-Z_]{3,40}):(?P<value>\"(?:[^\"\\]|\\.){0,200}\"|[^\s\]]{0,300})"
)


@reads(marks=("server config",), adds=(Variable,))
def ollama_environment(text: Text) -> Statements:
    """`msg="server config" env="map[CUDA_VISIBLE_DEVICES: HSA_OVERRIDE_GFX_VERSION:10.3.0 …]"`: a name without a value is not set."""
    for line in text.each(r"server config\"? env=\"?(?P<map>map\[[^\n]{0,8000})"):
        start = line.match.start("map")
        for found in _NAMES.finditer(line["map"]):
            draft = Draft(text, Variable, start + found.start())
            draft.add("name", found["name"])
            if found["value"]:
                draft.add("value", found["value"].replace("\\", ""))
            else:
                draft.lacks("value")
            for variable in draft.facts():
                variable.place = (
                    variable.place if variable.place.process else variable.place._replace(process="service:ollama")
                )
                yield variable
