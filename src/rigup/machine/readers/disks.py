"""Room on the disks that hold environments, caches and images."""

from rigup.machine.kinds import DiskSpace
from rigup.machine.reader import Run, Statements, reads
from rigup.machine.readers.values import size
from rigup.machine.texts import Text

# One that is not there is named in a line of its own, which is no harm.
_PLACES = ("/", "/boot", "/home", "/opt", "/tmp", "/usr", "/var", "/var/lib/docker", "/var/lib/containers")
_LINE = (
    r"^[> \t]{0,20}(?P<filesystem>[^\s#$][^\n]{0,200}?)[ \t]{1,60}(?P<total>\d[\d.]{0,16}[KMGTP]?i?)[ \t]{1,40}\d[\d.]{0,16}[KMGTP]?i?"
    r"[ \t]{1,40}(?P<free>\d[\d.]{0,16}[KMGTP]?i?)[ \t]{1,40}\d{1,3}%[ \t]{1,20}(?:\d{1,12}[ \t]{1,20}\d{1,12}[ \t]{1,20}\d{1,3}%[ \t]{1,20})?(?P<path>/[^\n]{0,200}?)[ \t]*$"
)
_NONE = ("tmpfs", "devtmpfs", "udev", "overlayfs", "none", "squashfs", "efivarfs", "map ", "devfs", "/dev/loop")
_MOST = 100


@reads(DiskSpace, inputs=[Run(("df", "-Pk", *_PLACES), seconds=2)], marks=("Mounted on",))
def disk_free(text: Text) -> Statements:
    """`/dev/sda2 479152840 301234560 153503256 67% /`, in thousands, or with units behind them as `df -h` prints."""
    for number, hit in enumerate(text.each(_LINE)):
        total, free = size(hit["total"], "k"), size(hit["free"], "k")
        kept = hit["path"] != "/dev/shm" and not hit["path"].startswith(("/sys", "/proc", "/run", "/snap", "/boot/"))
        if number < _MOST and total and free is not None and kept and not hit["filesystem"].startswith(_NONE):
            yield hit.states(DiskSpace, path=hit["path"], total=total, free=free, filesystem=hit["filesystem"])
