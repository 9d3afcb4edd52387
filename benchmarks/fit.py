"""How near `rigup fit` is, beside every estimator that a package index gives, and its speed model with half of the hardware left out.

    python benchmarks/fit.py FOLDER [--peers PYTHON] [--gguf FOLDER]

FOLDER holds ground_truth_split.csv, decode_speed_measured.csv and make_ground_truth.py (which needs gguf and numpy, on
PYTHONPATH). PYTHON is an interpreter in which peers are installed (`pip install hf-mem whichllm`); those that are not there,
or do not start there, are named. The yardstick is llama.cpp's own plan of a model of Q4_K_M that lies whole on one device.
"""

import argparse
import csv
import importlib.util
import itertools
import json
import math
import random
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from types import ModuleType

from rigup.fit.errors import FitError
from rigup.fit.judge import of_file, requantised_as
from rigup.fit.model import Model
from rigup.fit.names import named
from rigup.fit.plan import planned
from rigup.fit.pools import Pool
from rigup.fit.request import Request
from rigup.fit.shapes import model_of
from rigup.fit.speed import active, decode, touched
from rigup.fit.where import pools_on

MIB = 1 << 20
PLACES = (Pool(name="device", kind="vram", backend="none"), Pool(name="RAM", kind="ram", backend="cpu"))
HARDWARE = {
    "nvidia-geforce-rtx-5070": "RTX 5070, ram 64GB",
    "amd-radeon-rx-7900-xt": "RX 7900 XT, ram 64GB",
    "apple-m4-pro": "Apple M4 Pro, ram 48GB",
    "nvidia-geforce-rtx-2080": "RTX 2080, ram 64GB",
    "nvidia-geforce-gtx-1050-ti": "GTX 1050 Ti, ram 64GB",
    "nvidia-geforce-rtx-2070-super": "RTX 2070 SUPER, ram 64GB",
    "nvidia-gb10": "GB10, ram 64GB",
}
PEERS = r"""
import json, sys
asked = json.load(sys.stdin)
def tell(name, work):
    try:
        work(asked[0])
        told = []
        for one in asked:
            try:
                told.append(work(one))
            except Exception:
                told.append(None)
        print(json.dumps({"tool": name, "told": told}))
    except BaseException as error:
        print(json.dumps({"tool": name, "why": f"{type(error).__name__}: {error}"[:160]}))
def hf_mem(one):
    from hf_mem.gguf.metadata import parse_gguf_metadata
    found = parse_gguf_metadata(open(one["header"], "rb").read(), True, one["context"], "F16", 1)
    return found.bytes_count + (found.kv_cache.cache_size if found.kv_cache else 0)
def whichllm(one):
    from whichllm.engine.vram import estimate_vram
    from whichllm.models.types import GGUFVariant, ModelInfo
    model = ModelInfo("x", "x", one["model"], one["parameters"], one["active"], one["architecture"], one["active"] is not None)
    return estimate_vram(model, GGUFVariant("x.gguf", "Q4_K_M", one["bytes"]), one["context"])
tell("hf-mem", hf_mem)
tell("whichllm", whichllm)
"""


def maker(folder: Path) -> ModuleType:
    """The script that writes headers of the table's shapes."""
    told = importlib.util.spec_from_file_location("make_ground_truth", folder / "make_ground_truth.py")
    module = importlib.util.module_from_spec(told)
    told.loader.exec_module(module)
    return module


