"""Who has a card's memory: nvidia-smi's list of processes, its csv, gpustat, and whose each process is by `ps`."""

import re

from rigup.machine.kinds import GpuProcess
from rigup.machine.reader import File, Statements, reads
from rigup.machine.readers.values import Draft, size
from rigup.machine.texts import Text

_ROW = r"^[> \t]{0,20}\| {1,8}(?P<gpu>\d{1,2}) {1,20}(?:(?:N/A|\d{1,2}) {1,20}){0,2}(?P<pid>\d{1,8}) {1,20}(?P<type>[CGM][+CGM]{0,3}) {1,20}(?P<name>\S[^|\n]{0,90}?) {1,60}(?P<memory>\d{1,7}) ?MiB \|"
_CSV = r"^(?:GPU-[\w-]{8,40}, )?(?P<pid>\d{1,8}), (?P<name>[^,\n]{1,200}), (?P<memory>\d{1,7}) MiB[ \t]*$"
_GPUSTAT = r"(?P<owner>[a-z_][\w.-]{0,31}):(?P<name>[\w./+-]{1,60})/(?P<pid>\d{1,8})\((?P<memory>\d{1,7})M\)"
_SHOWPIDS = r"^[ \t]{0,8}(?P<pid>\d{2,8})[ \t]{1,20}(?P<name>\S[^\n\t]{0,60}?)[ \t]{1,30}\d{1,2}[ \t]{1,20}(?P<memory>\d{1,14})[ \t]{1,20}\d{1,14}[ \t]{1,20}\S"
_PS = r"^[ \t]{0,12}(?P<columns>(?:[%A-Z]{1,10}[ \t]{1,30}){0,3}PID(?:[ \t]{1,30}[%A-Z]{1,10}){0,12})[ \t]*\n(?P<rows>(?:[ \t]{0,12}(?:[a-z_][\w.+-]{0,31}[ \t]{1,20})?\d{1,8}\b[^\n]{0,600}(?:\n|$)){1,40})"
_DATE = re.compile(r"\b[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\b")  # of lstart, the only column with blanks but the last
_COLUMNS = {"USER": "owner", "UID": "owner", "COMMAND": "command", "CMD": "command", "PPID": "parent"}


def _program(path: str) -> str:
    """The file's name alone: the folders before it are a person's."""
    return re.split(r"[\\/]", path)[-1] or path


@reads(marks=("MiB |", " MiB", "M)"), adds=(GpuProcess,), rank=0)
def processes_of_the_driver(text: Text) -> Statements:
    """`|    0   N/A  N/A      4120      C   /usr/local/bin/ollama    10846MiB |`, and the same as csv."""
    for hit in text.each(_ROW):
        yield hit.states(
            GpuProcess,
            pid=int(hit["pid"]),
            name=_program(hit["name"]),
            memory=size(hit["memory"], "m"),
            gpu=int(hit["gpu"]),
            graphics=hit["type"] == "G",
        )
    for hit in text.each(_CSV):
        yield hit.states(GpuProcess, pid=int(hit["pid"]), name=_program(hit["name"]), memory=size(hit["memory"], "m"))
    for hit in text.each(_GPUSTAT):
        yield hit.states(GpuProcess, pid=int(hit["pid"]), name=_program(hit["name"]), memory=size(hit["memory"], "m"), owner=hit["owner"])


@reads(marks=("VRAM USED",), adds=(GpuProcess,), rank=0)
def processes_of_rocm_smi(text: Text) -> Statements:
    """`20117  python3  1  23622320128  0  0`, of rocm-smi --showpids: bytes."""
    for hit in text.each(_SHOWPIDS):
        name = {} if hit["name"] == "UNKNOWN" else {"name": _program(hit["name"])}
        yield hit.states(GpuProcess, pid=int(hit["pid"]), memory=int(hit["memory"]), **name)


