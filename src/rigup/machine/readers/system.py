"""The kernel, the distribution, the processor, memory, and what kind of world this is."""

from collections.abc import Iterator

from rigup.machine.kinds import Cpu, Distribution, Memory, Platform, World
from rigup.machine.reader import Ask, File, Listing, Run, Statements, reads
from rigup.machine.readers.values import Draft, says, wsl
from rigup.machine.texts import Text

_ARCHITECTURES = "x86_64|aarch64|arm64|ppc64le|riscv64|s390x|i686|armv7l"
# What virtual machines write into their firmware's tables.
_HYPERVISORS = (
    ("vmware", "vmware"),
    ("virtualbox", "virtualbox"),
    ("innotek", "virtualbox"),
    ("kvm", "kvm"),
    ("qemu", "qemu"),
    ("bochs", "qemu"),
    ("xen", "xen"),
    ("virtual machine", "hyper-v"),
    ("google compute engine", "google"),
    ("parallels", "parallels"),
    ("bhyve", "bhyve"),
    ("openstack", "kvm"),
    ("apple virtualization", "apple"),
    ("alibaba cloud ecs", "kvm"),
    ("nutanix", "kvm"),
    ("proxmox", "kvm"),
)


@reads(Platform, inputs=[File("/proc/version"), File("/proc/sys/kernel/osrelease")], rank=2)
def kernel_release(text: Text) -> Statements:
    """`Linux version 6.8.0-40-generic (…)`, or the release alone. A Microsoft kernel is WSL's."""
    if hit := text.first(r"\A(?:Linux version )?(?P<release>\d{1,3}\.\d{1,3}[\w.+~-]{0,80})"):
        yield hit.states(Platform, system="linux", release=hit["release"], wsl=wsl(hit["release"]))


@reads(marks=("Linux version ",), adds=(Platform,), rank=-2)
def kernel_names_itself(text: Text) -> Statements:
    """`[    0.000000] Linux version 6.5.0-41-generic (buildd@…)`: a log's first line, or what /proc/version holds."""
    form = r"^[^\n]{0,80}?\bLinux version (?P<release>\d{1,2}\.\d{1,3}\.\d{1,4}[\w.+~-]{0,80}) (?:\(|#)"
    releases = {hit["release"]: hit for hit in text.each(form)}
    for release, hit in releases.items() if len(releases) == 1 else ():  # a journal of several starts
        yield hit.states(Platform, system="linux", release=release, wsl=wsl(release))


@reads(marks=("BOOT_IMAGE=",), adds=(Platform,), rank=-3)
def kernel_that_was_started(text: Text) -> Statements:
    """`BOOT_IMAGE=/boot/vmlinuz-6.14.0-1014-oem` of the running kernel's command line, where nothing else names its release."""
    form = r"\bBOOT_IMAGE=(?:\([\w,]{1,20}\))?[/\w.@-]{0,80}?vmlinu[xz]-(?P<release>\d{1,2}\.\d{1,3}[\w.+~-]{1,80})"
    releases = {hit["release"]: hit for hit in text.each(form)}
    for release, hit in releases.items() if len(releases) == 1 else ():  # a journal of several starts
        yield hit.states(Platform, system="linux", release=release)


@reads(inputs=[File("/proc/sys/kernel/arch")], adds=(Platform,))
def kernel_architecture(text: Text) -> Statements:
    """`x86_64` (kernels from 6.1 on)."""
    if hit := text.first(rf"\A(?P<architecture>{_ARCHITECTURES})\s*\Z"):
        yield hit.states(Platform, architecture=hit["architecture"])


@reads(
    inputs=[Run(("uname", "-srm"), unless="/proc/sys/kernel/arch")],
    marks=("GNU/Linux", "Linux localhost", "Darwin Kernel Version", " #1 SMP", "PREEMPT_DYNAMIC", "uname -"),
    adds=(Platform,),
)
def uname(text: Text) -> Statements:
    """`uname -a`: `Linux host 6.8.0-40-generic #40-Ubuntu SMP … x86_64 GNU/Linux`; `Darwin Kernel Version …`."""
    form = rf"^[^\n]{{0,60}}?\bLinux (?:[\w.<>*\[\]-]{{1,64}} )?(?P<release>\d{{1,2}}\.\d{{1,3}}\.\d[\w.+~-]{{0,80}}) (?:#[^\n]{{1,200}}?\b)?(?P<architecture>{_ARCHITECTURES})\b"
    for hit in text.each(form):
        yield hit.states(Platform, system="linux", release=hit["release"], architecture=hit["architecture"], wsl=wsl(hit["release"]))
    for hit in text.each(r"\buname -r[ \t]*\n[ \t]*(?P<release>\d{1,2}\.\d{1,3}\.\d{1,4}-[\w.+~-]{1,80})[ \t]*$"):
        yield hit.states(Platform, system="linux", release=hit["release"], wsl=wsl(hit["release"]))
    for hit in text.each(
        r"^[^\n]{0,60}?\bDarwin (?:[\w.-]{1,64} )?(?P<release>\d{2}\.\d{1,2}\.\d{1,2}) [^\n]{0,300}?\b(?P<architecture>arm64|x86_64)\s*$"
    ):
        # Under Rosetta the kernel's name still tells what it was built for.
        machine = "arm64" if "_ARM64" in hit.match[0] else hit["architecture"]
        yield hit.states(Platform, system="macos", release=hit["release"], architecture=machine)


