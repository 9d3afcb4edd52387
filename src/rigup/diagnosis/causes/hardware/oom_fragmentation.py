"""Enough memory is reserved, but in pieces."""

from rigup.diagnosis.causes.hardware.memory_figures import Figures
from rigup.diagnosis.causes.memory_sizes import size
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import Memory, Platform, Symptom


@rule("oom-fragmentation")
def reserved_in_pieces(symptom: Symptom = seen(tag="torch-out-of-memory")) -> Verdict:
    """Enough is reserved and unused, and no piece of it is long enough."""
    figures = Figures(symptom)
    return figures.in_pieces and not figures.taken


@rule("oom-fragmentation", "likely")
def reserved_would_do(symptom: Symptom = seen(tag="torch-out-of-memory")) -> Verdict:
    """Joined pieces would have met the request; whether the next one is met as well, no figure tells."""
    figures = Figures(symptom)
    return figures.would_do and not figures.taken and not figures.roomy


@text_rule("oom-fragmentation", "likely")
def free_memory_lies_in_pieces(symptom: Symptom = seen("tf-allocator-figures")) -> Verdict:
    """TensorFlow's allocator has more unused than was asked for, and no piece of that size."""
    unused = int(symptom.limit) - int(symptom.used)
    return unused > int(symptom.wanted) > int(symptom.largest)


@text_rule("oom-fragmentation", "likely")
def summary_shows_what_lies_idle(symptom: Symptom = seen("memory-summary-counts-refusals")) -> Verdict:
    """torch was refused memory and keeps a good part of what it reserved unused."""
    allocated, reserved = size(symptom.allocated) or 0.0, size(symptom.reserved) or 0.0
    return int(symptom.refused) > 0 and reserved - allocated > 0.3 * reserved


@text_rule("oom-fragmentation", "likely")
def jetson_has_more_free_than_was_asked_for(
    refused: Symptom = seen("nvmap-refuses-pages"), wanted: Symptom = seen("ggml-out-of-memory"), memory: Memory | None = None
) -> Verdict:
    """A Jetson's GPU takes pages of the main memory; what its cache holds is free by name, and not in the pieces that the driver wants."""
    asked, free = size(str(wanted.get("wanted"))), memory.get("available") if memory else None
    return (
        bool(asked and free)
        and float(free or 0) > 1.2 * float(asked or 0)
        and {"said": refused.id, "module": "Jetson", "wanted": wanted.get("wanted")}
    )


@mends("oom-fragmentation")
def allocator_setting(symptom: Symptom = seen(tag="torch-out-of-memory")) -> Params:
    """The allocator's variable has its runtime's name; older releases know another setting."""
    runtime = "HIP" if symptom.get("runtime") == "HIP" else "CUDA"
    setting = "max_split_size_mb:512" if symptom.get("reserved") is not None else "expandable_segments:True"
    return {"variable": f"PYTORCH_{runtime}_ALLOC_CONF", "setting": setting}


@mends("oom-fragmentation")
def setting_where_the_message_has_no_figures(
    knew: Params,
    tensorflow: Symptom | None = seen("tf-out-of-memory", "tf-allocator-figures"),
    platform: Platform | None = one(system="windows"),
) -> Params:
    """TensorFlow has an allocator of another kind; segments that grow are not there on Windows."""
    if tensorflow is not None:
        return {"variable": "TF_GPU_ALLOCATOR", "setting": "cuda_malloc_async"}
    variable, setting = (knew.get("variable") or "PYTORCH_CUDA_ALLOC_CONF", knew.get("setting") or "expandable_segments:True")
    return {"variable": variable, "setting": "max_split_size_mb:512" if platform is not None else setting}


@mends("oom-fragmentation")
def pages_of_a_jetson(knew: Params) -> Params:
    """No variable of a framework's reaches that driver: the pages have to be free before it asks."""
    return {"variable": None} if knew.get("module") else {}
