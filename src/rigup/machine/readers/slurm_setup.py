"""How a Slurm cluster hands out devices: slurm.conf, gres.conf, cgroup.conf, and scontrol's view of them."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import JobRequest, SlurmNode, SlurmSetting
from rigup.machine.reader import File, Statements, reads
from rigup.machine.texts import Text

_NAMES = (
    "GresTypes|TaskPlugin|TaskPluginParam|ProctrackType|SelectType|SelectTypeParameters|JobAcctGatherType|ConstrainDevices|"
    "ConstrainRAMSpace|CgroupPlugin|AutoDetect|SlurmctldHost|ClusterName|PropagateResourceLimits|MpiDefault|SLURM_VERSION|AccountingStorageTRES"
)
_SETTING = lazy_regex(_NAMES, re.IGNORECASE)
_CANONICAL = {name.lower(): name for name in _NAMES.split("|")}
_FILES = "/{etc/slurm,etc/slurm-llnl,usr/local/etc,opt/slurm/etc}/{slurm,gres,cgroup}.conf"


@reads(
    SlurmSetting, SlurmNode, inputs=[File(_FILES)], marks=("GresTypes", "ConstrainDevices", "AutoDetect=", "TaskPlugin", "SlurmctldHost")
)
def slurm_configuration(text: Text) -> Statements:
    """`GresTypes=gpu`, `NodeName=gpu[01-08] … Gres=gpu:a100:4`, in gres.conf `NodeName=gpu[01-08] Name=gpu File=/dev/nvidia[0-3]`."""
    for hit in text.each(r"^[ \t]{0,8}(?P<name>[A-Za-z_]{6,30})[ \t]{0,24}=[ \t]{0,4}(?P<value>[^\s#][^\n#]{0,300})"):
        name = _CANONICAL.get(hit["name"].lower())
        if name:
            yield hit.states(SlurmSetting, path=text.source, name=name, value=hit["value"].strip())
    for hit in text.each(r"^[ \t]{0,8}NodeName=(?P<nodes>[^\s#]{1,300})(?P<rest>(?:[^\\\n#]|\\\n){0,2000})"):
        gres = re.search(r"(?i)\bGres=([^\s#]{3,300})", hit["rest"]) or re.search(r"\bName=(gpu\b)", hit["rest"])
        if gres:
            kind = re.search(r"\bType=(\S{1,60})", hit["rest"])
            gpus = gres[1] if ":" in gres[1] or not kind else gres[1] + ":" + kind[1]
            yield hit.states(SlurmNode, path=text.source, nodes=hit["nodes"], gres=gpus)


_NODES = (
    r"^[> \t]{0,20}NodeName=(?P<nodes>\S{1,100})[^\n]{0,300}(?:\n[ \t]{1,8}[^\n]{0,600}?){1,12}?\bGres=(?P<gres>[^\s(]{1,200})",
    r"\bscontrol show node[= ](?P<nodes>[\w.-]{1,60})[^\n]{0,80}\n(?:[ \t]{1,8}(?!NodeName)[^\n]{0,300}\n){0,4}[ \t]{1,8}Gres=(?P<gres>[^\s(]{1,200})",
    r"^(?P<nodes>[a-zA-Z][\w.-]{1,60})[ \t]{1,20}(?:[^\s:]{1,30}[ \t]{1,20}){0,3}(?P<gres>gpu:[\w.:-]{1,60})(?:\(\S{1,40}\))?(?:[ \t]{1,20}\S{1,40}){0,3}[ \t]*$",
)


_BY_NODE = r"^(?:HOSTNAMES|NODELIST|NODE)[ \t][^\n]{0,200}\bGRES\b"  # of a table by partitions a row is no node


@reads(marks=("   Gres=", "CfgTRES=", "GRES"), adds=(SlurmNode,))
def shown_node(text: Text) -> Statements:
    """`scontrol show node`: `NodeName=gpu01 Arch=x86_64 …` and, set in, `Gres=gpu:a100:4(S:0-1)`; `sinfo -o "%n %G %t"` has it in a column."""
    for form in _NODES[: 3 if text.first(_BY_NODE) else 2]:
        for hit in text.each(form):
            if hit["gres"] != "(null)":
                yield hit.states(SlurmNode, path="scontrol show node", nodes=hit["nodes"], gres=hit["gres"])


_SUBMITTED = (
    r"\bslurm_partition[\"']?[ \t]{0,3}[=:][ \t]{0,3}[\"']?(?P<partition>[\w-]{2,30})",  # submitit, Snakemake
    r"\bSLURMCluster\([^)]{0,400}?\bqueue ?= ?[\"'](?P<partition>[\w-]{2,30})",  # Dask
    r"\bSlurmLauncher[ \t]*\n(?:[^\n]{0,80}\n){0,12}?[ \t]{0,12}partition: ?(?P<partition>[\w-]{2,30})",  # Hydra
    r"\bexecutor ?= ?[\"']slurm[\"'][^}]{0,300}?\bqueue ?= ?[\"'](?P<partition>[\w-]{2,30})",  # Nextflow
)
_WITH_GPUS = r"(?i)\bgres\b|--gpus|\baccelerator[ =]|gpus(?:_per_(?:node|task))?[\"']?[ \t]{0,3}[=:][ \t]{0,3}[\"']?[1-9]"


@reads(adds=(JobRequest,), marks=("slurm_partition", "SLURMCluster(", "SlurmLauncher", "executor"), rank=-2)
def jobs_of_other_programs(text: Text) -> Statements:
    """`slurm_partition="gpu"`, `queue = 'gpu'`: a program submits the job, and nothing that it is told speaks of a GPU."""
    launch = next((hit for form in _SUBMITTED if (hit := text.first(form))), None)
    if launch and not text.first(_WITH_GPUS):
        yield launch.states(JobRequest, script=text.source + ":0", partition=launch["partition"], launcher="python")
