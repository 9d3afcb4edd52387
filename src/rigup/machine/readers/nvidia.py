"""NVIDIA: what its kernel module tells under /proc, and which driver libraries a world holds."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import DriverLibrary, Gpu, ModuleParameter, PathLibrary, Toolkit
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.values import Draft, address, known_value, uuid
from rigup.machine.texts import Text

_GPUS = "/proc/driver/nvidia/gpus/"
_PARAMETERS = (
    "EnableGpuFirmware|PreserveVideoMemoryAllocations|ModifyDeviceFiles|DeviceFileMode|DeviceFileUID|DeviceFileGID|"
    "DynamicPowerManagement|OpenRmEnableUnsupportedGpus|EnablePCIeRelaxedOrderingMode|GrdmaPciTopoCheckOverride|"
    "ExcludedGpus|TemporaryFilePath|UsePageAttributeTable|EnableResizableBar|S0ixPowerManagement|UseKernelSuspendNotifiers"
)
_LIBRARIES = "lib{cuda,nvidia-ml}.so*"
_FOLDERS = (
    "/usr/lib/{x86_64,aarch64,powerpc64le}-linux-gnu/",
    "/lib/{x86_64,aarch64}-linux-gnu/",
    "/usr/lib/{x86_64,aarch64}-linux-gnu/{nvidia/current,nvidia,tegra,tegra-egl}/",
    "/usr/{lib64,lib}/",
    "/usr/lib64/nvidia/",
    "/usr/lib/nvidia-[0-9]*/",
    "/usr/lib/wsl/lib/",
    "/usr/local/nvidia/{lib64,lib}/",
    "/run/opengl-driver/lib/",
    "/.singularity.d/libs/",
)
_FILE = lazy_regex(
    r"(?P<path>(?P<folder>/\S{0,200}/)(?P<soname>lib(?:cuda|nvidia-ml)\.so(?P<digit>\.1)?)(?:\.(?P<version>\d{2,4}(?:\.\d{1,4}){1,2}))?)"
    r"(?: -> (?P<target>\S{1,200}))?[ \t]*$",
    re.MULTILINE,
)


@reads(inputs=[File(_GPUS + "*/information", wakes="10de")], marks=("GPU UUID:",), adds=(Gpu,), rank=2)
def nvidia_information(text: Text) -> Statements:
    """`Model: NVIDIA GeForce RTX 3090`, `GPU UUID: GPU-…`, `Bus Location: 0000:01:00.0`."""
    fields = {
        hit["key"]: hit for hit in text.each(r"^(?P<key>Model|GPU UUID|Bus Location|GPU Excluded):[ \t]{1,8}(?P<value>\S[^\n]{0,100})$")
    }
    if "Model" not in fields or not {"Bus Location", "GPU UUID"} & fields.keys():
        return
    draft = Draft(text, Gpu, fields["Model"].start)
    draft.add("vendor", "nvidia")
    draft.add("name", known_value(fields["Model"]["value"]))
    draft.add("driver", "nvidia")
    if hit := fields.get("Bus Location"):
        draft.add("pci_address", address(hit["value"]), hit.start)
    if hit := fields.get("GPU UUID"):
        draft.add("uuid", uuid(hit["value"]), hit.start)
    yield from draft.facts("vendor", "driver")


@reads(inputs=[Listing(_GPUS + "*")], adds=(Gpu,), rank=2)
def nvidia_folders(text: Text) -> Statements:
    """A folder for each card that the module drives, named by its address."""
    for hit in text.each(_GPUS + r"(?P<pci_address>[0-9a-f:.]{7,16})$"):
        if where := address(hit["pci_address"]):
            yield hit.states(Gpu, pci_address=where, vendor="nvidia", driver="nvidia")


@reads(inputs=[File("/proc/driver/nvidia/params")], marks=("EnableGpuFirmware:",), adds=(ModuleParameter,), rank=2)
def nvidia_parameters(text: Text) -> Statements:
    """`EnableGpuFirmware: 18`: what the module runs with, under its registry's names."""
    for hit in text.each(rf"^(?P<name>{_PARAMETERS}): (?P<value>[^\n]{{0,200}})$"):
        yield hit.states(ModuleParameter, module="nvidia", name="NVreg_" + hit["name"], running=hit["value"].strip('" '))


