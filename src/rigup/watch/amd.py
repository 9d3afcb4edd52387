"""AMD's GPUs: amdgpu's files in sysfs and hwmon, then the firmware's table for what only it has.

The kernel's own files win, for there the kernel has turned the firmware's units into fixed ones. A card that sleeps is
not read: even its sensors would wake it.
"""

from rigup.knowledge.patterns import lazy_regex
from rigup.watch import gpu_metrics
from rigup.watch.files import Files, number_of, text_of
from rigup.watch.hwmon import Sensors, put_amd
from rigup.watch.values import Identity, Values

_SOURCE = "sysfs"
_SPEED = lazy_regex(r"(\d{1,3}(?:\.\d{1,2})?) GT/s")
_RAS = lazy_regex(r"(\w{1,24})_err_count")
_MOST_BLOCKS = 32


class AmdGpu:
    """One card."""

    def __init__(self, files: Files, identity: Identity) -> None:
        self.files, self.who, self.folder = files, identity, identity.folder
        self.sensors = Sensors(files, identity.folder)
        self._metrics: gpu_metrics.Table | None = None
        try:
            self._blocks = [name for name in files.names(self.folder + "/ras") if _RAS.fullmatch(name)][:_MOST_BLOCKS]
        except OSError:
            self._blocks = []

    def read(self, values: Values, now: float) -> None:  # noqa: ARG002
        """All that the card tells now."""
        self._put_sysfs(values)
        put_amd(values, self.sensors)
        put_link(values, self.files, self.folder)
        self._put_metrics(values)
        self._put_ras(values)
        if "power.draw" in values.known:
            shared = self.who.integrated
            values.put_any("power.scope", "socket" if shared else "gpu", values.source["power.draw"])

    def _number(self, name: str) -> int | None:
        return number_of(self.files, f"{self.folder}/{name}")

    def _put_sysfs(self, values: Values) -> None:
        values.put_share("utilisation.gpu", self._number("gpu_busy_percent"), _SOURCE)
        values.put_share("utilisation.memory", self._number("mem_busy_percent"), _SOURCE)
        values.put_share("utilisation.media", self._number("vcn_busy_percent"), _SOURCE)
        for kind, name in (("vram", "vram"), ("visible_vram", "vis_vram"), ("gtt", "gtt")):
            total, used = (self._number(f"mem_info_{name}_{part}") for part in ("total", "used"))
            values.put(f"memory.{kind}.total", total, _SOURCE)
            values.put(f"memory.{kind}.used", used, _SOURCE)
            if total is not None and used is not None and used <= total:
                values.put(f"memory.{kind}.free", total - used, _SOURCE)
        values.put("pcie.replays", self._number("pcie_replay_count"), _SOURCE)
        if mode := text_of(self.files, self.folder + "/current_compute_partition"):
            self._mode = mode[:16]

    _mode = ""

    def _put_metrics(self, values: Values) -> None:
        path = self.folder + "/gpu_metrics"
        try:
            raw = self.files.read(path)
        except FileNotFoundError:
            return
        except OSError as error:
            values.trouble(path, error.strerror or type(error).__name__)
            return
        try:
            table = gpu_metrics.decode(raw)
        except gpu_metrics.BadTable as error:
            values.trouble(path, str(error))
            return
        gpu_metrics.put(values, table)
        gpu_metrics.put_residencies(values, self._metrics, table)
        self._metrics = table
        values.put_any("partitions", _partitions(table, self._mode), "gpu_metrics " + table.revision)

    def _put_ras(self, values: Values) -> None:
        """`ue: 0` and `ce: 0` of each block."""
        counts = {}
        for name in self._blocks:
            content = text_of(self.files, f"{self.folder}/ras/{name}") or ""
            words = dict(line.partition(":")[::2] for line in content.splitlines())
            pair = [words.get(word, "").strip() for word in ("ce", "ue")]
            if all(word.isdecimal() and len(word) < 20 for word in pair):
                counts[name.removesuffix("_err_count")] = {"corrected": int(pair[0]), "uncorrected": int(pair[1])}
        if counts:
            values.put_any("errors.ras", counts, _SOURCE)
            if "umc" in counts:
                values.put("errors.ecc_corrected", counts["umc"]["corrected"], _SOURCE)
                values.put("errors.ecc_uncorrected", counts["umc"]["uncorrected"], _SOURCE)


def put_link(values: Values, files: Files, folder: str) -> None:
    """Width and speed of the link to the host, as PCI's own files tell them."""
    for path, name in (("width", "current_link_width"), ("width_max", "max_link_width")):
        width = number_of(files, f"{folder}/{name}")
        values.put("pcie." + path, width if width and width <= 32 else None, _SOURCE)
    for path, name in (("speed", "current_link_speed"), ("speed_max", "max_link_speed")):
        if hit := _SPEED.match(text_of(files, f"{folder}/{name}") or ""):
            values.put("pcie." + path, float(hit[1]), _SOURCE, 1e9)


def _partitions(table: gpu_metrics.Table, mode: str) -> list[dict[str, object]] | None:
    """Parts of a card that is split; None for a whole one."""
    count = table.number("num_partition")
    if count is None or not 1 < count <= len(table.partitions):
        return None
    parts = []
    for number in range(count):
        busy = [share for share in table.partitions[number].get("gfx_busy_inst", ()) if share is not None and share <= 100]
        part: dict[str, object] = {"name": f"xcp{number}", **({"profile": mode} if mode else {})}
        parts.append(part | ({"utilisation": {"gpu": sum(busy) / len(busy) / 100}} if busy else {}))
    return parts
