"""A device's sensors as the kernel's hwmon class gives them: m°C, µW, µJ, Hz, mV, rpm (Documentation/hwmon/sysfs-interface.rst)."""

from rigup.knowledge.patterns import lazy_regex
from rigup.watch.files import Files, number_of, text_of
from rigup.watch.values import Values

_INPUT = lazy_regex(r"(temp|power|energy|freq|fan|in)(\d{1,2})_(input|average)")
_SOURCE = "hwmon"
_FULL_FAN = 255  # of pwm1


class Sensors:
    """Which files a device's hwmon folder has; looked up once, for names and labels do not change."""

    def __init__(self, files: Files, folder: str) -> None:
        self.files, self.folder = files, ""
        try:
            names = files.names(folder + "/hwmon")
            self.folder = next((f"{folder}/hwmon/{name}" for name in names if name.startswith("hwmon")), "")
            present = files.names(self.folder) if self.folder else []
        except OSError:
            present = []
        self.present = frozenset(present)
        self.labels = {
            name: (text_of(files, f"{self.folder}/{hit[1]}{hit[2]}_label") or "").lower()
            for name in present
            if (hit := _INPUT.fullmatch(name))
        }

    def number(self, name: str) -> int | None:
        """A sensor's number; None where it has none."""
        return number_of(self.files, f"{self.folder}/{name}") if name in self.present else None

    def labelled(self, kind: str, *labels: str) -> int | None:
        """The number of the sensor of a kind that has one of the labels."""
        for name, label in self.labels.items():
            if name.startswith(kind) and label in labels and (number := self.number(name)) is not None:
                return number
        return None


def put_amd(values: Values, sensors: Sensors) -> None:
    """What amdgpu's hwmon gives."""
    for sensor in ("edge", "junction", "mem"):
        path = "temperature." + ("memory" if sensor == "mem" else sensor)
        values.put(path, sensors.labelled("temp", sensor), _SOURCE, 1e-3)
    limits = [sensors.number(name) for name in ("temp2_crit", "temp1_crit")]
    values.put("temperature.limit", next((limit for limit in limits if limit), None), _SOURCE, 1e-3)
    draws = [sensors.number(name) for name in ("power1_average", "power1_input")]
    values.put("power.draw", next((draw for draw in draws if draw is not None), None), _SOURCE, 1e-6)
    for path, name in (("limit", "power1_cap"), ("limit_default", "power1_cap_default"), ("limit_max", "power1_cap_max")):
        values.put("power." + path, sensors.number(name), _SOURCE, 1e-6)
    values.put("clock.graphics", sensors.labelled("freq", "sclk"), _SOURCE)
    values.put("clock.memory", sensors.labelled("freq", "mclk"), _SOURCE)
    values.put("fan.rpm", sensors.number("fan1_input"), _SOURCE)
    values.put_share("fan.speed", sensors.number("pwm1"), _SOURCE, _FULL_FAN)
    values.put("voltage.graphics", sensors.labelled("in", "vddgfx"), _SOURCE, 1e-3)


def put_intel(values: Values, sensors: Sensors) -> None:
    """What the hwmon of i915 and xe gives; xe labels its sensors, i915 has one of each."""
    package = sensors.labelled("temp", "pkg")
    values.put("temperature.edge", sensors.number("temp1_input") if package is None else package, _SOURCE, 1e-3)
    values.put("temperature.memory", sensors.labelled("temp", "vram"), _SOURCE, 1e-3)
    values.put("temperature.limit", sensors.number("temp2_crit"), _SOURCE, 1e-3)
    for path, name in (("limit", "max"), ("limit_default", "rated_max")):
        caps = [sensors.number(f"power{number}_{name}") for number in (1, 2)]
        values.put("power." + path, next((cap for cap in caps if cap), None), _SOURCE, 1e-6)
    card, package = sensors.labelled("energy", "card"), sensors.labelled("energy", "pkg")
    values.put("energy", next((count for count in (card, sensors.number("energy1_input"), package) if count), None), _SOURCE, 1e-6)
    values.put("fan.rpm", sensors.number("fan1_input"), _SOURCE)
    voltages = [sensors.number(name) for name in ("in0_input", "in1_input")]
    values.put("voltage.graphics", next((millivolts for millivolts in voltages if millivolts), None), _SOURCE, 1e-3)