@reads(DriverLibrary, inputs=[Listing(folder + _LIBRARIES) for folder in _FOLDERS], marks=("libcuda.so.", "libnvidia-ml.so."))
def nvidia_libraries(text: Text) -> Statements:
    """`libcuda.so.1 -> libcuda.so.550.90.07`: which driver the user space is of."""
    for match in _FILE.finditer(text.body):
        folder, version = match["folder"], _version(match["version"], match["target"])
        at = match.start("path")
        if "/stubs/" in folder or "/compat/" in folder or (not match["digit"] and not version):
            continue
        draft = Draft(text, DriverLibrary, at)
        draft.add("soname", match["soname"].removesuffix(".1") + ".1")
        draft.add("path", folder + match["soname"].removesuffix(".1") + ".1")
        draft.add("version", version)
        yield from draft.facts("soname")


def _version(own: str | None, target: str | None) -> str | None:
    """Of the file itself, or of the one that it leads to."""
    led = re.search(r"\.so\.(\d{2,4}(?:\.\d{1,4}){1,2})\Z", target or "")
    return own or (led[1] if led else None)


@reads(
    PathLibrary,
    inputs=[
        Listing("/usr/local/cuda{,-*}/{lib64/stubs,compat,compat/lib.real,compat/lib}/libcuda.so*"),
        Listing("/usr/local/cuda{,-*}/targets/*/lib/stubs/libcuda.so"),
    ],
)
def toolkit_libcuda(text: Text) -> Statements:
    """The toolkit's stub, and the forward compatibility package."""
    for hit in text.each(
        r"(?P<path>(?P<folder>/usr/local/cuda\S{0,120}/(?P<kind>stubs|compat)(?:/lib|/lib\.real)?)/(?P<soname>libcuda\.so(?:\.1)?)(?:\.(?P<version>\d{2,4}\.[\d.]{1,12}))?)(?: -> (?P<target>\S{1,200}))?$"
    ):
        stub = hit["kind"] == "stubs"
        known = {"version": release} if (release := _version(hit["version"] or None, hit["target"])) else {}
        yield hit.states(PathLibrary, path=hit["path"], folder=hit["folder"], soname=hit["soname"], stub=stub, compat=not stub, **known)


@reads(inputs=[File("/usr/local/cuda{,-*}/version.json")], marks=('"cuda" :', '"cuda_nvcc" :'), adds=(Toolkit,))
def cuda_toolkit(text: Text) -> Statements:
    """`"cuda" : {"name" : "CUDA SDK", "version" : "12.4.1"}`."""
    if hit := text.first(r'"cuda"\s{0,8}:\s{0,8}\{[^{}]{0,200}"version"\s{0,8}:\s{0,8}"(?P<version>\d{1,3}\.[\d.]{1,12})"'):
        folder = text.source.rpartition("/version.json")[0]
        known = {"path": folder} if folder else {}
        yield hit.states(Toolkit, name="cuda", version=hit["version"], **known)


@reads(inputs=[File("/usr/local/cuda{,-*}/version.txt")], marks=("CUDA Version ",), adds=(Toolkit,))
def cuda_toolkit_of_old(text: Text) -> Statements:
    """`CUDA Version 10.2.89`, up to CUDA 11.0."""
    if hit := text.first(r"^CUDA Version (?P<version>\d{1,3}\.[\d.]{1,12})\s*$"):
        known = {"path": text.source.removesuffix("/version.txt")} if text.source.endswith("/version.txt") else {}
        yield hit.states(Toolkit, name="cuda", version=hit["version"], **known)


@reads(inputs=[File("/proc/device-tree/model"), File("/sys/firmware/devicetree/base/model")], adds=(Gpu,))
def jetson_model(text: Text) -> Statements:
    """`NVIDIA Jetson AGX Orin Developer Kit`: its GPU is on no bus."""
    if hit := text.first(r"\A(?:NVIDIA )?(?P<name>Jetson [A-Z][\w ]{1,40}?)(?: Developer Kit| Engineering| Super| with|[\0\n]|\Z)"):
        yield hit.states(Gpu, vendor="nvidia", name="NVIDIA " + hit["name"], integrated=True)


@reads(inputs=[File("/etc/nv_tegra_release")], marks=("(release), REVISION:",), adds=(Toolkit,))
def jetson_release(text: Text) -> Statements:
    """`# R35 (release), REVISION: 4.1, …`: Linux for Tegra, driver and user space in one."""
    if hit := text.first(r"^# R(?P<major>\d{2}) \(release\), REVISION: (?P<minor>\d{1,2}\.\d{1,2})"):
        yield hit.states(Toolkit, name="l4t", version=hit["major"] + "." + hit["minor"], path="/etc/nv_tegra_release")
