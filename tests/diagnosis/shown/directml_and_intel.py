"""DirectML and Intel's oneAPI: each rule where it speaks, and beside it where it has to be silent."""

_SD = "10:00:01-1 INFO     Command line args: ['--use-directml']\n10:00:02-1 DEBUG    Loaded Torch=={}\n"
_NATIVE = "{}\n$ pip freeze | grep torch\ntorch=={}\ntorch-directml==0.2.5.dev240914\n"
_PROCEDURE = (
    "ImportError: DLL load failed while importing torch_directml_native: The specified procedure could not be found."
)
_SYMBOL = "ImportError: /e/torch_directml_native.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c104warnEv"
_ORT = '>>> s = ort.InferenceSession("a.onnx", providers=["DmlExecutionProvider"])\n>>> s.get_providers()\n{}\n'
_DXGI = "DXGI Adapter 0:\n ====\n\nDXGI_ADAPTER_DESC3:\n ----\n    Description = {}\n\nDXGI Adapter 1:\n ====\n\nDXGI_ADAPTER_DESC3:\n ----\n    Description = {}\n"
_DML_0 = "options.AppendExecutionProvider_DML({});\n0: {}\n1: {}\n"
_OLDER = "RuntimeError: Could not run 'aten::cumsum' with arguments from the '{}' backend.\n"
_PLACED = "InvalidArgumentError: Cannot assign a device for operation rnn: Could not satisfy explicit device specification '/device:{0}:0' because no supported kernel for {0} devices is available.\n"
_GROUP = "Root Member(assigned_device_name_index_=-1 requested_device_name_='/device:GPU:0' assigned_device_name_='' supported_device_types_=[{}] possible_devices_=[]\n"
_PLUGIN = "tensorflow-directml-plugin==0.4.0.dev230202\n"
_KERNELS = (
    "No OpKernel was registered to support Op 'CudnnRNN' used by {{{{node rnn}}}}\nRegistered devices: [CPU, {}]\n"
)
_APT = "intel-oneapi-compiler-dpcpp-cpp-{0}/all,now {0}.1-99 amd64 [installed,automatic]\n"
_LOST = "./main: error while loading shared libraries: {}: cannot open shared object file: No such file or directory\n"
_DLL = "The code execution cannot proceed because {} was not found.\n"
_ROOT = "CMPLR_ROOT=C:\\Program Files (x86)\\Intel\\oneAPI\\compiler\\{}\n"
_CONDA = "intel-sycl-rt             {}             intel_1000    intel\n"
_PIN = "torch 2.8.0+xpu requires {0}==1.2.3, but you have {0} 1.4.0 which is incompatible.\n"
_OPENSYCL = "-- Using open-source SYCL compiler (clang++). Didn't detect ENV {ONEAPI_ROOT}.\n"
_BUSY = "DirectML: {}\n"

SPEAKS = {
    "torch-that-directml-does-not-pin": ("directml-module-missing", _SD.format("2.0.1+cpu")),
    "native-part-under-another-torch": ("directml-module-missing", _NATIVE.format(_PROCEDURE, "2.6.0")),
    "native-part-lacks-a-symbol": ("directml-module-missing", _NATIVE.format(_SYMBOL, "2.7.0")),
    "provider-asked-and-not-there": ("directml-module-missing", _ORT.format("['CPUExecutionProvider']")),
    "pip-shows-none": ("directml-module-missing", "WARNING: Package(s) not found: torch-directml\n"),
    "dxgi-lists-the-processors-first": (
        "directml-wrong-adapter",
        "DirectML, no index\n" + _DXGI.format("Intel(R) UHD Graphics 630", "NVIDIA GeForce GTX 1650"),
    ),
    "first-asked-by-a-call": (
        "directml-wrong-adapter",
        _DML_0.format(0, "Intel(R) UHD Graphics 770", "AMD Radeon RX 7600"),
    ),
    "load-on-vega": ("directml-wrong-adapter", _BUSY.format("90 % utilization of the Vega 8, my RX 580 sleeps")),
    "load-on-intels": ("directml-wrong-adapter", _BUSY.format("there is load on the Intel graphics")),
    "older-name-of-the-device": ("directml-op-cpu-fallback", _OLDER.format("DML")),
    "device-without-a-name": (
        "directml-op-cpu-fallback",
        "pytorch-directml\n" + _OLDER.format("UNKNOWN_TENSOR_TYPE_ID"),
    ),
    "fork-has-no-kernel": ("directml-op-cpu-fallback", _PLACED.format("DML")),
    "plug-in-has-no-kernel": ("directml-op-cpu-fallback", _PLUGIN + _PLACED.format("GPU")),
    "plug-in-places-on-the-processor": ("directml-op-cpu-fallback", _PLUGIN + _GROUP.format("CPU")),
    "kernels-of-the-fork": ("directml-op-cpu-fallback", _KERNELS.format("DML")),
    "apt-lists-another-year": ("intel-oneapi-version-mismatch", _LOST.format("libsycl.so.7") + _APT.format("2025.0")),
    "image-of-another-year": (
        "intel-oneapi-version-mismatch",
        "FROM intel/oneapi-basekit:2025.0.1-0-devel\n" + _LOST.format("libmkl_sycl_lapack.so.4"),
    ),
    "module-of-another-year": (
        "intel-oneapi-version-mismatch",
        "$ module load intel-oneapi/2023.2.1\n" + _LOST.format("libsycl.so.8"),
    ),
    "compiler-of-another-year": (
        "intel-oneapi-version-mismatch",
        "Intel(R) oneAPI DPC++/C++ Compiler 2025.1.1 (2025.1.1.20250418)\n" + _LOST.format("libsycl.so.7"),
    ),
    "folder-of-another-year": (
        "intel-oneapi-version-mismatch",
        "$ ls /opt/intel/oneapi\n2025.0  compiler  mkl  setvars.sh\n" + _LOST.format("libsycl.so.7"),
    ),
    "windows-of-another-year": ("intel-oneapi-version-mismatch", _DLL.format("sycl7.dll") + _ROOT.format("2025.0")),
    "dll-of-another-number": (
        "intel-oneapi-version-mismatch",
        _DLL.format("sycl7.dll") + "C:\\oneAPI\\compiler\\latest\\bin\\sycl8.dll\n",
    ),
    "runtime-of-conda-of-another-year": (
        "intel-oneapi-version-mismatch",
        _CONDA.format("2025.0.4") + _LOST.format("libsycl.so.7"),
    ),
    "mkl-of-conda-of-another-year": (
        "intel-oneapi-version-mismatch",
        _CONDA.replace("intel-sycl-rt", "mkl-dpcpp").format("2025.0.4") + _LOST.format("libmkl_sycl_blas.so.4"),
    ),
    "runtime-that-is-not-the-pinned": ("intel-oneapi-version-mismatch", _PIN.format("intel-sycl-rt")),
    "dll-marked-as-missing": ("intel-oneapi-runtime-missing", "[NOT_FOUND] sycl8.dll\n"),
    "root-is-not-set": ("intel-oneapi-runtime-missing", "  Not detect ENV {ONEAPI_ROOT}, please install oneAPI\n"),
    "compiler-without-sycl": ("intel-oneapi-runtime-missing", "  C++ compiler lacks SYCL support.\n"),
    "same-year-not-in-the-shell": (
        "intel-oneapi-runtime-missing",
        _APT.format("2025.0") + _LOST.format("libsycl.so.8"),
    ),
}

