"""What was proven: records of `rigup verify`, and where they are kept."""

from rigup.machine.facts import Fact


class StateFolder(Fact, keys=("path",)):
    """Where programs of the person who asks keep their state, if a variable says so."""

    path: str


class ProvenPackage(Fact, keys=("env", "name", "version"), title=("env", "name")):
    """A package that lies in an environment now of which a proof is on record."""

    env: str
    name: str  # normalised: lower case, dashes
    version: str


class Proof(Fact, keys=("env", "framework", "uuid", "pci_address", "name"), title=("env", "name")):
    """A device that computed right with a framework of an environment, or failed to, and what that was found under.

    One without a device is of the environment: its framework could not be imported, or failed on the processor.
    """

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
    failed: str  # the checks that were not passed, "" where all were
    prefix: str  # the environment as it was named; `env` is the folder that this really is
    packages: list[str]  # NAME==VERSION of those that the proof stands on
