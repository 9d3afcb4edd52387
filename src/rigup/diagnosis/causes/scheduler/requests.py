"""What a job asks Slurm for."""

from rigup.diagnosis.rule import Params
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import JobRequest, Launch, Symptom

_COUNTED = lazy_regex(r"(\bgpu(?::[A-Za-z][\w.-]*)?|^[A-Za-z][\w.-]*:|^(?=\d))([:=]?)\d*")  # gpu:a100:4, a100:4, 4
_UNKNOWN = "=N"  # how a rule writes a number that the text does not show


def asking(devices: int) -> Params:
    """What to ask for so that each node has as many devices."""
    return {"devices": devices, "option": "--gpus-per-node=" + str(devices)}


def as_it_asks(option: str, job: JobRequest | None) -> Params:
    """So many for each node in the request's own words, with the type of its cards: another option beside them contradicts. What it asks for already is none."""
    number = option.removeprefix("--gpus-per-node=")
    if job is None or not number.isdigit():
        return {"option": option}
    alone = f"--gpus={job.gpus}" if job.get("gpus") and (job.get("nodes") or 1) == 1 else ""
    name, _equals, value = str(job.get("request") or alone).partition("=")
    if not value or value.count("gpu:") > 1:  # of two types nobody knows which is meant
        return {"option": option}
    wanted = f"{name}=" + _COUNTED.sub(lambda match: match[1] + (match[2] or ":" * match[1].startswith("gpu")) + number, value, count=1)
    if wanted == f"{name}={value}":
        return {"option": None}
    in_header = "#SBATCH" in job.fields["request" if job.get("request") else "gpus"].where.text
    return {"option": None, "lines": f"`#SBATCH {wanted}`", "former": f"{name}={value}"} if in_header else {"option": wanted}


def _former(job: JobRequest | None) -> str:
    """As the script has it."""
    if job is None:
        return ""
    if job.get("gpus_per_task"):
        return f"--gpus-per-task={job.gpus_per_task}"
    if job.get("gpus") and not job.get("gpus_per_node") and (job.get("nodes") or 1) > 1:
        return f"--gpus={job.gpus}"
    return ""


def for_the_node_and_not_for_the_task(knew: Params, job: JobRequest | None = None, want: Launch | None = None) -> Params:
    """The option that binds, or that leaves it to the scheduler where the cards come from, has to go."""
    option = str(knew.get("option") or "")
    if not option or option.endswith(_UNKNOWN):
        devices = want.get("devices") if want else None
        option = str(asking(int(devices))["option"]) if devices else ""
    if not option:
        return {"option": None, "unknown": "--gpus-per-node"}
    if job is not None and job.get("gpus_per_node") and (job.get("binding") or "bind" in option):
        return {"option": None}  # enough is asked for; the binding alone has to go
    former = _former(job)
    return {"option": None, "instead": option, "former": former} if former and "bind" not in option else as_it_asks(option, job)


def is_a_shell(job: JobRequest | None, shown: Symptom | None) -> bool:
    """Whether a job is a shell that somebody types into."""
    named = job is not None and job.get("name") in ("bash", "interactive")
    return shown is not None or named or bool(job and job.get("interactive"))


def tasks_per_node(job: JobRequest) -> int | None:
    """Tasks that srun starts on each node; one where neither script nor command names a number."""
    if job.get("tasks_per_node"):
        return int(job.tasks_per_node or 0)
    if job.get("tasks"):
        return max(int((job.tasks or 0) // (job.get("nodes") or 1)), 1)
    return 1 if job.get("nodes") or job.knows("asked") else None


def per_node(job: JobRequest) -> int | None:
    """GPUs that a job asks for on each node, as far as its options tell."""
    if job.get("gpus_per_node"):
        return int(job.gpus_per_node or 0)
    if job.get("given"):
        return min(job.given)
    nodes = job.get("nodes") or 1
    if job.get("gpus"):
        return int((job.gpus or 0) // nodes)
    if job.get("gpus_per_task"):
        return int(job.gpus_per_task or 0) * (tasks_per_node(job) or 1)
    return None


def total(job: JobRequest) -> int:
    """All tasks of a job."""
    return int(job.get("tasks") or (job.get("nodes") or 1) * (job.get("tasks_per_node") or 1))


def wants_gpu(want: Launch) -> bool:
    """Whether the launcher was not set to use the processor."""
    return want.get("accelerator", "gpu") not in ("cpu", "mps", "tpu")


def is_interactive(job: JobRequest) -> bool:
    """Whether a job is one that somebody types into."""
    return bool(job.get("interactive")) or job.get("name") in ("bash", "interactive")
