"""Kernel modules: loaded, on the disk, configured; DKMS; the kernel's command line."""

import re
from collections.abc import Iterator

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Reading, Where
from rigup.machine.kinds import DeadLine, DkmsBuild, DkmsTree, Kernel, KernelModule, KernelParameter, ModuleParameter
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.values import says
from rigup.machine.texts import Hit, Text

_WORDS = lazy_regex(r"\S{1,400}")

# Modules that drive a GPU, or stand in the way of one that does.
_GPU = lazy_regex(
    r"nvidia(?:_\w+)?|nvidiafb|nouveau|nova_core|nova_drm|amdgpu|amdttm|amdkcl|radeon|ttm|i915|xe|amdkfd|kfd|vfio_pci|"
    r"bbswitch|acpi_call|efifb|simpledrm|dxgkrnl|vmwgfx|virtio_gpu|vboxvideo|hyperv_drm|ast|mgag200|gdrdrv|intel_vsec"
)
_DRIVERS = ("nvidia", "amdgpu", "nouveau")
_KERNEL = lazy_regex(
    r"nomodeset|iommu(?:\.\w+)?|amd_iommu|intel_iommu|pci|pcie_aspm|pci_aspm|pcie_acs_override|nokaslr|mem|hugepages|"
    r"module_blacklist|rd\.driver\.blacklist|modprobe\.blacklist|acpi|acpi_osi|lockdown"
)
_ROOTS = "/{usr/,}lib/modules/*/"
_FOLDERS = (
    "{updates,extra,weak-updates,extramodules,misc}/",
    "updates/dkms/",
    "{extra,weak-updates}/nvidia*/",
    "kernel/drivers/video/",
    "kernel/drivers/gpu/drm/amd/amdgpu/",
    "kernel/drivers/gpu/drm/nouveau/",
    "kernel/nvidia-*/",
    "kernel/extra/",
    "kernel/drivers/misc/nvidia*/",
)
_PARAMETER = lazy_regex(r"(?P<module>[A-Za-z][\w-]{1,40})\.(?P<name>\w{2,60})(?:=(?P<value>\S{0,400}))?")


@reads(
    KernelModule,
    inputs=[File("/proc/modules")],
    marks=("Module                  Size  Used by", "lsmod"),
    whole=r"^Module {10,30}Size {1,4}Used by\n(?:[^\n]{5,400}\n){15}",
)
def lsmod(text: Text) -> Statements:
    """`amdgpu 7393280 21 - Live …` or as lsmod prints it. What a whole list does not name is not loaded."""
    loaded = set[str]()
    for hit in text.each(r"^[ \t]{0,8}(?P<name>[a-z][\w-]{1,60}) +\d{3,10} +\d{1,6}(?:[ \t]|$)"):
        if _GPU.fullmatch(name := _plain(hit["name"])):
            loaded.add(name)
            yield hit.states(KernelModule, name=name, loaded=True)
    for name in _DRIVERS:
        if text.whole and name not in loaded:
            nowhere = Where(text.source, None, "")
            yield KernelModule(text.given, {"name": Reading(name, nowhere), "loaded": Reading(False, nowhere)})
    if not text.whole:
        yield from _grep_misses(text)


def _grep_misses(text: Text) -> Iterator[KernelModule]:
    """`lsmod | grep nvidia` that prints no such line says that it is not loaded; it must be seen to end."""
    for command in text.each(r"^[^\n]{0,80}\blsmod ?\| ?[ef]?grep (?:-\w{1,8} ){0,3}[\"']?(?P<words>[\w|\\-]{2,80})[\"']?[ \t]*\n"):
        output = re.match(r"(?:[^\n$#]{0,200}\n){0,200}", text.body[command.match.end() : command.match.end() + 20_000])
        words = [word.strip("\\").lower() for word in re.split(r"\\?\|", command["words"]) if word.strip("\\")]
        rest = text.body[command.match.end() :].strip()
        for name in _DRIVERS:
            wanted = rest and any(word in name for word in words)
            if wanted and output and not re.search(rf"^[ \t]{{0,8}}{name}[ \t]", output[0], re.MULTILINE):
                yield command.states(KernelModule, name=name, loaded=False)