@reads(marks=("Standard PC (i440FX", "Standard PC (Q35"), adds=(Platform,), rank=-2)
def board_that_qemu_makes_up(text: Text) -> Statements:
    """`Standard PC (Q35 + ICH9, 2009)`: no other machine calls its board so, whatever the language around it."""
    if hit := text.first(r"\bStandard PC \((?:i440FX \+ PIIX, 1996|Q35 \+ ICH9, 2009)\)"):
        yield hit.states(Platform, hypervisor="qemu")


@reads(inputs=[File("/sys/class/dmi/id/{sys_vendor,product_name}"), File("/sys/hypervisor/type")], adds=(Platform,))
def firmware_names(text: Text) -> Statements:
    """`VMware, Inc.`, `KVM`, `Virtual Machine`: whose machine the firmware says this is."""
    low = text.body[:200].lower()
    if name := next((name for words, name in _HYPERVISORS if words in low), None):
        yield from says(text, Platform, 0, hypervisor=name)


@reads(inputs=[File("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c")], adds=(Platform,), rank=2)
def secure_boot_variable(text: Text) -> Statements:
    """Four bytes of attributes, one of value."""
    if len(text.body) == 5 and text.body[4] in "\x00\x01":
        yield from says(text, Platform, 0, secure_boot=text.body[4] == "\x01")


@reads(
    marks=(
        "SecureBoot enabled",
        "SecureBoot disabled",
        "Secure boot enabled",
        "Secure boot disabled",
        "Secure Boot: ",
        "secure boot: ",
        "Secure Boot State",
        "Secure boot: ",
        "SecureBoot: ",
    ),
    adds=(Platform,),
)
def secure_boot(text: Text) -> Statements:
    """`mokutil --sb-state`, what the kernel logs of it, and the lines of bootctl, sbctl, fwupd, msinfo32 and reports."""
    for hit in text.each(r"\b[Ss]ecure ?[Bb]oot(?: State)?(?: |:?[ \t]{1,20}(?:[✓✗✔✘]\s?)?)(?P<state>[Ee]nabled|[Dd]isabled|On|Off)\b"):
        yield hit.states(Platform, secure_boot=hit["state"].lower() in ("enabled", "on"))


@reads(Distribution, inputs=[File("/etc/os-release"), File("/usr/lib/os-release")], marks=("PRETTY_NAME=", "VERSION_ID="))
def os_release(text: Text) -> Statements:
    """`ID=ubuntu`, `VERSION_ID="22.04"`."""
    fields = {"ID": "id", "VERSION_ID": "version", "PRETTY_NAME": "name"}
    found = {fields[hit["key"]]: hit for hit in text.each(r"^(?P<key>ID|VERSION_ID|PRETTY_NAME)=[\"']?(?P<value>[^\"'\n]{1,100})")}
    if found:
        draft = Draft(text, Distribution, next(iter(found.values())).start)
        for name, hit in found.items():
            draft.add(name, hit["value"].strip(), hit.start)
        yield from draft.facts()


@reads(inputs=[File("/usr/bin/ldd")], adds=(Distribution,))
def glibc_of_ldd(text: Text) -> Statements:
    """ldd is a script that says which glibc it came with; to read it is enough."""
    if hit := text.first(r"ldd [^\n]{0,80}?(?:GLIBC|libc)[^\n]{0,80}\)[\"']? [\"']?(?P<glibc>\d\.\d{1,3})[\"'\n]"):
        yield hit.states(Distribution, glibc=hit["glibc"])


@reads(marks=("ldd (", "musl libc"), adds=(Distribution,))
def glibc(text: Text) -> Statements:
    """`ldd (Ubuntu GLIBC 2.35-0ubuntu3.8) 2.35`; `musl libc (x86_64)`."""
    for hit in text.each(r"^ldd \([^)\n]{1,80}\) (?P<glibc>\d\.\d{1,3})\s*$"):
        yield hit.states(Distribution, glibc=hit["glibc"])
    for hit in text.each(r"^musl libc \("):
        yield hit.states(Distribution, glibc=None)


@reads(inputs=[Listing("/lib/ld-musl-*.so.1")], adds=(Distribution,))
def musl(text: Text) -> Statements:
    """A world whose C library is musl."""
    if hit := text.first(r"/lib/ld-musl-\w{2,20}\.so\.1"):
        yield hit.states(Distribution, glibc=None)


