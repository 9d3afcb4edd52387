"""Packages that bring a driver's module for one kernel: their names tell which, and so whether the running one was served."""

from rigup.machine.kinds import KernelModule
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Text

# RPM Fusion's: `kmod-nvidia-6.12.8-200.fc41.x86_64-565.77-1.fc41.x86_64`.
_FUSION = r"^[> \t]{0,20}kmod-nvidia-(?:open-)?(?:\d{3}xx-)?(?P<kernel>\d{1,2}\.\d{1,3}\.\d{1,3}-\d[\w.]{0,40}\.(?:x86_64|aarch64))-\d[\w.]{0,30}-\d[\w.]{0,30}\.(?:x86_64|aarch64)[ \t]*$"
# NVIDIA's: `kmod-nvidia-550.54.15-4.18.0-513.24.1-550.54.15-3.el8_9.x86_64`; the end of the kernel's release is the package's own.
_PREBUILT = r"^[> \t]{0,20}kmod-nvidia-(?:open-)?\d{3}\.\d{1,3}(?:\.\d{1,3})?-(?P<kernel>\d{1,2}\.\d{1,3}\.\d{1,3}-\d[\d.]{0,20})-\d[\d.]{3,20}-\d{1,3}\.(?P<end>el\d{1,2}(?:_\d{1,2})?\.(?:x86_64|aarch64))[ \t]*$"
# Ubuntu's: `ii  linux-modules-nvidia-535-server-open-6.8.0-45-generic  6.8.0-45.45  amd64`; without a kernel's number it is a list of others.
_UBUNTU = r"^[> \t]{0,20}ii[ \t]{1,8}(?P<packaged>linux-modules-nvidia-\d{3}(?:-server)?(?:-open)?-)(?P<kernel>\d{1,2}\.\d{1,3}\.\d{1,3}-\d{1,4}-[a-z][a-z0-9-]{2,30})(?::\w{3,8})?[ \t]"


@reads(adds=(KernelModule,), marks=("kmod-nvidia-", "linux-modules-nvidia-"))
def kernels_that_packages_serve(text: Text) -> Statements:
    """Each installed package of this kind is a module for one kernel."""
    for hit in text.each(_FUSION):
        yield hit.states(KernelModule, name="nvidia", built_for=[hit["kernel"]], packaged="akmods")
    for hit in text.each(_UBUNTU):
        yield hit.states(KernelModule, name="nvidia", built_for=[hit["kernel"]], packaged=hit["packaged"])
    for hit in text.each(_PREBUILT):
        yield hit.states(KernelModule, name="nvidia", built_for=[f"{hit['kernel']}.{hit['end']}"])
