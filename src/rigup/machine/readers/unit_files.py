"""Files from which units take variables: EnvironmentFile=."""

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import FileVariable, UnitFile, Variable
from rigup.machine.reader import File, Statements, derives, reads
from rigup.machine.readers.services import NAMED
from rigup.machine.store import Facts
from rigup.machine.texts import Text

_UNIT = lazy_regex(r"/(?P<name>[\w@.-]{1,80}?)\.service(?:\.d/[^/]{1,100})?\Z")


@reads(
    inputs=[
        File("/{etc,run}/systemd/system/{*.service,*.service.d/*.conf}", process="unit"),
        File("/{usr/,}lib/systemd/system/" + NAMED, process="unit"),  # of the hundreds there those that compute
        File("/{usr/,}lib/systemd/system/" + NAMED + ".d/*.conf", process="unit"),
    ],
    adds=(UnitFile,),
)
def environment_files(text: Text) -> Statements:
    """`EnvironmentFile=-/etc/default/ollama`: one that may be missing begins with a dash."""
    unit = _UNIT.search(text.source)
    for hit in text.each(r"^[ \t]{0,8}EnvironmentFile=-?[\"']?(?P<path>/[^\s\"'*?\[{}]{1,200})"):
        if unit:
            yield hit.states(UnitFile, unit=unit["name"], path=hit["path"])


@reads(inputs=[File("{UnitFile.path}")], adds=(FileVariable,))
def file_variables(text: Text) -> Statements:
    """NAME=value, a line each; quotes around the value are no part of it."""
    for hit in text.each(r"^[ \t]{0,8}(?:export )?(?P<name>[A-Za-z_]\w{1,60})=[\"']?(?P<value>[^\n\"']{0,1000})"):
        yield hit.states(FileVariable, path=text.source, name=hit["name"], value=hit["value"].strip())


@derives(Variable, FileVariable)
def variable_of_unit(file: UnitFile, facts: Facts) -> Statements:
    """What the unit reads, its service gets."""
    for variable in facts.of(FileVariable):
        if variable.get("path") == file.get("path") and variable.place.meet(file.place):
            place = file.place._replace(process="unit:" + str(file.get("unit")))
            yield Variable(place, {"name": variable.fields["name"], "value": variable.fields["value"]})
