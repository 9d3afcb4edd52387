"""Start ranks as a scheduler's launcher does: SIZE PROGRAM...; label their lines, tell how each task ended."""

import os
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from free_ports import free_port


def start(rank, size, port, command):
    told = {"RANK": rank, "LOCAL_RANK": rank, "SLURM_PROCID": rank, "WORLD_SIZE": size, "MASTER_PORT": port}
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", **{name: str(value) for name, value in told.items()}}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    reader = threading.Thread(target=label, args=(rank, process.stdout))
    reader.start()
    return process, reader


def label(rank, lines):
    for line in lines:
        sys.stderr.write(f"{rank}: {line}")


def main():
    size, command, port = int(sys.argv[1]), sys.argv[2:], free_port()
    failed = 0
    for rank, (process, reader) in enumerate([start(rank, size, port, command) for rank in range(size)]):
        status = process.wait()
        reader.join()
        if status:
            how = f"Exited with exit code {status}" if status > 0 else "Killed"
            sys.stderr.write(f"srun: error: node1: task {rank}: {how}\n")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
