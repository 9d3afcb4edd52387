"""A mounted folder belongs to root, and the container's user may not write there."""

from rigup.diagnosis.causes.container_starters import asking, what_it_is_said_to_be_started_by, what_starts_it
from rigup.diagnosis.causes.places import inside
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import Account, Folder, Symptom, World

_STARTED = (".sh", "nvcc", "ptxas", "gcc", "ffmpeg")  # what is refused here is to be run
_SYSTEM = ("/dev/", "/sys/", "/proc/", "/run/", "/var/run/", "/etc/", "/tmp/", "/root/", "/usr/bin/", "/lib/")


@rule("container-files-root-owned", strength="likely")
def refused_in_its_own_home(error: Symptom = seen("permission-denied-in-home"), world: World | None = None) -> Verdict:
    """The path is the user's, and it is not."""
    return inside(error) or bool(world and world.get("container")) or str(error.get("path")).lower().startswith("/home/jovyan")


@rule("container-files-root-owned")
def home_belongs_to_root(folder: Folder = one(owner="root"), account: Account | None = None) -> Verdict:
    """A mounted folder that did not exist is made by root."""
    return inside(folder) and account is not None and account.get("uid") != 0 and folder.path == "/home/" + account.user


def what_is_refused(symptom: Symptom) -> str:
    """The path of a refusal, unless it belongs to the system or is a program to be run."""
    path = str(symptom.get("path") or symptom.get("a") or symptom.get("b") or symptom.get("c"))
    return "" if path.startswith(_SYSTEM) or path.endswith(_STARTED) else path


@text_rule("container-files-root-owned", "possible")
def own_files_are_refused_inside(
    refused: Symptom = seen("writing-refused", "work-tree-refused"), owned: Symptom | None = seen("root-owned-entry")
) -> Verdict:
    """A program in a container may not write among its own files; what belongs to the system is another matter."""
    path = what_is_refused(refused)
    return inside(refused) and bool(path) and {"path": path, "seen": owned is not None}


@text_rule("container-files-root-owned", "likely")
def notebook_is_refused_where_root_owns(
    refused: Symptom = seen("notebook-file-refused"), owned: Symptom = seen("root-owned-entry")
) -> Verdict:
    """A notebook cannot be made, and the folder, or one above it, is root's."""
    entry = owned.entry.rstrip("/").rpartition("/")[2]
    return (entry in (".", "") or entry in refused.path.split("/")) and {"path": refused.path, "owner": "root"}


@text_rule("container-files-root-owned", "likely")
def what_is_refused_belongs_to_root(
    refused: Symptom = seen("writing-refused"), owned: Symptom = seen("root-owned-entry"), box: Symptom | None = seen(tag="images-commands")
) -> Verdict:
    """A path that may not be written leads through an entry of root's, in a container or where containers are in use."""
    if box is None and not inside(refused):
        return False
    path = str(refused.get("a") or refused.get("b") or refused.get("c"))
    entry = owned.entry.rstrip("/").rpartition("/")[2]
    return entry in path.split("/") and {"path": path, "owner": "root"}


@mends("container-files-root-owned")
def folder_of_the_files(error: Symptom | None = seen("permission-denied-in-home"), folder: Folder | None = one(owner="root")) -> Params:
    """The folder that can be given away."""
    return {"folder": (folder and folder.get("path")) or (error and error.get("path"))}


mends("container-files-root-owned")(what_starts_it)
mends("container-files-root-owned")(what_it_is_said_to_be_started_by)


@mends("container-files-root-owned")
def the_numbers_of_the_person(knew: Params, error: Symptom | None = seen("permission-denied-in-home")) -> Params:
    """Jupyter's own images give the home away when they start as root; others run by the person's numbers."""
    path = str(knew.get("path") or (error and error.get("path")) or "")
    return asking(knew, "user-of-jupyter" if path.lower().startswith("/home/jovyan") else "user")
