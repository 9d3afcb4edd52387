"""What two outputs show together of a job, a container or a notebook: each alone would leave it open."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA, inside
from rigup.diagnosis.rules.scheduler import asking, per_node, tasks_per_node
from rigup.knowledge.cuda import version_key
from rigup.machine.kinds import ContainerEngine, Driver, Jetson, JobRequest, Launch, Symptom, Torch

SHELL = ("slurm-shell-variables", "slurm-runs-a-shell", "slurm-interactive-named")
_TASKS = (
    "lightning-ntasks-unsupported",
    "lightning-tasks-differ",
    "lightning-tasks-differ-cut",
    "lightning-ntasks-unsupported-cut",
)
_CPU = ("ollama-computes-on-cpu", "gromacs-no-gpu", "jax-cuda-not-there", "jax-falls-back-to-the-processor", "runs-on-the-cpu-shown", "vllm-no-device-shown", "nvidia-smi-no-devices", "nvidia-smi-none-in-words", *NO_CUDA)  # fmt: skip
_BOUND = ("single", "closest", "map_gpu", "mask_gpu", "per_task")
_JETSON = ("jetpack-of-an-image", "tegra-kernel-shown", "l4t-package-shown", "jetson-image-named")
_CONTAINER = ("container-commands-shown", "podman-commands-shown", "container-files-in-words")


# -- jobs
def _shell(job: JobRequest | None, shown: Symptom | None) -> bool:
    named = job is not None and job.get("name") in ("bash", "interactive")
    return shown is not None or named or bool(job and job.get("interactive"))


@rule("slurm-ntasks-mismatch")
def lightning_compares_the_tasks(
    said: Symptom = seen(*_TASKS), job: JobRequest | None = None, shell: Symptom | None = seen(*SHELL)
) -> Verdict:
    """In a batch job it is right; in a shell it takes the shell's one task for the job's."""
    return not _shell(job, shell) and said.values()


@rule("slurm-interactive-shell", "likely")
def lightning_compares_the_task_of_a_shell(
    said: Symptom = seen(*_TASKS), job: JobRequest | None = None, shell: Symptom | None = seen(*SHELL)
) -> Verdict:
    """As above, where the shell's own variables or its command are shown."""
    return _shell(job, shell) and {"devices": said.get("devices") or (job and per_node(job)) or 1}


@rule("slurm-interactive-shell", "likely")
def alone_in_what_is_shown_to_be_a_shell(
    want: Launch = one(framework="lightning", world=1), _shown: Symptom = seen(*SHELL), job: JobRequest | None = None
) -> Verdict:
    """One member of one, several devices, and the variables of a shell."""
    several = max(want.get("devices", 1), want.get("visible", 1), (job and per_node(job)) or 1)
    return several > 1 and {"devices": several}


@rule("slurm-interactive-shell", "possible")
def alone_with_several_cards_under_slurm(
    want: Launch = one(framework="lightning", world=1), _slurm: Symptom = seen("lightning-leaves-it-to-slurm"), job: JobRequest | None = one(launcher="srun"),
) -> Verdict:  # fmt: skip
    """Lightning leaves it to Slurm to start ranks, counts one, and sees several cards."""
    return job is None and want.visible > 1 and {"devices": want.visible}


