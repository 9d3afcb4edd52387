"""Device lists of programs that are neither vendors' tools nor torch: CUDA's samples, llama.cpp, ollama, exporters."""

import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.chips import gfx_of_target_version, isa_of_capability
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.kinds import Driver, Gpu
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.rocm_smi import gfx
from rigup.machine.readers.values import Draft, address, keyed, known_value, number, size, uuid, vendor_of, version
from rigup.machine.texts import Hit, Text

_MOST = 1024  # devices of one report


@reads(adds=(Gpu, Driver), marks=("CUDA Capability Major/Minor", "CUDA Device Query"))
def device_query(text: Text) -> Statements:
    """CUDA's deviceQuery. What CUDA may use of the memory is less than the card has."""
    heads = list(text.each(r"^[> \t]{0,40}Device (?P<index>\d{1,3}): \"(?P<name>[^\"\n]{2,80})\""))[:_MOST]
    for at, hit in enumerate(heads):
        end = heads[at + 1].start if at + 1 < len(heads) else min(hit.start + 8000, len(text.body))
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", "nvidia")
        draft.add("runtime_index", int(hit["index"]))
        draft.add("name", known_value(hit["name"]))
        draft.add("seen_by", "cuda")
        lines = {line.key: line for line in keyed(text, hit.match.end(), end)}
        if line := lines.get("CUDA Capability Major/Minor version number"):
            draft.add("isa", isa_of_capability(line.value), line.at)
        if (line := lines.get("Device PCI Domain ID / Bus ID / location ID")) and (where := _decimal(line.value)):
            draft.add("pci_address", where, line.at)
        shared = (line := lines.get("Integrated GPU sharing Host Memory")) and line.value.startswith("Yes")
        draft.add("integrated", bool(shared) if line else None)
        if (line := lines.get("Total amount of global memory")) and (match := re.search(r"\((\d{1,18}) bytes\)", line.value)):
            draft.add("unified" if shared else "vram", int(match[1]), line.at, -1)
        yield from draft.facts()
    for hit in text.each(r"CUDA Driver Version / Runtime Version +(?P<cuda>\d{1,2}\.\d{1,2})"):
        yield hit.states(Driver, vendor="nvidia", cuda=hit["cuda"])


def _decimal(value: str) -> str | None:
    """`0 / 65 / 0`: domain, bus and device in decimal."""
    match = re.match(r"(\d{1,6}) / (\d{1,3}) / (\d{1,2})\b", value)
    return f"{int(match[1]):04x}:{int(match[2]) & 0xFF:02x}:{int(match[3]) & 0x1F:02x}.0" if match else None


_GGML = (
    r"^[^\n]{0,80}?\bDevice (?P<index>\d{1,2}): (?P<name>[^,\n]{3,80}), (?:compute capability (?P<capability>\d{1,2}\.\d)"
    r"|(?P<gfx>gfx[0-9a-f]{3,4})[^,\n]{0,40})(?:,[^\n]{0,120}?VRAM: (?P<vram>\d{3,8} MiB))?"
)
_VULKAN = r"ggml_vulkan: (?P<index>\d{1,2}) = (?P<name>[^|\n]{3,120}?) \| uma: (?P<uma>[01])"
_METAL = r"ggml_metal\w{0,30}: (?:GPU name|found device): +(?P<name>Apple [\w ]{2,30}?) *$"
_USING = r"using device (?P<kind>CUDA|ROCm|Vulkan|SYCL|Metal|MTL)(?P<index>\d{1,2})? \((?P<name>[^\n]{3,80}?)\)(?: \((?:(?P<pci>[0-9a-f:.]{7,16})|unknown id)\))? - "


