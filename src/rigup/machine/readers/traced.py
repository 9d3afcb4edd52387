"""What strace shows of a program that looks for its GPU: a file that it could open is there."""

import re

from rigup.machine.kinds import KernelModule
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Text

_CALL = (
    r"\b(?:open(?:at2?)?|stat|lstat|newfstatat|statx|access|faccessat2?)\([^\n\"]{0,24}\""
    r"(?P<path>/(?:proc/driver|sys/module)/nvidia[\w/-]{1,60})\"[^\n]{0,200}\) {1,10}= \d{1,4}\b"
)
_MODULE = r"/(?:proc/driver/(?P<driver>nvidia)|sys/module/(?P<module>nvidia\w{0,12}))(?:/|$)"


@reads(adds=(KernelModule,), marks=('"/proc/driver/nvidia', '"/sys/module/nvidia'))
def traced_modules(text: Text) -> Statements:
    """`openat(AT_FDCWD, "/proc/driver/nvidia/params", O_RDONLY) = 3`: the module is loaded. A call that failed tells less."""
    for hit in text.each(_CALL):
        if module := re.match(_MODULE, hit["path"]):
            yield hit.states(KernelModule, name=module["driver"] or module["module"], loaded=True)