SILENT = {
    "torch-that-directml-pins": ("directml-module-missing", _SD.format("2.0.0+cpu")),
    "torch-of-another-backend": ("directml-module-missing", _SD.format("2.0.1+cu118")),
    "native-part-under-its-torch": ("directml-module-missing", _NATIVE.format(_PROCEDURE, "2.4.1")),
    "procedure-is-no-runtime-of-windows": ("windows-runtime-dll-missing", _NATIVE.format(_PROCEDURE, "2.6.0")),
    "provider-asked-and-there": (
        "directml-module-missing",
        _ORT.format("['DmlExecutionProvider', 'CPUExecutionProvider']"),
    ),
    "pip-shows-no-other": ("directml-module-missing", "WARNING: Package(s) not found: torchsde\n"),
    "dxgi-lists-the-card-first": (
        "directml-wrong-adapter",
        "DirectML, no index\n" + _DXGI.format("NVIDIA GeForce GTX 1650", "Intel(R) UHD Graphics 630"),
    ),
    "first-asked-is-the-card": (
        "directml-wrong-adapter",
        _DML_0.format(0, "AMD Radeon RX 7600", "Intel(R) UHD Graphics 770"),
    ),
    "second-asked-by-a-call": (
        "directml-wrong-adapter",
        _DML_0.format(1, "Intel(R) UHD Graphics 770", "AMD Radeon RX 7600").replace("DML(1)", "DML(o, device_id: 1)"),
    ),
    "no-load-on-the-igpu": ("directml-wrong-adapter", _BUSY.format("90 % of the RX 580, no load on the iGPU")),
    "load-on-a-large-vega": ("directml-wrong-adapter", _BUSY.format("90 % utilization of the Vega 64")),
    "another-device": ("directml-op-cpu-fallback", _OLDER.format("HIP")),
    "device-without-a-name-elsewhere": ("directml-op-cpu-fallback", _OLDER.format("UNKNOWN_TENSOR_TYPE_ID")),
    "no-kernel-without-directml": ("directml-op-cpu-fallback", _PLACED.format("GPU")),
    "plug-in-places-on-both": ("directml-op-cpu-fallback", _PLUGIN + _GROUP.format("GPU, CPU")),
    "kernels-of-cuda": ("directml-op-cpu-fallback", _KERNELS.format("GPU")),
    "apt-lists-the-same-year": ("intel-oneapi-version-mismatch", _LOST.format("libsycl.so.7") + _APT.format("2024.2")),
    "apt-lists-both-years": (
        "intel-oneapi-version-mismatch",
        _APT.format("2024.2") + _APT.format("2025.0") + _LOST.format("libsycl.so.7"),
    ),
    "kit-and-nothing-lost": (
        "intel-oneapi-version-mismatch",
        "FROM intel/oneapi-basekit:2025.0.1-0-devel\n" + _APT.format("2025.0"),
    ),
    "windows-of-the-same-year": ("intel-oneapi-version-mismatch", _DLL.format("sycl8.dll") + _ROOT.format("2025.0")),
    "runtime-of-conda-of-the-same-year": (
        "intel-oneapi-version-mismatch",
        _CONDA.format("2024.2.1") + _LOST.format("libsycl.so.7"),
    ),
    "runtime-of-the-compiler-tells-nothing-of-mkl": (
        "intel-oneapi-version-mismatch",
        _CONDA.format("2025.0.4") + _LOST.format("libmkl_sycl_blas.so.4"),
    ),
    "another-pin": ("intel-oneapi-version-mismatch", _PIN.format("sympy")),
    "dll-found": ("intel-oneapi-runtime-missing", "[ApplicationDirectory] sycl8.dll\n"),
    "another-compiler-of-sycl": ("intel-oneapi-runtime-missing", _OPENSYCL),
}
