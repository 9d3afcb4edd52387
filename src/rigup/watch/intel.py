"""Intel's GPUs: files of the drivers i915 and xe. Power is the growth of energy, use is time that was not spent idle."""

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.throttling import intel_reason
from rigup.watch.amd import put_link
from rigup.watch.files import Files, number_of, text_of
from rigup.watch.hwmon import Sensors, put_intel
from rigup.watch.rates import Rates
from rigup.watch.values import Identity, Values

_SOURCE = "sysfs"
_CARD = lazy_regex(r"card\d{1,4}")
_REASON = lazy_regex(r"(?:throttle_)?reason_(?!status\Z)(\w{1,24})")
_MHZ = 1e6


class IntelGpu:
    """One card."""

    def __init__(self, files: Files, identity: Identity) -> None:
        self.files, self.folder = files, identity.folder
        self.sensors, self.rates = Sensors(files, identity.folder), Rates()
        card = next((name for name in self._names("/drm") if _CARD.fullmatch(name)), "")
        card_folder = f"{self.folder}/drm/{card}" if card else self.folder
        self.xe = f"{self.folder}/tile0/gt0" if self._names("/tile0/gt0") else ""
        self.i915 = "" if self.xe else card_folder
        self.reasons = self._reasons()

    def _names(self, inner: str) -> list[str]:
        try:
            return self.files.names(self.folder + inner)
        except OSError:
            return []

    def _reasons(self) -> dict[str, str]:
        """Files that tell why the card is slow, by their path: the reason's name."""
        folder = self.xe + "/freq0/throttle" if self.xe else self.i915 + "/gt/gt0"
        try:
            names = self.files.names(folder)
        except OSError:
            names = []
        return {f"{folder}/{name}": hit[1] for name in names if (hit := _REASON.fullmatch(name))}

    def read(self, values: Values, now: float) -> None:
        """All that the card tells now; `now` in seconds of a clock that only grows."""
        put_intel(values, self.sensors)
        if (energy := values.known.get("energy")) is not None:
            values.put("power.draw", self.rates.per_second(("energy",), energy, now, 0), "hwmon")
        put_link(values, self.files, self.folder)
        if self.xe:
            self._put_xe(values, now)
        else:
            self._put_i915(values)
        self._put_throttle(values)
        self.rates.next()

    def _put_xe(self, values: Values, now: float) -> None:
        clocks = self.xe + "/freq0/"
        values.put("clock.graphics", number_of(self.files, clocks + "act_freq"), _SOURCE, _MHZ)
        values.put("clock_max.graphics", number_of(self.files, clocks + "rp0_freq"), _SOURCE, _MHZ)
        idle = number_of(self.files, self.xe + "/gtidle/idle_residency_ms")
        if idle is not None and (rate := self.rates.per_second(("idle",), idle / 1000, now)) is not None:
            values.put("utilisation.gpu", min(max(1 - rate, 0.0), 1.0), _SOURCE)

    def _put_i915(self, values: Values) -> None:
        act = number_of(self.files, self.i915 + "/gt_act_freq_mhz")
        values.put("clock.graphics", act, _SOURCE, _MHZ)
        values.put("clock_max.graphics", number_of(self.files, self.i915 + "/gt_RP0_freq_mhz"), _SOURCE, _MHZ)

    def _put_throttle(self, values: Values) -> None:
        content = {name: text_of(self.files, path) for path, name in self.reasons.items()}
        known = {name: word == "1" for name, word in content.items() if word in ("0", "1")}
        if known:
            values.put_any("throttle", sorted({intel_reason(name) for name, holds in known.items() if holds}), _SOURCE)
