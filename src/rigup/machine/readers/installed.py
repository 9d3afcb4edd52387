"""What the distribution's package managers have installed, from their own files: no package tool is run."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import SystemPackage
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Text

_NAMES = (
    r"(?:lib|linux-modules-|linux-objects-|linux-signatures-|xserver-xorg-video-|kmod-|akmod-|opencl-|lib32-|xorg-x11-drv-)?"
    r"(?:nvidia|cuda|cudnn|nccl|nvml|rocm|rocr|rocblas|rocminfo|hip|hsa|amdgpu|miopen|migraphx|rccl|comgr|intel-opencl|intel-level-zero|"
    r"level-zero|ze-|dkms|bumblebee|bbswitch)[\w.+-]{0,80}"
)
_FIELDS = lazy_regex(r"^(?P<key>Status|Version): (?P<value>[^\n]{1,100})$", re.MULTILINE)
_MOST_RECORD = 3000  # characters of a record's head in which status and version stand


@reads(SystemPackage, inputs=[File("/var/lib/dpkg/status"), File("/var/lib/dpkg/status.d/*")])
def dpkg_status(text: Text) -> Statements:
    """`Package: nvidia-utils-550`, `Status: install ok installed`, `Version: 550.90.07-0ubuntu1`: a record each."""
    # The line's beginning is asked for behind its word: a pattern that begins with a word is found at once.
    for hit in text.each(rf"Package: (?<![^\n]Package: )(?P<name>{_NAMES})$"):
        end = text.body.find("\n\n", hit.match.end(), hit.match.end() + _MOST_RECORD)
        head = text.body[hit.match.end() : end if end > 0 else hit.match.end() + _MOST_RECORD]
        values = {match["key"]: match["value"].strip() for match in _FIELDS.finditer(head)}
        draft = Draft(text, SystemPackage, hit.start)
        draft.add("name", hit["name"])
        draft.add("version", values.get("Version"))
        draft.add("state", _state(values.get("Status", "install ok installed")))
        draft.add("manager", "dpkg")
        yield from draft.facts("name", "manager", "state")


def _state(status: str) -> str:
    """The third word counts: installed, config-files, half-configured and others."""
    words = status.split()
    last = words[-1] if words else ""
    return {"installed": "installed", "config-files": "removed", "not-installed": "removed"}.get(last, "broken")


@reads(SystemPackage, inputs=[Listing("/var/lib/pacman/local/{*nvidia*,*cuda*,rocm*,hip*,hsa*,*amdgpu*,dkms*}")])
def pacman_folders(text: Text) -> Statements:
    """`/var/lib/pacman/local/nvidia-utils-560.35.03-2`: a folder for each package."""
    for hit in text.each(rf"/var/lib/pacman/local/(?P<name>{_NAMES})-(?P<version>(?:\d:)?\d[\w.+]{{0,40}}-\d{{1,3}}(?:\.\d)?)$"):
        yield hit.states(SystemPackage, name=hit["name"], version=hit["version"], state="installed", manager="pacman")
