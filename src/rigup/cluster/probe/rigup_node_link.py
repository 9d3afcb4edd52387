"""An all-reduce between two nodes by torch.distributed: one argument of JSON, one line of JSON.

`bytes` are reduced again and again for `seconds`, and the quickest time counts; the sum is checked. Rank 0 has the store.
"""

import datetime as dt
import json
import sys
import time

_MOST = 50  # repeats


def main(order) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """Meet, reduce, tell."""
    import torch
    import torch.distributed as dist

    limit = dt.timedelta(seconds=order["limit"])  # the other one may import torch much later
    rank = order["rank"]
    store = dist.TCPStore(order["address"], order["port"], 2, rank == 0, timeout=limit)
    on_gpu = order["backend"] == "nccl"
    if on_gpu:
        torch.cuda.set_device(0)
    device = torch.device("cuda", 0) if on_gpu else torch.device("cpu")
    dist.init_process_group(order["backend"], store=store, rank=rank, world_size=2, timeout=limit)
    numbers = torch.empty(order["bytes"] // 4, device=device)

    def reduced() -> float:
        numbers.fill_(rank + 1.0)
        if on_gpu:
            torch.cuda.synchronize()
        began = time.perf_counter()
        dist.all_reduce(numbers)
        if on_gpu:
            torch.cuda.synchronize()
        return time.perf_counter() - began

    reduced()
    right = bool((numbers == 3.0).all())
    count = torch.tensor([max(3.0, min(_MOST, order["seconds"] / max(1e-6, reduced())))], device=device)
    dist.broadcast(count, 0)
    seconds = min(reduced() for _number in range(int(count.item())))
    sys.stdout.write(json.dumps({"rate": order["bytes"] / seconds, "right": right}) + "\n")
    sys.stdout.flush()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