def header_of(model: Model) -> bytes:
    """The model as a GGUF header, for tools that read one."""

    def text(said: str) -> bytes:
        return struct.pack("<Q", len(said.encode())) + said.encode()

    def value(said: object) -> bytes:
        if isinstance(said, bool):
            return struct.pack("<IB", 7, said)
        if isinstance(said, str):
            return struct.pack("<I", 8) + text(said)
        if isinstance(said, float):
            return struct.pack("<If", 6, said)
        if isinstance(said, list):
            return struct.pack("<IIQ", 9, 5, len(said)) + b"".join(struct.pack("<i", int(one)) for one in said)
        return struct.pack("<II", 4, said)

    keys = {
        name: said
        for name, said in model.keys.items()
        if isinstance(said, (bool, int, float, str)) or (isinstance(said, list) and all(isinstance(one, int) for one in said))
    }
    parts, at = (
        [b"GGUF" + struct.pack("<IQQ", 3, len(model.tensors), len(keys)), *(text(name) + value(said) for name, said in keys.items())],
        0,
    )
    for one in model.tensors:
        parts.append(text(one.name) + struct.pack(f"<I{len(one.sizes)}Q", len(one.sizes), *one.sizes) + struct.pack("<IQ", one.kind, at))
        at += -(-one.bytes // 32) * 32
    return b"".join(parts)


def memory(folder: Path, scratch: Path, python: str) -> None:
    """Errors of the device's memory, by tool."""
    make, models, asked, truth = maker(folder), {}, [], []
    with (folder / "ground_truth_split.csv").open(encoding="utf-8") as table:
        rows = [
            row
            for row in csv.DictReader(table)
            if row["n_dev"] == "1"
            and row["ngl"] == "999"
            and not row["extra"]
            and (row["fa"], row["type_kv"], row["n_ubatch"]) == ("on", "f16", "512")
        ]
    ours = []
    for row in rows:
        name = row["model"]
        if name not in models:
            file = scratch / f"{name}.gguf"
            if not file.exists():
                make.write_gguf(str(file), make.FULL[name])
            models[name] = requantised_as(of_file(file), "Q4_K_M").model
            (scratch / f"{name}.head").write_bytes(header_of(models[name]))
        model = models[name]
        truth.append(sum(int(row[f"dev0_{part}"]) for part in ("model", "ctx", "compute")) * MIB)
        ours.append(planned(model, Request(context=int(row["n_ctx"]), gpu_layers=999), PLACES).parts[0].total)
        experts = model.number("expert_count")
        asked.append(
            {
                "model": name,
                "context": int(row["n_ctx"]),
                "header": str(scratch / f"{name}.head"),
                "architecture": model.architecture,
                "parameters": model.parameters,
                "active": active(model) if experts else None,
                "bytes": sum(one.bytes for one in model.tensors),
            }
        )
    told = {"rigup fit": ours, "weights x 1.2": [int(one["bytes"] * 1.2) for one in asked]}
    done = subprocess.run([python, "-c", PEERS], input=json.dumps(asked), capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        one = json.loads(line)
        if "told" in one:
            told[one["tool"]] = one["told"]
        else:
            print(f"{one['tool']:14} cannot be asked: {one['why']}")
    print(f"{len(truth)} plans of {len(models)} models on one device")
    for tool, found in told.items():
        errors = sorted(100 * (one / real - 1) for one, real in zip(found, truth, strict=True) if one is not None)
        sizes = sorted(map(abs, errors))
        silent = f"  no answer to {len(found) - len(errors)}" if len(errors) < len(found) else ""
        print(
            f"{tool:14} median {sizes[len(sizes) // 2]:6.2f} %  90th {sizes[int(len(sizes) * 0.9)]:7.2f} %  worst {errors[0]:+8.2f} % {errors[-1]:+8.2f} %{silent}"
        )


def runs(folder: Path) -> list[tuple]:
    """Measured runs of models that lie whole on a device: hardware, whether it has experts, seconds of a byte's reading, the answer."""
    pools = {name: pools_on(said) for name, said in HARDWARE.items()}
    models, found = {}, []
    with (folder / "decode_speed_measured.csv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table):
            if row["provider"] != "llamacpp" or row["hw"] not in pools or not float(row["tok_s"] or 0):
                continue
            try:
                name = named(row["model"])
            except FitError:
                continue
            key = (name.shape.name, name.type)
            model = models.setdefault(key, None) or models.update({key: model_of(*(name.shape, name.type))}) or models[key]
            places, asked = pools[row["hw"]], Request(context=2048, gpu_layers=999, outputs=1)
            plan = planned(model, asked, places, quick=True)
            device = places[0]
            if device.free is None or plan.parts[0].total > device.free or not device.bandwidth:
                continue
            moved = touched(model, plan)[0] + plan.parts[0].kv // 10
            found.append(
                (
                    row["hw"],
                    bool(model.number("expert_count")),
                    moved / device.bandwidth,
                    1 / float(row["tok_s"]),
                    decode(model, asked, plan, places),
                )
            )
    return found


def fitted(points: list[tuple[float, float]]) -> tuple[float, float]:
    """A token's fixed time and the share of the bandwidth that explain runs best."""
    grid = itertools.product((step * 1e-4 for step in range(5, 80)), (step / 100 for step in range(40, 100, 2)))
    return min(grid, key=lambda one: statistics.median(abs((one[0] + x / one[1]) / y - 1) for x, y in points))


def speed(folder: Path) -> None:
    """The shipped figures on all runs, and figures fitted to half of the hardware on the other half."""
    found = runs(folder)
    for kind, name in ((False, "dense"), (True, "with experts")):
        mine = [(told, 1 / seconds) for _hw, experts, _x, seconds, told in found if experts is kind and told]
        errors = [abs(rate.likely / real - 1) for rate, real in mine]
        inside = sum(rate.low <= real <= rate.high for rate, real in mine)
        print(
            f"decode, {name}: {len(mine)} runs, median error {100 * statistics.median(errors):.1f} %, {inside} inside the range ({100 * inside / len(mine):.0f} %)"
        )
    by: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for hw, experts, x, seconds, _told in found:
        if not experts:
            by[hw].append((x, seconds))
    names = sorted(hw for hw, points in by.items() if len(points) >= 10)
    left = []
    for half in itertools.combinations(names, len(names) // 2):
        fixed, share = fitted([point for hw in half for point in by[hw]])
        others = [point for hw in names if hw not in half for point in by[hw]]
        left.append(statistics.median(abs((fixed + x / share) / y - 1) for x, y in others))
    print(
        f"decode, dense, half of {len(names)} devices left out: over {len(left)} halves the left-out half's median error is {100 * statistics.median(left):.1f} % in the median, {100 * min(left):.1f} to {100 * max(left):.1f} %"
    )


Mixture = tuple[str, float, int, float]
"""A run of a mixture of experts: the device, seconds in which its bytes pass, its layers, seconds of a token."""
KERNELS = ("cuda", "rocm")  # back ends that share a row


def mixtures(folder: Path) -> list[Mixture]:
    """Runs that others published, and the community's, of models that lie whole on a device."""
    found = []
    with (Path(__file__).parent / "data" / "mixtures.csv").open(encoding="utf-8") as table:
        whole = [(row["model"], row["device"] + ", ram 128GB", row["tokens_per_second"]) for row in csv.DictReader(table)]
    with (folder / "decode_speed_measured.csv").open(encoding="utf-8") as table:
        told = [row for row in csv.DictReader(table) if row["provider"] == "llamacpp" and float(row["tok_s"] or 0)]
    unsure = [(row["model"], HARDWARE[row["hw"]], row["tok_s"]) for row in told if row["hw"] in HARDWARE]
    for name, device, rate in (*whole, *unsure):
        try:
            known = named(name)
        except FitError:
            continue
        model, places = model_of(known.shape, known.type), pools_on(device)
        plan = planned(model, Request(context=512, gpu_layers=999, outputs=1), places, quick=True)
        split = (name, device, rate) in unsure and plan.parts[0].total > (places[0].free or 0)
        if model.number("expert_count") and places[0].backend in KERNELS and places[0].bandwidth and not split:
            found.append((places[0].name, touched(model, plan)[0] / places[0].bandwidth, model.layers, 1 / float(rate)))
    return found


def half_of_mixtures(found: list[Mixture], halves: int = 200) -> None:
    """A range drawn on half of the devices, held against the others'."""
    devices, chance, inside, errors = sorted({row[0] for row in found}), random.Random(1), [], []
    for _half in range(halves):
        mine = set(chance.sample(devices, len(devices) // 2))
        grid = itertools.product((step / 100 for step in range(50, 100, 4)), (step * 1e-5 for step in range(2, 16)))

        def ratios(one: tuple[float, float], own: bool, mine: set[str] = mine) -> list[float]:
            share, layer = one
            return [(x / share + layers * layer) / y for device, x, layers, y in found if (device in mine) is own]

        best = min(grid, key=lambda one: statistics.median(abs(math.log(ratio)) for ratio in ratios(one, True)))
        low, high = 0.8 * min(ratios(best, True)), 1.25 * max(ratios(best, True))
        others = ratios(best, False)
        inside.append(sum(low <= ratio <= high for ratio in others) / len(others))
        errors.append(statistics.median(abs(ratio - 1) for ratio in others))
    print(
        f"decode, with experts, half of {len(devices)} devices left out: over {halves} halves the range holds {100 * statistics.mean(inside):.0f} % of {len(found)} runs in the mean, {100 * min(inside):.0f} % at least; median error {100 * statistics.median(errors):.0f} %"
    )


def times(scratch: Path) -> None:
    """Processor time of a header, and of a whole process for a local file."""
    file = max(scratch.glob("*.gguf"), key=lambda path: path.stat().st_size)
    began = time.process_time()
    of_file(file)
    print(f"header of {file.name} ({file.stat().st_size / 1e9:.0f} GB): {1000 * (time.process_time() - began):.0f} ms of CPU")
    for words in ([], ["--formula"]):
        spent = []
        for _number in range(3):
            began = time.monotonic()
            subprocess.run([sys.executable, "-m", "rigup", "fit", str(file), "--on", "cpu", *words], capture_output=True, check=False)
            spent.append(time.monotonic() - began)
        print(f"whole process {' '.join(words) or 'with all answers'}: {min(spent):.2f} s, the best of 3")


def main() -> int:
    """Run all of it."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("folder", type=Path)
    ask.add_argument("--peers", default=sys.executable)
    ask.add_argument("--gguf", type=Path, help="where headers are kept; by default a folder that goes")
    asked = ask.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = asked.gguf or Path(scratch)
        memory(asked.folder, place, asked.peers)
        times(place)
    speed(asked.folder)
    half_of_mixtures(mixtures(asked.folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
