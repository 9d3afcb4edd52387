"""What is said of each kind of change, and of what is left to judgement: sentences with {name} and {ranks}."""

from rigup.language import N_

CHANGES = {
    "join": N_("`join()` finds this process's device and its place among the others; alone it is the first of one."),
    "device": N_("{name} is the device of this process, on whatever chip."),
    "to-device": N_("{name} moves to this process's device."),
    "twin": N_("{name} is asked of whatever device there is."),
    "available": N_("Whether there is a GPU of any kind is asked, and not whether it is CUDA's."),
    "needs-cuda": N_("It ended the program where there is no CUDA."),
    "set-device": N_("`join()` chooses the device of each process."),
    "visible-devices": N_("Every process would see this card alone ({name}): choose cards outside of the program."),
    "amp": N_("Mixed precision as the chip can: bfloat16 where it has it, else float16 on GPUs, float32 on the CPU."),
    "scaler": N_("Gradients are scaled where float16 is used, and on no chip with bfloat16."),
    "loader": N_("Each process reads its own part, in an order that the seed decides; together they take the batch that you asked for."),
    "batch-size": N_("{name} is the batch of each process from here on; together they take the number that you asked for."),
    "parallel": N_("Gradients of {name} are averaged over all processes at each backward."),
    "bare": N_("{name} is the model as you wrote it, whether it is wrapped or not."),
    "print": N_("The first process alone prints."),
    "save": N_("The first process writes, and the others wait."),
    "save-alone": N_("The first process writes if its own figures say so; nobody waits for it."),
    "load": N_("What is loaded lands on this process's device, and not where it was saved from."),
    "bar": N_("The first process alone shows a bar."),
    "writer": N_("{name} records on the first process alone."),
    "file": N_("{name} writes on the first process alone."),
    "log": N_("Other processes log errors alone."),
    "folder": N_("Another process may have made the folder meanwhile."),
    "set-epoch": N_("Without it every epoch reads in the order of the first."),
}
"""By kind, why something is changed."""

REMARKS = {
    "several-devices": N_("The script names several cards ({name}): which part belongs on which is yours to say. Nothing is changed."),
    "own-cuda": N_("{name} calls a method of the script's own: let it take a device."),
    "cuda-only": N_('{name} is CUDA\'s alone: keep it where `{ranks}.device.type == "cuda"`, or do without it.'),
    "cuda-text": N_("{name} may name a device; what takes it is not seen. Write `{ranks}.device.type` if it does."),
    "visible-devices": N_("A variable chooses the cards within the program: each process would see the same. Choose them outside."),
    "tensor-type": N_("{name} makes tensors on CUDA: write torch.zeros, torch.empty or torch.tensor with `device={ranks}.device`."),
    "kernels": N_("{name} is for NVIDIA's cards: other devices need another way."),
    "nvidia-smi": N_("{name} answers on NVIDIA's machines alone: `rigup watch` tells of every GPU."),
    "device-map": N_("{name} lays one model over cards: with a process for each card it has to be left out, or be that process's card."),
    "batchnorm": N_(
        "{name} sees the batch of its own process, which is smaller: `torch.nn.SyncBatchNorm.convert_sync_batchnorm` joins them on GPUs, or leave it so where batches stay large."
    ),
    "data-parallel": N_(
        "{name} drives several cards from one process, and its checkpoints have names of its own: take it out and port again; a process for each card takes its place."
    ),
    "second-derivative": N_(
        "{name} computes gradients beside those that are averaged over processes: DistributedDataParallel does not see them."
    ),
    "plateau": N_("{name} decides by a figure, which has to be the same for all processes: give it `{ranks}.mean(figure)`."),
    "metrics": N_("{name} is of this process's part of the batch: `{ranks}.mean(…)` is that of all, and every process has to ask."),
    "metrics-of-part": N_(
        "{name} is read in a loop that does not train too, which now sees a part: average its figures over all processes, or give it a DataLoader of its own."
    ),
    "early-stop": N_("Each process ends this loop by its own figures; the others would wait for it. Decide by `{ranks}.mean(figure)`."),
    "own-decision": N_(
        "`{name}` is decided by each process for itself; let it be the same for all by `{ranks}.mean(figure)`, and the others can wait."
    ),
    "files": N_("{name} writes in every process: put it under `if {ranks}.first:`."),
    "batch-size": N_("{name} is the batch of all processes together, and a process has its part: use the size of the tensor itself."),
    "batch-of-one": N_("This loader takes one sample at a time, which cannot be shared: together all processes take as many as they are."),
    "learning-rate": N_(
        "The batch of all processes together stays as it is, and so does the learning rate. For more speed on many, raise `batch_size`, and the learning rate with it."
    ),
    "helper": N_("{name} beside it names CUDA too: port it as well."),
    "set-epoch": N_("This DistributedSampler is never told the epoch: call its set_epoch(epoch) at the beginning of each."),
    "sampler": N_("{name} has a sampler of its own, which knows nothing of other processes: give each its own part of what it draws."),
    "loader-words": N_("The arguments of {name} are not seen: write dataset, batch_size and shuffle at the call."),
    "loader-both": N_("{name} serves to train and to judge, or nobody can tell: make two loaders, one with shuffle=True."),
    "loader-stream": N_("Whether the dataset of {name} has a length is not seen: a stream has to share out its samples itself."),
    "no-loader": N_(
        "No DataLoader with shuffle=True is seen to feed the training: share out its data yourself, or each process trains on all of it."
    ),
    "model-unknown": N_("Which model is trained is not seen: wrap it by `model = {ranks}.parallel(model)` before its optimizer is made."),
    "model-elsewhere": N_("{name} is made outside of this function: wrap it where it is made, by `{name} = {ranks}.parallel({name})`."),
    "model-held": N_("Another object holds {name} here, and would call it unwrapped: wrap {name} before."),
    "model-method": N_("{name}(…) does not pass through forward: gradients would not be averaged. Let forward call it where it trains."),
    "not-sure": N_("The changes do not fit together in this script, so none is made."),
}
"""By kind, what is left to somebody's judgement."""

CUDAS = frozenset(("own-cuda", "cuda-only", "cuda-text", "tensor-type", "kernels"))
"""Kinds of what runs on CUDA's devices alone, as far as is seen."""
