"""What was proven: records of `rigup verify`, and where they are kept."""

from rigup.machine.facts import Fact


class StateFolder(Fact, keys=("path",)):
    """Where programs of the person who asks keep their state, if a variable says so."""

    path: str


class Proof(Fact, keys=("env", "framework", "uuid", "pci_address", "name"), title=("env", "name")):
    """A device that computed right with a framework of an environment, and what that was found under."""

    env: str
    framework: str
    build: str
    name: str
    isa: str
    pci_address: str
    uuid: str
    driver: str
    kernel: str  # release of the running one
    override: str
    recorded_at: str
    checks: int
