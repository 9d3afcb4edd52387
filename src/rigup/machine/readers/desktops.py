"""What people ask TensorFlow and torch in one line on a desktop, and the names of packages that tell the system."""

import re

from rigup.machine.kinds import Gpu, Platform, TensorFlow, Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import vendor_of
from rigup.machine.texts import Text

_VERSION = r"(?P<version>2\.\d{1,2}\.\d{1,2})"
_INTEL = r"\btensorflow[-_]intel(?:==| {1,40}|-)" + _VERSION + r"\b"
_NAMES = r"get_device_name\([^\n]{0,120}(?:range\(|device_count)[^\n]{0,80}\n[ \t]{0,4}\[(?P<names>['\"][^\n\]]{4,400})\][ \t]*$"
_LOG = r"(?:[^\n]{0,60}\btensorflow/\S{1,80}\.cc:\d{1,5}\][^\n]{0,400}\n|WARNING:tensorflow:[^\n]{1,300}\n){0,12}"  # what it says before it answers
_UNAVAILABLE = (
    r"(?:tf\.test\.is_gpu_available\([^\n]{0,40}\)+[ \t]*\n" + _LOG + r"(?:Out ?\[\d{1,4}\]: ?)?False"
    r"|len\(tf\.config\.(?:experimental\.)?list_physical_devices\(['\"]GPU['\"]\)\)+[ \t]*\n" + _LOG + r"(?:Out ?\[\d{1,4}\]: ?)?0)[ \t]*$"
)
_PAIR = (
    r"get_device_name\(0\)[^\n]{1,40}get_device_name\(1\)[^\n]{0,20}\n"
    r"[ \t]{0,4}(?P<first>[A-Z][^\n|,;]{3,60}?)(?: ?[|,;/] ?| {2,8}| (?=NVIDIA |Tesla |GeForce |Quadro ))(?P<second>[A-Z][^\n|,;]{3,60}?)[ \t]*$"
)
_ASKED = r"(?i)^[^\n$]{0,120}\$env:(?P<name>(?:CUDA|HIP|ROCR|HSA|TORCH|ONEAPI|SYCL|PYTORCH)_\w{2,40})[ \t]*\n(?!PS |[A-Z]:)(?P<value>[^\n$>]{1,120})$"


@reads(marks=("is_gpu_available(", "list_physical_devices("), adds=(TensorFlow,), rank=-1)
def tensorflow_counts_none(text: Text) -> Statements:
    """`tf.test.is_gpu_available()` and False, `len(tf.config.list_physical_devices('GPU'))` and 0."""
    if hit := text.first(_UNAVAILABLE):
        yield hit.states(TensorFlow, gpus=0)


@reads(marks=("tensorflow-intel", "tensorflow_intel"), adds=(TensorFlow, Platform), rank=-1)
def tensorflow_of_windows(text: Text) -> Statements:
    """`tensorflow-intel==2.16.1`: under this name lie TensorFlow's wheels for Windows alone."""
    if hit := text.first(_INTEL):
        yield hit.states(TensorFlow, version=hit["version"])
        yield hit.states(Platform, system="windows")


@reads(marks=("get_device_name(",), adds=(Gpu,), rank=0)
def nvidia_devices_of_torch(text: Text) -> Statements:
    """`[torch.cuda.get_device_name(i) for i in range(2)]`: NVIDIA's cards as CUDA numbers them."""
    for hit in text.each(_NAMES):
        names = re.findall(r"['\"]([^'\"\n]{3,80})['\"]", hit["names"])
        if names and all(vendor_of(name) == "nvidia" for name in names):
            for index, name in enumerate(names):
                yield hit.states(Gpu, vendor="nvidia", runtime_index=index, name=name)
    for hit in text.each(_PAIR):
        if vendor_of(hit["first"]) == vendor_of(hit["second"]) == "nvidia":
            yield hit.states(Gpu, vendor="nvidia", runtime_index=0, name=hit["first"])
            yield hit.states(Gpu, vendor="nvidia", runtime_index=1, name=hit["second"])


@reads(marks=("$env:",), adds=(Variable,), rank=0)
def powershell_answers(text: Text) -> Statements:
    """`$env:CUDA_VISIBLE_DEVICES` and its value on the next line; of one that is not set PowerShell prints nothing."""
    for hit in text.each(_ASKED):
        yield hit.states(Variable, name=hit["name"].upper(), value=hit["value"].strip())