@rule("slurm-no-gpu-requested", "likely")
def program_computes_on_the_processor(_said: Symptom = seen(*_CPU), job: JobRequest = one(asked=False)) -> Verdict:
    """Slurm's own answer has no GPU among the job's resources, and a program takes the processor."""
    return "cpu" not in (job.get("partition") or "").lower() and {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def torch_counts_none_in_a_job_without_any(torch: Torch, job: JobRequest = one(asked=False)) -> Verdict:
    """The same, where torch sees none."""
    none = torch.get("available") is False or torch.get("devices") == 0
    return none and "cpu" not in (job.get("partition") or "").lower() and {"partition": job.get("partition")}


@rule("slurm-no-gpu-requested", "likely")
def container_of_a_job_was_given_none(
    _void: Symptom = seen("visible-void"), job: JobRequest = one(), _said: Symptom = seen("image-found-no-driver", *NO_CUDA)
) -> Verdict:  # fmt: skip
    """Slurm's container hook hands on the job's GPUs: `void` says that it has none."""
    return bool(job.partition) and {"partition": job.partition}


_WANTS = ("program-num-gpus", "program-gpu-list", "program-tp-size", "data-parallel-list", "vllm-tensor-parallel", "vllm-world-too-large")  # fmt: skip


@rule("slurm-gpu-request-too-small", "likely")
def program_is_told_of_more_than_the_job_has(want: Symptom = seen(*_WANTS), job: JobRequest = one()) -> Verdict:
    """The program's own option names more GPUs than its one node was asked for."""
    have, listed = per_node(job), want.get("list")
    wanted = listed.count(",") + 1 if listed else int(want.get("count") or want.get("count2") or 0)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-gpu-binding-per-task", "likely")
def task_reaches_for_anothers_card(
    job: JobRequest, _beyond: Symptom = seen("ipc-handle-not-opened", "visible-list-beyond", "rank-sees-too-few", "cuda-invalid-ordinal"),
) -> Verdict:  # fmt: skip
    """GPUs are bound to tasks, and one task's CUDA reaches for another's."""
    bound = job.get("binding", "none").partition(":")[0] in _BOUND or bool(job.get("gpus_per_task"))
    tasks = tasks_per_node(job)
    return bound and tasks != 1 and {"have": per_node(job), **asking(tasks or per_node(job) or 2)}


@rule("slurm-ntasks-mismatch", "likely")
def fewer_tasks_than_the_world(want: Launch, job: JobRequest) -> Verdict:
    """Several ranks announce themselves, and count on more than the job has tasks."""
    return len(set(want.ranks)) > 1 and 1 < (job.tasks or 0) < want.world and {"world": want.world}


@rule("slurm-ntasks-mismatch", "likely")
def rank_comes_twice_in_a_job(
    _twice: Symptom = seen("rank-checked-in-twice"), told: Symptom | None = seen("submitit-told"), job: JobRequest | None = None
) -> Verdict:  # fmt: skip
    """Each task believes to be the whole node, so a rank is there twice."""
    return told is not None or job is not None


@rule("slurm-srun-missing", "possible")
def one_client_of_several_came(want: Launch, said: Symptom = seen("one-client-joined")) -> Verdict:
    """Rank 0 waits for the others, and nobody started them."""
    return set(want.ranks) == {0} and want.world == int(said.world) and {"total": want.world}


# -- nodes
@rule("multinode-no-route", "likely")
def head_is_not_reached(
    _said: Symptom = seen("ray-head-not-reached", "store-did-not-answer", "rank-zero-does-not-answer", "gloo-mesh-failed-plain", "rendezvous-timed-out"),
    why: Symptom = seen("probe-has-no-route", "ping-unreachable", "firewall-blocks-a-port"),
) -> Verdict:  # fmt: skip
    """Ranks do not meet, and a probe of the network, or a firewall's log, tells why."""
    return {"why": why.id}


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def cards_speak_and_the_memory_unit_refuses(
    _fault: Symptom = seen("iommu-page-fault", "dmar-fault"),
    _way: Symptom = seen("nccl-goes-by-p2p", "nccl-p2p-off-between"),
) -> Verdict:
    """NCCL takes the way between the cards, and the memory unit refuses one."""
    return True


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def works_without_the_way_between(
    _works: Symptom = seen("runs-with-p2p-off"),
    why: Symptom = seen("acs-is-on", "acs-is-on-by-a-switchs-register", "iommu-translates", "iommu-page-fault"),
) -> Verdict:
    """With that way off it works, and ACS or the memory unit is on."""
    return {"why": why.id}


@rule("nccl-p2p-blocked-by-acs-iommu", "possible")
def register_of_the_bridges_was_asked(
    said: Symptom = seen("acs-is-on", "acs-is-on-by-a-switchs-register"), direct: Symptom | None = seen("nccl-goes-by-p2p"),
) -> Verdict:  # fmt: skip
    """Nobody asks a bridge's register for its own sake; that it is on alone does not tell that it was in the way."""
    return direct is None and {"why": said.id}


# -- masks
@rule("cuda-visible-devices-set-too-late", "likely")
def mask_changed_nothing(said: Symptom = seen("count-behind-a-mask")) -> Verdict:
    """The program counts more devices than the mask that it set before leaves."""
    return int(said.count) > said.mask.count(",") + 1 and {"name": "CUDA_VISIBLE_DEVICES"}


@rule("cuda-initialised-before-fork", "likely")
def workers_are_forked_and_do_not_start(
    _fork: Symptom = seen("start-method-is-fork"), _error: Symptom = seen("cuda-initialization-error")
) -> Verdict:
    """Processes are made by fork, and CUDA does not start in them."""
    return True


# -- containers
@rule("container-files-root-owned", "likely")
def what_is_refused_belongs_to_root(
    refused: Symptom = seen("writing-refused"), owned: Symptom = seen("root-owned-entry"), box: Symptom | None = seen(*_CONTAINER)
) -> Verdict:  # fmt: skip
    """A path that may not be written leads through an entry of root's, in a container or where containers are in use."""
    if box is None and not inside(refused):
        return False
    path = str(refused.get("a") or refused.get("b") or refused.get("c"))
    entry = owned.entry.rstrip("/").rpartition("/")[2]
    return entry in path.split("/") and {"path": path, "owner": "root"}


@rule("container-requires-newer-driver", "likely")
def image_asks_for_more_than_the_driver_has(
    asked: Symptom = seen("image-requires-cuda"), driver: Driver | None = one(vendor="nvidia"), told: Symptom | None = seen("driver-cuda-shown")
) -> Verdict:  # fmt: skip
    """The image's own condition and the driver's CUDA; branches that the image lets in by name are another matter."""
    have = (told and told.get("cuda")) or (driver and driver.get("cuda"))
    branch = str(driver.get("version", "")).partition(".")[0] if driver else ""
    let_in = bool(branch) and f"driver>={branch}," in asked.get("rest", "")
    return bool(have) and not let_in and version_key(str(have)) < version_key(asked.need) and {"cuda": asked.need}


@rule("container-lost-gpu-after-daemon-reload", "likely")
def refused_after_the_service_manager_reloaded(
    _reloaded: Symptom = seen("systemd-reloaded", "systemd-upgraded"), _refused: Symptom = seen("nvml-unknown-error", "nvml-unknown-in-a-program", "cuda-runtime-not-permitted", "cuda-not-permitted-plain", "cuda-800"),
) -> Verdict:  # fmt: skip
    """systemd read its units anew, or was upgraded, and the driver is refused from then on."""
    return True


@rule("docker-flavour-without-gpu", "likely")
def other_engine_has_not_the_hosts_tools(
    engine: ContainerEngine = one(flavour="snap"), said: Symptom = seen("hook-not-started-by-snap", "runtime-name-unknown", "docker-no-device-driver", "nvidia-smi-not-in-the-image"),
) -> Verdict:  # fmt: skip
    """The snap has its own world, in which the host's toolkit is not."""
    return bool(engine.flavour) and {"said": said.id}


@rule("docker-flavour-without-gpu", "likely")
def desktop_has_not_the_hosts_nodes(
    engine: ContainerEngine = one(flavour="desktop"), said: Symptom = seen("dri-not-where-docker-runs", "runtime-name-unknown")
) -> Verdict:  # fmt: skip
    """Docker Desktop's machine has none of the host's nodes."""
    return bool(engine.flavour) and {"said": said.id}


@rule("container-runtime-without-jetson-support", "likely")
def module_whose_container_got_nothing(
    _module: Symptom = seen(*_JETSON),
    said: Symptom = seen("apptainer-no-nv-files", "torch-found-no-driver", "cuda-library-not-found"),
) -> Verdict:
    """A Jetson's kernel, package or image is shown, and the container got none of its driver's files."""
    return {"said": said.id}


@rule("jetson-generic-wheel", "likely")
def detector_runs_on_the_processor_of_a_module(_jetson: Jetson, _shown: Symptom = seen("jetson-cpu-torch-shown")) -> Verdict:  # fmt: skip
    """The program's own line says that its torch uses the processor, on a Jetson."""
    return True


# -- notebooks and packages
@rule("jupyter-kernel-other-env", "likely")
def notebook_misses_what_the_environment_has(
    own: Symptom = seen("notebooks-own-python"), shell: Symptom = seen("shells-own-environment", "pips-own-environment"), _error: Symptom = seen("module-not-found"),
) -> Verdict:  # fmt: skip
    """The notebook's Python lies outside the environment that the shell, or pip, names, and a module is missing."""
    home, python = (str(text).replace("\\\\", "\\") for text in (shell.prefix, own.python))
    return not python.startswith(home) and {"python": python}


@rule("pip-index-url-hides-pypi")
def one_index_for_what_it_does_not_have(
    index: Symptom = seen("index-variable-of-torch", "index-setting-of-torch", "index-looked-in-inside", "index-url-of-torch", "pip-single-index"),
    missing: Symptom = seen("pip-no-version-of-plain-package", "pip-no-match-for-plain-package"),
) -> Verdict:  # fmt: skip
    """An index of builds is the only one, and an ordinary package is looked for there."""
    return {"index": index.get("index"), "package": missing.get("package")}