@reads(adds=(Gpu,), marks=("compute capability", "ggml_", "using device ", ", VMM: "))
def ggml_devices(text: Text) -> Statements:
    """llama.cpp and its kin: `Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes`."""
    for hit in text.each(_GGML):
        maker = "amd" if hit["gfx"] or _after_rocm(hit) else vendor_of(hit["name"]) or "nvidia"
        draft = _device(hit, maker, int(hit["index"]))
        if maker == "nvidia":
            draft.add("isa", isa_of_capability(hit["capability"]))
        draft.add("shown_isa", gfx(hit["gfx"]))
        draft.add("vram", size(hit["vram"]), rank=-1)
        yield from draft.facts()
    for regex in (_VULKAN, _METAL, _USING):
        for hit in text.each(regex):
            name = re.sub(r" \((?:RADV|radv|NVIDIA|AMD|Intel|ANV|DZN|TU|MoltenVK|Mesa)[^\n]{0,80}$", "", hit["name"])
            if known := vendor_of(name):
                yield from _ggml_device(hit, name, known)


def _ggml_device(hit: Hit, name: str, maker: str) -> Iterator[Gpu]:
    parts = hit.found()
    draft = _device(hit, maker, int(parts["index"]) if parts.get("index") else None, name)
    draft.add("integrated", True if parts.get("uma") == "1" or maker == "apple" else None)
    draft.add("pci_address", address(parts.get("pci", "")))
    yield from draft.facts()


def _after_rocm(hit: Hit) -> bool:
    """Older builds show AMD's cards with a "compute capability" too; their head line says ROCm."""
    return "ROCm devices" in hit.text.body[max(hit.start - 400, 0) : hit.start]


def _device(hit: Hit, maker: str | None, index: int | None, name: str = "") -> Draft[Gpu]:
    draft = Draft(hit.text, Gpu, hit.start)
    draft.add("vendor", maker)
    draft.add("runtime_index", index)
    draft.add("name", known_value(name or hit["name"]))
    return draft


_PAIR = lazy_regex(r"\b(\w{2,30})=(\"(?:[^\"\\\n]|\\.){0,200}\"|[^\s\"]{1,200})")


@reads(adds=(Gpu, Driver), marks=('msg="inference compute"', "gpu_type=gfx"))
def ollama_devices(text: Text) -> Statements:
    """ollama's `msg="inference compute" id=… library=cuda compute=8.6 driver=12.4 name=…`, and its checks of AMD's."""
    for hit in text.each(r"^[^\n]{0,300}(?:msg=\"inference compute\"|gpu_type=gfx)[^\n]{0,1500}$"):
        values = {key: value.strip('"') for key, value in _PAIR.findall(hit.match[0])}
        library = values.get("library", "").lower()
        maker = {"cuda": "nvidia", "rocm": "amd", "metal": "apple", "oneapi": "intel"}.get(library.rstrip("0123456789_v"))
        draft = Draft(text, Gpu, hit.start)
        name = re.sub(r" \(RADV [^)]{1,40}\)\Z", "", values.get("description", values.get("name", "")))
        vulkan = library == "vulkan"  # it has ids of its own, and 0.0 for every compute capability
        compute = "" if vulkan else values.get("compute", "")
        ids = re.fullmatch(r"([0-9a-f]{4}):([0-9a-f]{4})", name)
        draft.add("vendor", maker or ("amd" if "gpu_type" in values else vendor_of(name)))
        draft.add("pci_id", name if ids else None)
        draft.add("name", known_value(name) if name and not ids and vendor_of(name) else None)
        draft.add("uuid", uuid(values.get("id", values.get("gpu", ""))) if not vulkan else None)
        draft.add("pci_address", address(values.get("pci_id", "")))
        draft.add("isa", isa_of_capability(compute) or gfx(values.get("gpu_type", "")))
        draft.add("shown_isa", gfx(compute))
        draft.add("vram", size(values.get("total", "")) if values.get("type") != "iGPU" else None, rank=-2)
        draft.add("integrated", {"iGPU": True, "discrete": False}.get(values.get("type", "")))
        if draft.has("vendor") and library != "cpu":
            yield from draft.facts("vendor", "vram")
        if draft.get("vendor") == "nvidia" and re.fullmatch(r"\d{1,2}\.\d{1,2}", values.get("driver", "")):
            yield hit.states(Driver, vendor="nvidia", cuda=values["driver"])


