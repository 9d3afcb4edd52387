"""What a rank can tell of itself: its numbers, its masks, the name at which all meet, its device; each check returns what it saw or refuses."""

import argparse
import datetime as dt
import fcntl
import os
import re
import socket
import struct
from typing import Any, Dict, List

REDUCE = 20.0  # seconds
MATRIX = 64


class Refused(Exception):
    """A check that failed; the text is its cause."""


class Rank:
    """Which rank this is, as its launcher tells it; numbers are -1 where it tells nothing."""

    def __init__(self, variables: Dict[str, str]) -> None:
        """Of torchrun where that started us, else of Slurm."""
        elastic = "TORCHELASTIC_RUN_ID" in variables
        self.launcher = "torchrun" if elastic else "srun" if "SLURM_PROCID" in variables else "none"
        names = (
            ("RANK", "WORLD_SIZE", "LOCAL_RANK", "GROUP_RANK")
            if elastic or self.launcher == "none"
            else ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NODEID")
        )
        self.rank, self.world, self.local, self.node_number = (_number(variables.get(name, "")) for name in names)
        self.spread = variables.get("SLURM_STEP_TASKS_PER_NODE", "") if self.launcher == "srun" else ""
        self.node = variables.get("SLURMD_NODENAME") or socket.gethostname()

    def variables(self, on_node: int) -> Dict[str, str]:
        """What torch reads of its rank. Without GROUP_RANK: with it Lightning takes srun for torchrun, and requeues nothing."""
        if self.launcher != "srun":
            return {}
        numbers = {
            "RANK": self.rank,
            "WORLD_SIZE": self.world,
            "LOCAL_RANK": self.local,
            "LOCAL_WORLD_SIZE": on_node,
            "NODE_RANK": self.node_number,
        }
        return {name: str(number) for name, number in numbers.items()}


def _number(text: str) -> int:
    return int(text) if text.isdigit() else -1


def right_numbers(rank: Rank, asked: argparse.Namespace) -> str:
    """Tasks, nodes and the world are those that were asked for; returns what they are."""
    expected = asked.nodes * asked.tasks_per_node
    if rank.launcher == "none" and expected > 1:
        raise Refused("no launcher numbered this process: the program was started without srun or torchrun in front of it")
    if rank.launcher == "none":
        rank.rank, rank.world, rank.local, rank.node_number = 0, 1, 0, 0
    if rank.world != expected:
        raise Refused(
            f"{rank.world} ranks run and {expected} were asked for ({asked.nodes} nodes with {asked.tasks_per_node}): "
            "with fewer, a part of the data is never read"
        )
    counts = spread_of(rank.spread)
    if counts and (len(counts) != asked.nodes or set(counts) != {asked.tasks_per_node}):
        raise Refused(f"ranks are spread over nodes as {rank.spread}, and not {asked.tasks_per_node} on each of {asked.nodes}")
    return str(rank.world)


def spread_of(text: str) -> List[int]:
    """Tasks on each node, as Slurm writes them: "2(x3),1" is 2, 2, 2, 1. Empty for what is no such text."""
    counts: List[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,5})(?:\(x(\d{1,5})\))?", part)
        if match is None:
            return []
        counts += [int(match[1])] * int(match[2] or 1)
    return counts


def single_mask(variables: Dict[str, str], vendor: str) -> str:
    """AMD's runtime renumbers the GPUs that ROCR_VISIBLE_DEVICES leaves; a second mask then counts among those. Returns what is set."""
    first = variables.get("ROCR_VISIBLE_DEVICES")
    if vendor == "nvidia" or not first:
        return "one"
    left = len([word for word in first.split(",") if word.strip()])
    for name in ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"):
        wanted = [word.strip() for word in variables.get(name, "").split(",") if word.strip()]
        lost = [word for word in wanted if word.isdigit() and int(word) >= left]
        if lost:
            raise Refused(
                f"ROCR_VISIBLE_DEVICES={first} leaves {left} GPUs, which are numbered from 0, and {name}={variables[name]} chooses number "
                f"{lost[0]} among them, which is not there: leave {name} unset"
            )
    return "one" if not any(name in variables for name in ("HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES")) else "two, without harm"


