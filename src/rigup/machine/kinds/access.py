"""Who may open what, and what a process is given: nodes, accounts, variables, services."""

from rigup.machine.facts import PROCESS, Fact


class DeviceNode(Fact, keys=("path",)):
    """A device file."""

    path: str
    mode: str  # as ls prints it: crw-rw----
    owner: str
    group: str
    acl: bool  # single people may open it besides


class Account(Fact, scope=PROCESS):
    """Who runs the work."""

    user: str
    uid: int
    groups: list[str]  # in force in this session
    numbers: list[str]  # of those groups, where they are shown
    assigned: list[str]  # in the group file: counts from the next login on


class Group(Fact, keys=("name",)):
    """A group of the group file; its members count from their next login on."""

    name: str
    gid: int
    members: list[str]


class Variable(Fact, keys=("name",), scope=PROCESS):
    """An environment variable; a value of None is known not to be set."""

    name: str
    value: str | None
    file: str  # that a login reads and in which it is set; others are kept beside the first


class FileVariable(Fact, keys=("path", "name"), title=("name",)):
    """A variable in such a file."""

    path: str
    name: str
    value: str


class HomeFolder(Fact, keys=("path",)):
    """A folder of the person who asks, in which environments and settings are looked for. Never another's home."""

    path: str
    role: str  # home, work


class Folder(Fact, keys=("path",)):
    """A folder and whose it is."""

    path: str
    owner: str


class Service(Fact, keys=("name",)):
    """A system service."""

    name: str
    user: str
    groups: list[str]  # supplementary ones that its unit gives it
    command: str
    running: bool
    enabled: bool
    version: str


class UnitFile(Fact, keys=("unit", "path"), title=("path",)):
    """A file that a service's unit takes variables from."""

    unit: str
    path: str


class Mask(Fact, scope=PROCESS):
    """A program's own setting of a variable that hides devices."""

    variable: str
    value: str
    after: str  # what had touched the device before it
    imported: str  # the framework that was imported before it