_PROPERTIES = r"_(?P<api>Cuda|Xpu)DeviceProperties\(name='(?P<name>[^'\n]{2,80})', (?P<rest>[^\n]{2,800})\)"


@reads(adds=(Gpu,), marks=("DeviceProperties(name=",))
def torch_properties(text: Text) -> Statements:
    """torch's own print of a device: `_CudaDeviceProperties(name='…', major=8, minor=6, total_memory=24576MB, …)`."""
    for hit in text.each(_PROPERTIES):
        values = dict(re.findall(r"(\w{2,30})='?([^',\n)]{1,80})", hit["rest"]))
        hip = "gcnArchName" in values
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", "intel" if hit["api"] == "Xpu" else "amd" if hip else "nvidia")
        draft.add("name", known_value(hit["name"]))
        if hit["api"] == "Cuda" and not hip:
            draft.add("isa", isa_of_capability(f"{values.get('major')}.{values.get('minor')}"))
        draft.add("shown_isa", gfx(values.get("gcnArchName", "")))
        draft.add("vram", size(values.get("total_memory", "")), rank=-1)
        yield from draft.facts()


_GPUSTAT = r"^[> \t]{0,40}\[(?P<index>\d{1,3})\] (?P<name>[^|\n]{3,60}?) *\| *\d{1,3}.{1,2}[CF], [^|\n]{1,40}\| *(?P<used>\d{1,9}) / *(?P<total>\d{1,9}) MB"


@reads(adds=(Gpu,), marks=(" MB |", " MB\n"))
def gpustat(text: Text) -> Statements:
    """`[0] NVIDIA GeForce RTX 3090 | 45'C,   0 % |   345 / 24576 MB |`."""
    for hit in text.each(_GPUSTAT):
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", vendor_of(hit["name"]) or "nvidia")
        draft.add("nvml_index", int(hit["index"]))
        draft.add("name", known_value(hit["name"]))
        draft.add("memory_used", size(hit["used"], "m"))
        draft.add("vram", size(hit["total"], "m"))
        yield from draft.facts()


# Labels of the exporters for NVIDIA (nvidia_gpu_exporter, DCGM) and AMD, and what they tell.
_LABELS = {
    "name": "name",
    "modelName": "name",
    "card_series": "name",
    "uuid": "uuid",
    "UUID": "uuid",
    "pci_bus_id": "pci",
    "pci_bus_addr": "pci",
    "index": "index",
    "gpu": "index",
    "gpu_id": "index",
    "driver_version": "driver",
    "DCGM_FI_DRIVER_VERSION": "driver",
    "cuda_version": "cuda",
    "compute_cap": "capability",
}
_METRIC = r"^(?P<metric>[A-Za-z_:][\w:]{2,80})\{(?P<labels>[^{}\n]{3,2000})\} (?P<value>[\d.eE+-]{1,30})"
_TOTALS = {"nvidia_smi_memory_total_bytes": "", "DCGM_FI_DEV_FB_TOTAL": "m", "gpu_total_vram": "m"}


