"""Head lines that picture programs and trainers print of the card and the torch that they run with."""

from rigup.knowledge.gpus import one_gpu
from rigup.machine.kinds import Gpu, Torch
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import says
from rigup.machine.texts import Text

_CARD = r"(?P<name>(?:NVIDIA|GeForce|Tesla|Quadro|TITAN|GRID|RTX|GTX|AMD|Radeon)[\w ().+/-]{1,60}?)"
_CARDS = (
    r"^[ /\\|]{1,20}(?:GPU: )?" + _CARD + r"\. (?:Num GPUs = \d{1,3}\. )?Max memory: [\d.]{1,8} GB\.",  # unsloth
    r"\bTorch detected (?:GPU|device): " + _CARD + r" VRAM \d{3,6} Arch ",  # kohya_ss, SD.Next
    r"\bDevice: device=" + _CARD + r" n=\d{1,3} (?:hipnames|arch|cap)=",  # SD.Next
    r"\b(?:GPU device = cuda|Using torch device:) " + _CARD + r"[ \t]*$",  # InvokeAI
    r"\*\*Name:\*\* cuda:\d{1,2} " + _CARD + r"(?: : \w{3,30})?[ \t]*$",  # ComfyUI's report
    r"\b(?:device_type|device_name|gpu_name|torch\.cuda\.device)[ \t]?[:=] ?['\"]?" + _CARD + r"['\"]?,?[ \t]*$",
    r"\"name\": ?\"cuda:\d{1,2} " + _CARD + r"(?: : \w{3,30})?\"",  # ComfyUI's /system_stats
)


@reads(
    adds=(Gpu,),
    marks=(
        "Max memory: ",
        "Torch detected ",
        "Device: device=",
        "GPU device = cuda",
        "Using torch device: ",
        "**Name:** cuda",
        "device_type",
        "device_name",
        "gpu_name",
        "torch.cuda.device:",
        '"cuda:',
    ),
    rank=0,
)
def card_of_a_head_line(text: Text) -> Statements:
    """`Torch detected GPU: NVIDIA GeForce GTX 1060 6GB VRAM 6144 Arch (6, 1) Cores 10`."""
    for form in _CARDS:
        for hit in text.each(form):
            if row := one_gpu(hit["name"]):
                yield from says(text, Gpu, hit.start, vendor=row.vendor, name=hit["name"], isa=row.isa or None, seen_by="torch")


_BUILD = r"(?P<version>[12]\.\d{1,2}\.\d{1,2}\+(?:cpu|cu\d{2,3}|xpu|rocm\d[\d.]{0,6}))"
_VERSIONS = (
    r"Model was trained with torch [^\n,]{1,40}, yours is " + _BUILD,  # pyannote, WhisperX
    r"\bTorch: torch==" + _BUILD + r"(?: torchvision==|[ \t]*$)",  # SD.Next
    r"\bLoaded Torch==" + _BUILD + r"[ \t]*$",  # SD.Next, older
    r"\"(?:pytorch|torch)_version\": ?\"" + _BUILD + r"\"",  # ComfyUI's and the web UIs' reports
)


@reads(adds=(Torch,), marks=("yours is ", "Torch: torch==", "Loaded Torch==", 'torch_version"'), rank=0)
def torch_of_a_head_line(text: Text) -> Statements:
    """`Model was trained with torch 1.10.0+cu102, yours is 2.1.0+cpu`: the second is the one that is there."""
    for form in _VERSIONS:
        if hit := text.first(form):
            yield hit.states(Torch, version=hit["version"])
            return


@reads(adds=(Torch,), marks=("torch.version.cuda\n",), rank=0)
def prompt_that_answers_nothing(text: Text) -> Statements:
    """`>>> torch.version.cuda` and the next prompt: Python shows nothing of None."""
    if hit := text.first(r"^>>> torch\.version\.cuda[ \t]*\n>>>"):
        yield hit.states(Torch, cuda=None)
