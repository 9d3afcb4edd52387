"""Steps in a program, and in the options that it is started with."""

from rigup.language import N_
from rigup.steps.step import Kind

_ = N_  # what it marks is translated when a step is made


KINDS: dict[str, Kind] = {
    "list-shown-gpus": Kind(
        _("see which GPUs are there, and which of them {name} shows to the program"),
        ("name",),
        commands=(("printenv", "{name}"), ("nvidia-smi", "-L")),
        undo=(),
    ),
    "change-mask-in-program": Kind(
        _("in the program: take the line away that sets {name}, or set it to {value}"), ("name", "value"), "by-hand", undo=()
    ),
    "pass-argument": Kind(_("in the program: give {call} the argument {argument}"), ("call", "argument"), "by-hand", undo=()),
    "load-in-float32": Kind(
        _(
            'in the program: load the model in float32, without torch_dtype (dtype=) of half precision or "auto" and without .half(), and leave float16 to {mixed}'
        ),
        ("mixed",),
        "by-hand",
        undo=(),
    ),
    "keep-trained-in-float32": Kind(
        _(
            "in the program, before the optimiser is made: leave the base as it is and put what is trained into float32: for p in model.parameters(): p.data = p.data.float() if p.requires_grad else p.data; peft does it by itself unless autocast_adapter_dtype is False, diffusers by cast_training_params(model, dtype=torch.float32)"
        ),
        ("part",),
        "by-hand",
        undo=(),
    ),
    "train-in-bfloat16": Kind(
        _(
            "train in bfloat16, which needs no scaler and which this GPU computes: {option} in place of float16, and the model loaded with torch_dtype=torch.bfloat16"
        ),
        ("option",),
        "by-hand",
        undo=(),
    ),
    "load-onto-card": Kind(
        _(
            'in the program: give {call} device_map="cuda" (accelerate has to be installed), and leave the later move to the card out: the weights then go to the card as they are read'
        ),
        ("call",),
        "by-hand",
        undo=(),
    ),
    "fit-labels": Kind(
        _(
            "in the program: let labels run from {first} to the number of classes less 1, as print(int(y.min()), int(y.max())) before the loss shows them; subtract 1 where they begin at 1, or give the last layer one output more"
        ),
        ("first",),
        "by-hand",
        undo=(),
    ),
    "fit-indices": Kind(
        _(
            "in the program: compare the largest index with the size of the {table} that it goes into, before that call; a model whose tokenizer got new tokens is widened by model.resize_token_embeddings(len(tokenizer)), and a text longer than the model's positions is cut"
        ),
        ("table",),
        "by-hand",
        undo=(),
    ),
    "fit-probabilities": Kind(
        _(
            "in the program: keep what goes in there within [{bounds}]: a sigmoid before BCELoss, or BCEWithLogitsLoss without one; for sampling look for NaN and infinite logits, as under float16"
        ),
        ("bounds",),
        "by-hand",
        undo=(),
    ),
    "find-failing-kernel": Kind(
        _(
            "to find the call at fault: run it once with {name}={value}, and the traceback ends at it; on NVIDIA's cards compute-sanitizer before the command names the kernel and the address; neither mends it, and both are slow"
        ),
        ("name", "value"),
        "by-hand",
        undo=(),
    ),
    "join-ray-cluster": Kind(
        _(
            "let the nodes that have the other GPUs join Ray's cluster before the engine is started: on each, ray start --address with the address of the first node and its port; ray status counts them"
        ),
        ("part",),
        "by-hand",
        undo=(),
    ),
    "load-environment-module": Kind(
        _("load the cluster's environment module {module} before the build, in the job's script or the shell: module load {module}"),
        ("module",),
        "by-hand",
        undo=(),
    ),
    "start-without-launcher": Kind(
        _(
            "where one copy is to be spread over all cards: start the program with python alone, without torchrun or accelerate launch; it then computes on one card after the other"
        ),
        ("part",),
        "by-hand",
        undo=(),
    ),
    "find-failing-line": Kind(
        _(
            "to find the line: run it once with {name}=1, or that step on the CPU, where the error names the index; then start the process anew without it"
        ),
        ("name",),
        "by-hand",
        undo=(),
    ),
    "use-all-outputs": Kind(
        _("let all that {part} returns take part in the loss, so that every parameter gets a gradient in each step"),
        ("part",),
        "by-hand",
        undo=(),
    ),
    "leave-module": Kind(_("start without the environment module {module} (module unload {module})"), ("module",), "by-hand", undo=()),
    "import-first": Kind(_("import {package} before all other libraries of the program"), ("package",), "by-hand", undo=()),
    "call-first": Kind(_("let the program call {call} before it uses the GPU"), ("call",), "by-hand", undo=()),
    "load-in-the-process": Kind(
        _(
            "meanwhile, in the program: give {call} num_workers=0; the process then loads its data itself, slower, and needs no shared memory for it"
        ),
        ("call",),
        "by-hand",
        undo=(),
    ),
    "use-fewer-workers": Kind(_("start fewer worker processes"), (), "by-hand", undo=()),
    "fewer-workers": Kind(_("start fewer worker processes"), ("part",), "by-hand", undo=()),
    "smaller-ollama-model": Kind(
        _(
            "take a smaller or more quantised model than {model}, or a shorter context (num_ctx); for ollama's server OLLAMA_FLASH_ATTENTION=1 with OLLAMA_KV_CACHE_TYPE=q8_0 halves what the context takes"
        ),
        ("model",),
        "by-hand",
        undo=(),
    ),
    "shorten-prompt": Kind(
        _("hand in less at once: the model was made for {most} tokens, and what goes beyond that it does not read"),
        ("most",),
        "by-hand",
        undo=(),
    ),
    "model-for-the-room": Kind(
        _(
            "take a model that fits into the {room} GB that lie on the GPU now, context included: about {billions} billion parameters at 4 bits; {model} wants {size} GB, and a shorter context or a smaller cache does not save the {gap} GB that are missing"
        ),
        ("model", "size", "gap", "room", "billions"),
        "by-hand",
        undo=(),
    ),
    "another-card-for-the-rest": Kind(
        _("add a GPU with more than {gap} GB: ollama spreads a model over all cards, and the speed is then that of their memory"),
        ("gap",),
        "by-hand",
        undo=(),
    ),
    "smaller-model": Kind(_("take a smaller or more quantised model, or a shorter context"), ("part",), "by-hand", undo=()),
    "program-option": Kind(_("start the program with {option}"), ("option",), "by-hand", undo=()),
    "switch-setting": Kind(_("in the program's settings: switch on {setting}"), ("setting",), "by-hand", undo=()),
    "use-another-vae": Kind(_("choose the VAE {vae}, which was made to stay within float16"), ("vae",), "by-hand", network=True, undo=()),
    "raise-option": Kind(
        _("start the program with a higher {option} than now, or with a shorter context"), ("option",), "by-hand", undo=()
    ),
    "lower-option": Kind(_("start the program with a lower {option} than now"), ("option",), "by-hand", undo=()),
    "web-ui-takes-torch-anew": Kind(
        _(
            "add --reinstall-torch to COMMANDLINE_ARGS in {file} for one start, and take it out again: the web UI then installs the torch that it was made for into its own environment"
        ),
        ("file",),
        "by-hand",
        network=True,
        undo=(),
    ),
    "ask-that-python": Kind(_("ask, and change, the Python that the program starts, by its full path"), (), "by-hand", undo=()),
    "keep-index-for-torch": Kind(
        _(
            'in pyproject.toml, let [[tool.uv.index]] of {index} say name = "{name}" and explicit = true, and [tool.uv.sources] torch.index = "{name}" (torchvision and torchaudio, where they are asked for, as well): then uv looks for nothing else there'
        ),
        ("index", "name"),
        "by-hand",
        network=True,
        commands=(("uv", "sync"),),
        undo=(),
    ),
    "ask-all-indexes": Kind(
        _("type the same command with --index-strategy {strategy}: uv then compares the releases of all its indexes"),
        ("strategy",),
        "by-hand",
        network=True,
        undo=(),
    ),
}