@reads(adds=(Gpu, Driver), marks=("nvidia_smi_", "DCGM_FI_", "gpu_total_vram", "card_series="))
def exported_metrics(text: Text) -> Statements:
    """Prometheus metrics: who a card is stands in the labels."""
    cards: dict[str, Draft[Gpu]] = {}
    drivers: dict[str, Draft[Driver]] = {}
    for hit in text.each(_METRIC):
        labels = {_LABELS.get(key, ""): value for key, value in re.findall(r"(\w{1,60})=\"([^\"\n]{0,200})\"", hit["labels"])}
        identity = next((key + labels[key] for key in ("uuid", "pci", "index") if labels.get(key)), "")
        if not identity or (identity not in cards and len(cards) >= _MOST):
            continue
        draft = cards.setdefault(identity, Draft(text, Gpu, hit.start))
        _add_labels(draft, hit, labels)
        if draft.get("vendor") and re.match(r"\d", labels.get("driver", "")):
            driver = drivers.setdefault(draft.get("vendor"), Draft(text, Driver, hit.start))
            driver.add("vendor", draft.get("vendor"))
            driver.add("version", version(labels["driver"]))
            driver.add("cuda", version(labels.get("cuda", "")))
    for card in cards.values():
        yield from card.facts("vendor", "nvml_index")
    for driver_draft in drivers.values():
        yield from driver_draft.facts("vendor")


def _add_labels(draft: Draft[Gpu], hit: Hit, labels: dict[str, str]) -> None:
    nvidia = hit["metric"].startswith(("nvidia_", "DCGM_"))
    draft.add("vendor", "nvidia" if nvidia else vendor_of(labels.get("name", "")))
    draft.add("name", known_value(labels.get("name", "")))
    draft.add("uuid", uuid(labels.get("uuid", "")))
    draft.add("pci_address", address(labels.get("pci", "")))
    draft.add("nvml_index", number(labels.get("index", "")))
    draft.add("isa", isa_of_capability(labels.get("capability", "")))
    if hit["metric"] in _TOTALS:
        draft.add("vram", size(hit["value"], _TOTALS[hit["metric"]]), hit.start)


@reads(adds=(Gpu,), marks=("gpu_model,gpu_arch", ",gpu_arch,"))
def profiled_system(text: Text) -> Statements:
    """rocprof-compute's sysinfo.csv: a head line and one line of the GPU that was profiled."""
    import csv

    for hit in text.each(r"^(?P<head>[^\n]{0,3000}\bgpu_arch\b[^\n]{0,3000})\n(?P<row>[^\n]{3,9000})"):
        head, row = (next(csv.reader([hit[part]]), []) for part in ("head", "row"))
        if len(head) != len(row):
            continue
        values = dict(zip(head, row, strict=True))
        draft = Draft(text, Gpu, hit.match.start("row"))
        draft.add("vendor", "amd")
        draft.add("shown_isa", gfx(values.get("gpu_arch", "")))
        model = known_value(re.sub(r"_A\d$", "", values.get("gpu_model", "")))  # the stepping is no part of the name
        draft.add("name", model if model and _is_product(model) else None)
        yield from draft.facts("vendor")


def _is_product(model: str) -> bool:
    """MI200 is a family; the catalogue knows products."""
    from rigup.knowledge.gpus import gpu_by_name
    from rigup.knowledge.names import key_of

    return any(key_of(gpu.name)[-1:] == key_of(model)[-1:] for gpu in gpu_by_name(model))


_KINDS = {"amd": "amd", "nvidia": "nvidia", "intel": "intel", "metal": "apple", "apple": "apple"}


@reads(adds=(Gpu, Driver), marks=('"amd_gpu"', '"amd_igpu"', '"amd_dgpu"', '"nvidia_gpu"', '"nvidia_dgpu"', '"metal"', '"device_type"'))
def lemonade_system(text: Text) -> Statements:
    """Lemonade's system-info: devices by kind, or a list of them; those that are not available are none."""
    from rigup.machine.readers.rocm_smi import decoded

    start = text.body.find("{")
    answer = decoded(text.body, start) if start >= 0 else None
    devices = answer.get("devices") if isinstance(answer, dict) else None
    for count, (kind, device) in enumerate(_lemonade(devices)):
        maker = _KINDS.get(kind.partition("_")[0])
        if maker and "npu" not in kind and device.get("available") is not False:
            yield from _lemonade_device(text, count, maker, kind, device)