@reads(
    inputs=[Listing("/sys/module/{nvidia,nvidia_uvm,nvidia_drm,nvidia_modeset,amdgpu,nouveau,nova_core,i915,xe,vfio_pci,bbswitch}/*")],
    adds=(KernelModule,),
)
def module_folders(text: Text) -> Statements:
    """A loaded module has a folder in sysfs, and something in it; an empty one is what a copy left over."""
    named = {hit["name"]: hit for hit in text.each(r"/sys/module/(?P<name>[a-z]\w{1,40})/[^/\n]{1,100}$")}
    for name, hit in named.items():
        yield hit.states(KernelModule, name=name, loaded=True)


@reads(inputs=[File("/lib/modules/{Platform.release}/modules.builtin")], adds=(KernelModule,))
def built_in(text: Text) -> Statements:
    """Modules that are part of the kernel itself, and never loaded."""
    for hit in text.each(r"/(?P<name>amdgpu|nouveau|i915|xe|amdkfd)\.ko$"):
        yield hit.states(KernelModule, name=hit["name"], built_in=True)


@reads(
    inputs=[Listing(_ROOTS + folder + "[an]*.ko*") for folder in _FOLDERS],
    marks=("/nvidia.ko", "/amdgpu.ko", "/nouveau.ko"),
    adds=(KernelModule,),
)
def module_files(text: Text) -> Statements:
    """`/lib/modules/6.8.0-40-generic/updates/dkms/nvidia.ko.zst`, Debian's `nvidia-current.ko`: for which kernels."""
    kernels: dict[str, dict[str, Hit]] = {}
    for hit in text.each(
        r"lib/modules/(?P<kernel>[\w.+~-]{3,80})/\S{0,200}/(?P<name>nvidia|amdgpu|nouveau)(?:-(?:current|tesla|legacy|open)(?:-(?:open|\d{3}\w{0,3})){0,2})?\.ko(?:\.[a-z]{2,4})?(?:\s|$)"
    ):
        kernels.setdefault(hit["name"], {}).setdefault(hit["kernel"], hit)
    for name, found in kernels.items():
        yield next(iter(found.values())).states(KernelModule, name=name, built_for=sorted(found))


@reads(Kernel, inputs=[Listing("/lib/modules/*"), Listing("/lib/modules/*/build")])
def kernels(text: Text) -> Statements:
    """Which kernels are installed, and whether modules can be built for them: `build` leads to their headers."""
    for hit in text.each(r"/lib/modules/(?P<release>\d[\w.+~-]{2,80})(?P<headers>/build)?(?: -> \S{1,200})?$"):
        yield from says(text, Kernel, hit.start, release=hit["release"], headers=True if hit["headers"] else None)


@reads(inputs=[Listing("/usr/src/{linux-headers-*,kernels/*}")], adds=(Kernel,))
def kernel_headers(text: Text) -> Statements:
    """`/usr/src/linux-headers-6.8.0-40-generic`, `/usr/src/kernels/5.14.0-427.el9.x86_64`."""
    for hit in text.each(r"/usr/src/(?:linux-headers-|kernels/)(?P<release>\d[\w.+~-]{2,80})(?: -> \S{1,200})?$"):
        yield hit.states(Kernel, release=hit["release"], headers=True)


@reads(KernelParameter, ModuleParameter, inputs=[File("/proc/cmdline")], marks=("BOOT_IMAGE=",))
def command_line(text: Text) -> Statements:
    """The command line of the running kernel."""
    for line in text.each(r"^(?=[^\n]{0,4000}(?:BOOT_IMAGE=|root=|initrd=|ro |quiet))(?P<words>[^\n]{1,4000})$"):
        yield from _words(text, line.match.start("words"), line["words"], "running")