@reads(marks=("PID",), adds=(GpuProcess,), rank=0)
def processes_of_ps(text: Text) -> Statements:
    """`ps -o user,pid,…`, `ps aux`: whose a process is that the text lists on a card, what it runs, and what started it."""
    known = {hit["pid"] for form in (_ROW, _CSV, _TAKEN, _SHOWPIDS) for hit in text.each(form)}
    for block in text.each(_PS) if known else ():
        columns = block["columns"].split()
        for hit in text.each(r"^[ \t]*(?P<row>[^\n]{1,700})"):
            cells = _DATE.sub("-", hit["row"]).split(maxsplit=len(columns) - 1)
            row = dict(zip(columns, cells, strict=False))
            if block.match.start("rows") <= hit.start < block.match.end("rows") and row.get("PID") in known:
                told = {_COLUMNS[column]: cell for column, cell in row.items() if column in _COLUMNS and cell not in ("", "-")}
                parent = {"parent": int(told["parent"])} if told.get("parent", "").isdigit() else {}
                yield hit.states(GpuProcess, pid=int(row["PID"]), **{**told, **parent})


_STOPPED = r"^[ \t]{0,12}(?:[a-z_][\w.+-]{0,31}[ \t]{1,20})?(?P<pid>\d{1,8})[ \t]{1,20}(?:(?P<parent>\d{1,8})[ \t]{1,20})?(?:(?:[\d.:?-]{1,16}[kmgt]?|pts/\d{1,4}|tty\w{1,6})[ \t]{1,20}){0,8}T[lsLN<+]{0,4}[ \t]{1,20}\S"


@reads(marks=("stat", "STAT", " T"), adds=(GpuProcess,), rank=0)
def processes_that_were_stopped(text: Text) -> Statements:
    """`48377 48211 Tl 01:12:21 VLLM::EngineCore` of ps: a process of the card that Ctrl+Z, or a signal, has halted."""
    known = {hit["pid"] for form in (_ROW, _CSV, _TAKEN, _SHOWPIDS) for hit in text.each(form)}
    halted = {hit["pid"]: hit for hit in text.each(_STOPPED)} if known else {}
    for pid, hit in halted.items():
        if pid in known:
            also = [hit["parent"]] if hit["parent"] in halted else []
            yield hit.states(GpuProcess, pid=int(pid), stopped=[*also, pid])


_NVML = r"^(?P<pid>\d{1,8}), (?P<name>[^,\n]{1,64}), (?:(?P<memory>\d{1,7}) MiB|\[N/A\]), (?P<gpu>\d{1,3}), (?P<type>[CG]), (?:(?P<uid>\d{1,10})|\[N/A\])(?:, (?:(?P<stopped>[\d+]{1,60})|\[N/A\]))?$"


def processes_of_nvml(text: Text) -> Statements:
    """`4120, python3, 10846 MiB, 0, C, 1002`, as `rigup.machine.nvml` prints them: the account by its number."""
    for hit in text.each(_NVML):
        fields = {
            "name": hit["name"],
            "memory": size(hit["memory"], "m") if hit["memory"] else None,
            "owner": "uid " + hit["uid"] if hit["uid"] else None,
            "stopped": hit["stopped"].split("+") if hit["stopped"] else None,
        }
        known = {field: value for field, value in fields.items() if value not in (None, "[N/A]")}
        yield hit.states(GpuProcess, pid=int(hit["pid"]), gpu=int(hit["gpu"]), graphics=hit["type"] == "G", **known)


@reads(inputs=[File("/sys/class/kfd/kfd/proc/*/vram_*")], adds=(GpuProcess,), rank=0)
def processes_of_the_kernel(text: Text) -> Statements:
    """amdkfd tells the bytes that each process has of each card, whoever's it is; none are none that hold it."""
    pid, held = re.search(r"/proc/(\d{1,8})/vram_", text.source), text.body.strip()
    if pid is not None and re.fullmatch(r"[1-9]\d{0,17}", held):
        draft = Draft(text, GpuProcess, 0)
        draft.add("pid", int(pid[1]))
        draft.add("memory", int(held))
        yield from draft.facts("pid")


_TAKEN = r"Process (?P<pid>\d{1,8}) has (?P<memory>[\d.]{1,12} [KMG]iB) memory in use"


@reads(marks=("memory in use",), adds=(GpuProcess,), rank=0)
def process_that_torch_names(text: Text) -> Statements:
    """`Process 31882 has 22.10 GiB memory in use`, of torch's message."""
    for hit in text.each(_TAKEN):
        yield hit.states(GpuProcess, pid=int(hit["pid"]), memory=size(hit["memory"]))