@reads(World, inputs=[Listing("/.dockerenv"), Listing("/run/.containerenv"), Listing("/.singularity.d"), Listing("/.flatpak-info")])
def container_marks(text: Text) -> Statements:
    """What engines leave inside."""
    engines = {".dockerenv": "docker", ".containerenv": "podman", ".singularity.d": "apptainer", ".flatpak-info": "flatpak"}
    for hit in text.each(r"/(?P<mark>\.dockerenv|\.containerenv|\.singularity\.d|\.flatpak-info)$"):
        yield hit.states(World, container=engines[hit["mark"]])


@reads(inputs=[File("/proc/1/cgroup"), File("/run/systemd/container")], adds=(World,), rank=0)
def container_cgroup(text: Text) -> Statements:
    """`…/docker/0f3…`, `…/kubepods/…`, `lxc`; `/init.scope` is a machine of its own."""
    form = r"(?P<engine>docker|kubepods|libpod|lxc|containerd|podman|systemd-nspawn|garden)\b"
    names = {"kubepods": "kubernetes", "libpod": "podman"}
    if hit := text.first(form):
        yield hit.states(World, container=names.get(hit["engine"], hit["engine"]))
    elif hit := text.first(r"^\d+:[^:\n]{0,60}:/init\.scope$"):
        yield hit.states(World, container=None)


@reads(inputs=[Ask("variables")], adds=(World,), rank=0)
def container_variables(text: Text) -> Statements:
    """What orchestrators and images set."""
    if hit := text.first(r"^KUBERNETES_SERVICE_HOST=\S"):
        yield hit.states(World, container="kubernetes")
    if hit := text.first(r"^(?:APPTAINER|SINGULARITY)_CONTAINER=\S"):
        yield hit.states(World, container="apptainer")


@reads(Cpu, inputs=[File("/proc/cpuinfo")], marks=("model name\t:", "model name : ", "CPU implementer\t:"))
def cpuinfo(text: Text) -> Statements:
    """One block a thread; the first tells the model, and whether a hypervisor is below."""
    model, flags = (
        text.first(r"^model name\s{0,8}: (?P<model>[^\n]{1,100})"),
        text.first(r"^(?:flags|Features)\s{0,8}: (?P<flags>[^\n]{1,6000})"),
    )
    first = model or flags or text.first(r"^processor\s{0,8}: \d")
    if first is None:
        return
    draft = Draft(text, Cpu, first.start)
    draft.add("model", model["model"].strip() if model else None)
    words = flags["flags"].split() if flags else []
    draft.add("flags", words or None, flags.start if flags else None)
    draft.add("cores", sum(1 for _ in text.each(r"^processor\s{0,8}: \d{1,5}$")) or None)
    yield from draft.facts()
    if flags and flags.match[0].startswith("flags"):
        yield from _virtual(text, flags.start, "hypervisor" in words)


def _virtual(text: Text, at: int, guest: bool) -> Iterator[Platform]:
    """The flag tells that this is a guest, not whose."""
    draft = Draft(text, Platform, at)
    if guest:
        draft.add("hypervisor", "unknown", rank=-1)
    else:
        draft.lacks("hypervisor", rank=-1)
    yield from draft.facts()


@reads(Memory, inputs=[File("/proc/meminfo")], marks=("MemTotal:",))
def meminfo(text: Text) -> Statements:
    """`MemTotal: 65764368 kB`."""
    total, free = (text.first(r"^MemTotal:\s{1,20}(?P<total>\d{1,15}) kB"), text.first(r"^MemAvailable:\s{1,20}(?P<available>\d{1,15}) kB"))
    if total:
        draft = Draft(text, Memory, total.start)
        draft.add("total", int(total["total"]) * 1024)
        draft.add("available", int(free["available"]) * 1024 if free else None, free.start if free else None)
        yield from draft.facts()


@reads(inputs=[File("/System/Library/CoreServices/SystemVersion.plist")], marks=("ProductVersion",), adds=(Platform,))
def macos_version(text: Text) -> Statements:
    """`sw_vers`, or the file that it reads."""
    for hit in text.each(r"ProductVersion(?:</key>\s{0,8}<string>|:?\s{1,20})(?P<version>\d{2}\.[\d.]{1,10})"):
        yield hit.states(Platform, system="macos", version=hit["version"])


@reads(inputs=[Run(("cmd", "/c", "ver"))], marks=("Microsoft Windows [Version",), adds=(Platform,))
def windows_version(text: Text) -> Statements:
    """`Microsoft Windows [Version 10.0.22631.3447]`."""
    for hit in text.each(r"Microsoft Windows \[Version (?P<version>\d{1,2}\.\d\.\d{4,6}(?:\.\d{1,6})?)\]"):
        yield hit.states(Platform, system="windows", version=hit["version"])