def address_of(name: str) -> str:
    """The address that a name resolves to, IPv4 before IPv6."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Refused(
            f"MASTER_ADDR={name} does not resolve on this node ({getattr(error, 'strerror', None) or error}): all ranks would wait for rank 0 "
            "until the time limit. Start with --address, and an address of the first node that the others reach"
        ) from None
    return str(min(found, key=lambda entry: entry[0] != socket.AF_INET)[4][0])


def own_device(torch: Any, rank: Rank, asked: argparse.Namespace) -> Any:
    """The device of this rank: all GPUs of the node are seen, and the one with the rank's own number computes right."""
    if not asked.gpus_per_node:
        return torch.device("cpu")
    backend = torch.xpu if asked.vendor == "intel" else torch.cuda
    count = backend.device_count() if backend.is_available() else 0
    if count == 1 and asked.gpus_per_node > 1:
        raise Refused(
            f"this rank sees 1 GPU of {asked.gpus_per_node}: they were asked for by the task (--gpus-per-task, --gpu-bind), and not by the node"
        )
    if count < asked.gpus_per_node:
        build = getattr(torch.version, "hip", None) or getattr(torch.version, "cuda", None) or "no GPU at all"
        masks = ", ".join(f"{name}={value}" for name, value in sorted(os.environ.items()) if name.endswith("_VISIBLE_DEVICES"))
        raise Refused(f"torch sees {count} GPUs of {asked.gpus_per_node} here: it was built for {build}; {masks or 'no mask is set'}")
    return torch.device("xpu" if asked.vendor == "intel" else "cuda", rank.local)


def identity(torch: Any, device: Any) -> str:
    """What tells a GPU from others of its node; "" where torch does not tell."""
    if device.type == "cpu":
        return ""
    properties = getattr(torch, device.type).get_device_properties(device.index)
    return str(getattr(properties, "uuid", "") or getattr(properties, "pci_bus_id", ""))


def computes(torch: Any, device: Any) -> None:
    """A product of small whole numbers, which every precision holds exactly, against the same from Python's own arithmetic."""
    numbers = torch.arange(MATRIX * MATRIX, dtype=torch.float32).reshape(MATRIX, MATRIX) % 7
    product = (numbers.to(device) @ numbers.to(device)).sum(dim=1).cpu().tolist()
    rows = [[(MATRIX * row + column) % 7 for column in range(MATRIX)] for row in range(MATRIX)]
    sums = [sum(row) for row in rows]
    if product != [float(sum(a * b for a, b in zip(row, sums))) for row in rows]:
        raise Refused(f"{device} computes wrong: a product of whole numbers differs from the right one")


def reduced(torch: Any, rank: Rank, store: Any, device: Any, backend: str) -> None:
    """All ranks meet in an all-reduce whose sum is known."""
    limit = dt.timedelta(seconds=REDUCE)
    torch.distributed.init_process_group(backend, store=store, rank=rank.rank, world_size=rank.world, timeout=limit)
    number = torch.tensor([rank.rank + 1.0], device=device if backend == "nccl" else "cpu")
    torch.distributed.all_reduce(number)
    expected = rank.world * (rank.world + 1) / 2
    if number.item() != expected:
        raise Refused(f"the all-reduce gave {number.item()} and not {expected}")
    torch.distributed.destroy_process_group()


def interface_of(address: str) -> str:
    """The network interface that has an address of IPv4; "" where none is found."""
    for _index, name in socket.if_nameindex():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            try:
                answer = fcntl.ioctl(asked.fileno(), 0x8915, struct.pack("256s", name.encode()[:15]))  # SIOCGIFADDR
            except OSError:
                continue
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    return ""


def interface_variables(name: str, variables: Any) -> Dict[str, str]:
    """What gloo and NCCL are told of the interface; what a person set stays."""
    wanted = {"GLOO_SOCKET_IFNAME": name, "NCCL_SOCKET_IFNAME": "=" + name} if name else {}
    return {key: value for key, value in wanted.items() if key not in variables}
