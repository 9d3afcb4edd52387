"""Which device holds which tensor: llama.cpp's own rule, layer by layer from the last."""

import re
from bisect import bisect_right
from functools import cache
from itertools import accumulate

import msgspec

from rigup.fit.model import Model
from rigup.fit.request import Request

_LAYER = re.compile(r"(?:blk|cache)\.(\d{1,5})")
_EXPERTS = re.compile(r"blk\.(\d{1,5})\.ffn_(?:up|down|gate|gate_up)_(?:ch)?exps")
_BEFORE = ("token_embd.", "token_types.", "position_embd.", "token_embd_norm.", "per_layer_")


class Placement(msgspec.Struct, frozen=True):
    """Layers by device; the last device is the processor.

    Attributes:
        layers: the device of each layer.
        output: the device of what turns the last layer's result into tokens.

    """

    layers: tuple[int, ...]
    output: int
    host: int
    cpu_experts: int = 0
    kv_offload: bool = True

    @property
    def on_devices(self) -> int:
        """Layers that are not the processor's, the output counted as one."""
        return sum(place != self.host for place in (*self.layers, self.output))

    @property
    def whole(self) -> bool:
        """All of it is on devices."""
        return self.on_devices == len(self.layers) + 1

    def of_tensor(self, name: str) -> int:
        """The device of a tensor, or of a layer's cache ("cache.7")."""
        if not self.host:
            return self.host  # there is no other
        if name.startswith("cache.") and not self.kv_offload:
            return self.host
        experts = _EXPERTS.match(name)
        if experts and int(experts[1]) < self.cpu_experts:
            return self.host
        layer = _LAYER.match(name)
        if layer:
            number = int(layer[1])
            return self.layers[number] if number < len(self.layers) else self.output
        return self.host if name.startswith(_BEFORE) else self.output


@cache
def group(name: str) -> tuple[str, bool]:
    """Which tensors always lie where this one does: those of its layer, its experts apart; else it stands alone."""
    layer = _LAYER.match(name)
    return (layer[1], bool(_EXPERTS.match(name))) if layer else (name, False)


def placed(model: Model, request: Request, shares: tuple[float, ...]) -> Placement:
    """Layers over devices in the given shares; those that are not asked for stay with the processor, from the first."""
    host = len(shares)
    wanted = model.layers + 1 if request.gpu_layers is None else min(request.gpu_layers, model.layers + 1)
    if not shares or wanted <= 0 or sum(shares) <= 0:
        return Placement((host,) * model.layers, host, host, request.cpu_experts, request.kv_offload)
    ends = [end / sum(shares) for end in accumulate(shares)]
    start = model.layers + 1 - wanted

    def device(layer: int) -> int:
        return host if layer < start else min(bisect_right(ends, (layer - start) / wanted), host - 1)

    layers = tuple(device(layer) for layer in range(model.layers))
    return Placement(layers, device(model.layers), host, request.cpu_experts, request.kv_offload)