def _lemonade(devices: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(devices, list):
        devices = [(str(entry.get("device_type", "")), entry) for entry in devices[:_MOST] if isinstance(entry, dict)]
    elif isinstance(devices, dict):
        devices = list(devices.items())[:_MOST]
    for kind, entries in devices or ():
        for entry in entries[:_MOST] if isinstance(entries, list) else [entries]:
            if isinstance(entry, dict):
                yield str(kind), entry


def _lemonade_device(text: Text, count: int, maker: str, kind: str, values: dict[str, Any]) -> Iterator[Fact]:
    name, family = str(values.get("name") or ""), str(values.get("family") or "")
    at = max(text.body.find(f'"{name}"') if name else text.body.find(f'"{kind}"'), 0)
    draft = Draft(text, Gpu, at)
    draft.add("vendor", maker)
    draft.add("adapter", count)
    draft.add("name", known_value(name) if not name.isdigit() else None)
    draft.add("isa", gfx(family) or (gfx_of_target_version(int(name)) if name.isdigit() and len(name) < 8 else None))
    shared = "igpu" in kind or maker == "apple" or values.get("integrated") is True
    draft.add("integrated", True if shared else False if "dgpu" in kind or values.get("integrated") is False else None)
    for field, key, unit in (("vram", "memory_mb", 2**20), ("vram", "vram_gb", 2**30), ("gtt", "virtual_mem_gb", 2**30)):
        amount = values.get(key)
        if isinstance(amount, int | float) and not isinstance(amount, bool) and 0 < amount < 10**8 and maker != "apple":
            draft.add(field, int(amount * unit))
    yield from draft.facts()
    if re.match(r"\d", str(values.get("driver_version", ""))):
        driver = Draft(text, Driver, max(text.body.find(str(values["driver_version"])), 0))
        driver.add("vendor", maker)
        driver.add("version", str(values["driver_version"]))
        yield from driver.facts()


_DETAILS = r"\"device_name\": *\"(?P<name>[^\"\n]{2,80})\",\s{0,40}\"device_type\": *\"AMDGPU\"(?P<rest>[^{}]{0,1000})"


@reads(adds=(Gpu,), marks=('"AMDGPU"', '\\"card0\\"'))
def amdgpu_details(text: Text) -> Statements:
    """libdrm's description of a card; and rocm-smi's JSON as a string within another."""
    from rigup.machine.readers.rocm_smi import cards, decoded

    for hit in text.each(_DETAILS):
        values = dict(re.findall(r"\"(\w{2,30})\": *\"([^\"\n]{1,80})\"", hit["rest"]))
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", "amd")
        draft.add("name", known_value(hit["name"]))
        draft.add("isa", gfx(values.get("asic_name", "")))
        draft.add("integrated", {"APU": True, "dGPU": False}.get(values.get("gpu_type", "")))
        yield from draft.facts()
    for match in list(re.finditer(r"\"\{\\\"card\d", text.body))[:20]:
        inner = decoded(text.body, match.start())
        yield from cards(text, decoded(inner, 0), match.start()) if isinstance(inner, str) else ()


@reads(adds=(Gpu,), marks=('"device_name"',))
def nvtop_snapshot(text: Text) -> Statements:
    """`nvtop -s`: a list of devices with clocks and loads; newer releases tell the memory too."""
    from rigup.machine.readers.rocm_smi import decoded

    start = re.search(r"\[\s{0,20}\{\s{0,20}\"device_name\"", text.body)
    answer = decoded(text.body, start.start()) if start else None
    devices = [entry for entry in answer[:_MOST] if isinstance(entry, dict) and "gpu_clock" in entry] if isinstance(answer, list) else []
    for count, device in enumerate(devices):
        name = str(device.get("device_name", ""))
        draft = Draft(text, Gpu, max(text.body.find(f'"{name}"'), 0))
        draft.add("vendor", vendor_of(name))
        draft.add("adapter", count)
        draft.add("name", known_value(name))
        draft.add("vram", size(str(device.get("mem_total", ""))), rank=-1)
        yield from draft.facts("vendor", "adapter")