@reads(
    inputs=[File("/etc/default/grub"), File("/etc/default/grub.d/*.cfg"), File("/etc/kernel/cmdline"), File("/boot/loader/entries/*.conf")],
    marks=("GRUB_CMDLINE_LINUX",),
    adds=(KernelParameter, ModuleParameter),
)
def boot_loader(text: Text) -> Statements:
    """The command line of the next boot's kernel."""
    plain = text.source.endswith("/cmdline")
    form = r"^(?P<words>[^\n]{1,4000})$" if plain else r"^(?:GRUB_CMDLINE_LINUX(?:_DEFAULT)?=[\"']?|options )(?P<words>[^\n\"']{1,4000})"
    for line in text.each(form):
        yield from _words(text, line.match.start("words"), line["words"], "configured")


def _words(text: Text, start: int, words: str, when: str) -> Iterator[KernelParameter | ModuleParameter | KernelModule]:
    for word in _WORDS.finditer(words):
        at, argument = start + word.start(), word[0].strip("\"'")
        name, _, value = argument.partition("=")
        if name in ("modprobe.blacklist", "module_blacklist", "rd.driver.blacklist"):
            for module in re.findall(r"[\w-]{2,40}", value):
                yield from says(text, KernelModule, at, name=_plain(module), blacklisted=True)
        elif _KERNEL.fullmatch(name):
            yield from says(text, KernelParameter, at, name=name, **{when: value})
        elif (match := _PARAMETER.fullmatch(argument)) and _GPU.fullmatch(_plain(match["module"])):
            yield from says(text, ModuleParameter, at, module=_plain(match["module"]), name=match["name"], configured=match["value"] or "")


@reads(
    inputs=[File("/sys/module/{amdgpu,ttm,nvidia_drm,nouveau}/parameters/*"), File("/sys/module/nvidia_uvm/parameters/uvm_disable_hmm")],
    adds=(ModuleParameter,),
    rank=2,
)
def parameters(text: Text) -> Statements:
    """What a loaded module runs with; a parameter without a file here is none that it knows."""
    path = re.search(r"/sys/module/(?P<module>\w{2,40})/parameters/(?P<name>\w{1,60})\Z", text.source)
    value = re.match(r"([^\n]{0,200})\n?\Z", text.body)
    if path and value:
        yield from says(text, ModuleParameter, 0, module=path["module"], name=path["name"], running=value[1].strip())


@reads(
    ModuleParameter,
    DeadLine,
    inputs=[File("/{etc,run,usr/lib,lib}/modprobe.d/*.conf")],
    marks=(
        "options amdgpu ",
        "options nvidia",
        "options ttm ",
        "blacklist nouveau",
        "blacklist nvidia",
        "blacklist amdgpu",
        "install nvidia",
        "install amdgpu",
        "install nouveau",
        "alias nvidia off",
    ),
    adds=(KernelModule,),
)
def modprobe(text: Text) -> Statements:
    """`options amdgpu gttsize=1`, `blacklist nouveau`, `install nouveau /bin/false`; what has no keyword is ignored."""
    for hit in text.each(
        r"^[ \t]{0,8}(?:/(?:etc|run|usr/lib|lib)/modprobe\.d/[\w.+-]{1,60}:[ \t]{0,4})?(?P<word>[A-Za-z][\w-]{1,40})[ \t]{1,8}(?P<rest>[^\n#]{1,1000})"
    ):
        word, rest = hit["word"], hit["rest"].strip()
        module, _, values = rest.partition(" ")
        name = _plain(module)
        off = (word == "install" and re.search(r"/(?:false|true)\b", values)) or (word == "alias" and values.strip() == "off")
        if (word == "blacklist" or off) and _GPU.fullmatch(name):
            yield hit.states(KernelModule, name=name, blacklisted=True)
        elif word == "options" and _GPU.fullmatch(name):
            yield from _options(hit, name, values)
        elif _GPU.fullmatch(_plain(word)) and "=" in rest and text.source.endswith(".conf"):
            yield hit.states(
                DeadLine,
                path=text.source,
                text=hit.match[0].strip()[:200],
                module=_plain(word),
                name=rest.partition("=")[0].strip(),
                because="no-keyword",
            )


