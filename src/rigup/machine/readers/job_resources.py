"""What Slurm says that a job holds, in one line of `scontrol`, `sacct` or `squeue` cut out of its report."""

from rigup.machine.kinds import JobRequest
from rigup.machine.reader import Statements, reads
from rigup.machine.texts import Text

_TRES = r"(?<![\w/])(?P<key>[A-Z]\w{0,8}TRES=)?(?P<value>(?:billing=|cpu=|gres/)[\w=.,:/-]{0,200})"
_NAMED = r"--gres|--gpus|TresPer\w{1,9}=\S{0,40}gpu|GRES=gpu|gpus?_per|gres:gpu"


@reads(adds=(JobRequest,), marks=("cpu=",), rank=-1)
def resources_of_a_job(text: Text) -> Statements:
    """`ReqTRES=cpu=8,mem=48G,node=1,billing=8`: all that a job holds; without `gres/gpu` there is no GPU."""
    lists = [hit for hit in text.each(_TRES) if "mem=" in hit["value"] and "cpu=" in hit["value"]]
    lists = [hit for hit in lists if hit["key"] == "ReqTRES="] or lists  # beside it a node tells of all that it has
    rows = [dict(part.split("=", 1) for part in hit["value"].split(",") if "=" in part) for hit in lists]
    held = [max((int(n) for key, n in resources.items() if key.startswith("gres/gpu") and n.isdigit()), default=0) for resources in rows]
    jobs = {hit["job"] for hit in text.each(r"\bJobId=(?P<job>\d{1,10})")}
    if not lists or len(set(held)) > 1 or len(jobs) > 1:  # a list of jobs does not tell whose program this is
        return
    nodes = rows[0].get("node", "")
    if held[0] and nodes == "1":
        yield lists[0].states(JobRequest, asked=True, nodes=1, gpus_per_node=held[0])
    elif held[0]:
        yield lists[0].states(JobRequest, asked=True)
    elif not text.first(_NAMED):
        yield lists[0].states(JobRequest, asked=False)


@reads(adds=(JobRequest,), marks=("TresPerTask=", "TresBind="), rank=-1)
def binding_of_a_job(text: Text) -> Statements:
    """`TresPerTask=gres:gpu:1`, `TresBind=gres:gpu:per_task:1`."""
    if hit := text.first(r"\bTresPerTask=gres[:/]gpu(?:[:=](?P<count>\d{1,3}))?[ \t]*$"):
        yield hit.states(JobRequest, gpus_per_task=int(hit["count"] or 1), asked=True)
    if text.first(r"\bTresBind=gres[:/]gpu:per_task"):
        yield text.first(r"\bTresBind=").states(JobRequest, binding="per_task")  # type: ignore[union-attr]


@reads(adds=(JobRequest,), marks=("TRES_PER_NODE",), rank=-1)
def queue_with_resources(text: Text) -> Statements:
    """squeue with `%b`: `gres/gpu:h100:2` below its head."""
    rows = list(text.each(r"(?<=[ \t])gres[/:]gpu(?::[a-z]\w{0,30})?:(?P<count>\d{1,3})(?=[ \t])"))
    if len(rows) == 1:
        yield rows[0].states(JobRequest, asked=True, gpus_per_node=int(rows[0]["count"]))
