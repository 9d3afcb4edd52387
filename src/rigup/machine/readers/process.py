"""What a process is given: variables, account."""

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Account, DeviceNode, Variable
from rigup.machine.reader import Ask, Listing, Statements, reads
from rigup.machine.texts import Text

_NAMED_GROUPS = lazy_regex(r"(\d+)(?:\(([^)]+)\))?")
_GROUP_NUMBERS = lazy_regex(r"(?<![\w(])\d+(?=\(|,|\s|$)")


@reads(Variable, inputs=[Ask("variables")], marks=("\nPATH=", "PATH=/"), whole=r"^PATH=", process="shell")
def environment(text: Text) -> Statements:
    """`env` as it prints: NAME=value, a line each."""
    for hit in text.each(r"^(?P<name>[A-Za-z_][A-Za-z0-9_]{2,})=(?P<value>.*)$"):
        yield hit.states(Variable, **hit.found())


# What `id` calls groups in the languages of people who paste it.
_GROUPS = r"(?:groups|Gruppen|groupes|grupos|gruppi|grupy|skupiny|grupper|groepen|gruplar|csoportok|группы|групи|グループ|组|群組|그룹들)"


@reads(Account, inputs=[Ask("account")], marks=("groups=", " gid="), process="shell")
def account(text: Text) -> Statements:
    """`id` as it prints."""
    whole = r"(?:uid=(?P<uid>\d+)\((?P<user>[^)]*)\).*?{0}=|(?<!\w){0}=(?=\d+(?:,\d+)*(?:\(|\s*$)))(?P<groups>.*)"
    for hit in text.each(whole.format(_GROUPS)):
        known = {name: int(value) if name == "uid" else value for name, value in hit.found().items() if name != "groups"}
        yield hit.states(
            Account,
            groups=[name or number for number, name in _NAMED_GROUPS.findall(hit["groups"])],
            numbers=_GROUP_NUMBERS.findall(hit["groups"]),
            **known,
        )


@reads(
    DeviceNode,
    inputs=[Listing("/dev/{kfd,dxg,nvidia*,nvmap,nvhost-*gpu*,nvgpu/*/*,dri/*}")],
    marks=(" /dev/kfd", " /dev/nv", " /dev/dri/", " /dev/dxg"),
)
def device_nodes(text: Text) -> Statements:
    """`ls -l` of device files: `crw-rw---- 1 root render 235, 0 Nov 1 10:00 /dev/kfd`."""
    for hit in text.each(r"(?P<mode>[cb][rwxsStT-]{9})(?P<acl>[+.@]?) +\d+ +(?P<owner>\S+) +(?P<group>\S+) .*?(?P<path>/dev/\S+)"):
        yield hit.states(DeviceNode, **{**hit.found(), "acl": hit["acl"] == "+"})