def _options(hit: Hit, module: str, values: str) -> Iterator[ModuleParameter]:
    for option in re.findall(r"(\w{2,60})=(\"[^\"\n]{0,400}\"|\S{0,400})", values):
        yield hit.states(ModuleParameter, module=module, name=option[0], configured=option[1].strip('"'))


# Debian and others give each branch a name of its own: nvidia-current, nvidia-tesla-470, nvidia-open.
_DRIVER = lazy_regex(r"(nvidia|amdgpu)(?:_(?:open|current|srv|server|tesla|legacy)\w{0,20})?\Z")


@reads(DkmsBuild, marks=(": installed", ": added", ": built"))
def dkms_status(text: Text) -> Statements:
    """`nvidia/550.90.07, 6.8.0-40-generic, x86_64: installed`, in older releases `nvidia, 550.90.07, …`."""
    form = (
        r"^[ \t]{0,8}(?P<module>[a-z][\w.+-]{1,60}?)(?:/|, )(?P<version>\d[\w.+~-]{0,60})"
        r"(?:, (?P<kernel>\d[\w.+~-]{2,80}), [\w-]{2,16})?: ?(?P<status>added|built|installed)\b(?P<warning>[^\n]{0,200})"
    )
    for hit in text.each(form):
        module = _plain(hit["module"])
        if not re.match(r"nvidia|amdgpu|i915|xe\b|intel|gdrdrv", module):
            continue
        yield hit.states(DkmsTree, module=module, version=hit["version"], registered=True)
        if hit["kernel"]:
            yield hit.states(DkmsBuild, module=module, version=hit["version"], kernel=hit["kernel"], status=hit["status"])
        name = _DRIVER.match(module)
        if hit["kernel"] and hit["status"] == "installed" and name:
            yield hit.states(KernelModule, name=name[1], built_for=[hit["kernel"]])


@reads(DkmsTree, inputs=[Listing("/var/lib/dkms/*/*/source"), Listing("/var/lib/dkms/{nvidia*,amdgpu*}/*")])
def dkms_trees(text: Text) -> Statements:
    """`/var/lib/dkms/amdgpu/6.7.0/source -> /usr/src/amdgpu-6.7.0`: what is registered."""
    for hit in text.each(r"/var/lib/dkms/(?P<module>[\w.+-]{2,60})/(?P<version>\d[\w.+~-]{0,60})(?:/source -> (?P<source>\S{1,200}))?$"):
        yield hit.states(DkmsTree, module=_plain(hit["module"]), version=hit["version"], registered=True)


@reads(inputs=[Listing("/usr/src/*/dkms.conf")], adds=(DkmsTree,))
def dkms_sources(text: Text) -> Statements:
    """`/usr/src/nvidia-550.90.07/dkms.conf`: what could be built."""
    for hit in text.each(r"(?P<source>/usr/src/(?P<module>[\w.+-]{2,60}?)-(?P<version>\d[\w.+~-]{0,60}))/dkms\.conf$"):
        yield hit.states(DkmsTree, module=_plain(hit["module"]), version=hit["version"], source=hit["source"])


@reads(DkmsBuild, inputs=[Listing("/var/lib/dkms/{nvidia*,amdgpu*}/*/[0-9]*/{x86_64,aarch64}")])
def dkms_builds(text: Text) -> Statements:
    """`/var/lib/dkms/nvidia/550.90.07/6.8.0-40-generic/x86_64`: built for that kernel."""
    for hit in text.each(r"/var/lib/dkms/(?P<module>[\w.+-]{2,60})/(?P<version>\d[\w.+~-]{0,60})/(?P<kernel>\d[\w.+~-]{2,80})/\w{2,16}$"):
        yield hit.states(DkmsBuild, module=_plain(hit["module"]), version=hit["version"], kernel=hit["kernel"])


def _plain(module: str) -> str:
    """The kernel writes underscores where files and people write dashes."""
    return module.replace("-", "_").lower()
