"""Containers and notebooks: each rule where it speaks, and beside it where it has to be silent."""

_ASKED = '$ docker run -it --gpus all {} bash\ndocker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
_TRACE = 'openat(AT_FDCWD, "/dev/kfd", O_RDWR|O_CLOEXEC) = -1 ENOENT (No such file or directory)\n'
_SEARCHED = (
    'source=gpu.go:265 msg="Searching for GPU management library libnvidia-ml.so"\n'
    'source=gpu.go:311 msg="Discovered GPU libraries: []"\n'
)
_BUS_OF_ENGINE = "$ mpirun -np 16 ./solve\nFatal Python error: Bus error\n"
_THROUGH = 'Traceback (most recent call last):\n  File "{}/serve.py", line 8, in <module>\n    import decoder\n'
_MISSED = "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory\n"
_INSIDE_OF_ENGINE = "root@4f1d2c3b5a69:/# python serve.py\n"
_TRITON = "I0611 09:11:22.010203 1 cuda_memory_manager.cc:115] CUDA memory pool disabled\n"
_NO_DEVICE = "RuntimeError: CUDA error: no CUDA-capable device is detected\n"
_UNSPECIFIED = "INFO [__init__.py:243] No platform detected, vLLM is running on UnspecifiedPlatform\n"
_HEAD_OF_ENGINE = "| NVIDIA-SMI {0}       Driver Version: {0}       CUDA Version: {1}     |\n"
_OLD = "CUDARuntimeError: cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version\n"
_NONE_OF_ENGINE = "Error: No GPU device found!\n"
_COMPOSE = "services:\n  reader:\n    container_name: reader\n    image: acme/reader:latest\n"
_INSPECTED = '            "Env": [\n                "NVIDIA_DRIVER_CAPABILITIES=compute,utility",\n                "OLLAMA_HOST=0.0.0.0:11434",\n                "NVIDIA_VISIBLE_DEVICES=all"\n            ],\n'
_OLLAMA = 'time=2026-02-03T04:05:06.000Z level=INFO source=gpu.go:386 msg="no compatible GPUs were discovered"\n'
_NVML = "nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1\n"
_DESKTOP = (
    "$ docker context ls\ndesktop-linux *   moby   Docker Desktop   unix:///home/ada/.docker/desktop/docker.sock\n"
)
_SNAP = "$ sudo snap install docker\n"
_RUNTIME = "docker: Error response from daemon: Unknown runtime specified nvidia.\n"
_REFUSED_OF_ENGINE = "PermissionError: [Errno 13] Permission denied: '{}'\n"
_BOOK = "Permission denied: work/Untitled.ipynb\n"
_ENTRY_OF_ENGINE = "drwxr-xr-x 2 {0} {0} 4096 Feb  3 04:00 work\n"
_TEGRA = 'Detected 1 CUDA Capable device(s)\n\nDevice 0: "NVIDIA Tegra X1"\n'
_REFUSED_OF_LINE = "AssertionError: CUDA unavailable, invalid device 0 requested\n"
_STORE = "store_runner.cc:83: System memory request exceeds memory available in {}. The request is for 6000000000 bytes, and the amount available is 67108864 bytes.\n"
_BROKEN = "$ docker run --gpus all \\\n    -p 80:80 \\\n    {} \\\n    my/trainer\n"
_PLOTS = "Matplotlib created a temporary config/cache directory at /tmp/matplotlib-q because the default path ({}) is not a writable directory; it is highly recommended to set MPLCONFIGDIR\n"
_HUB = "There was a problem when trying to write in your cache folder ({}). You should set the environment variable TRANSFORMERS_CACHE to a writable directory.\n"
_VOLUME = "services:\n  lab:\n    image: my/lab\n    volumes:\n      - {}\n"
_DENIED = "PermissionError: [Errno 13] Permission denied: '{}'\n"
_MADE = " Container chat-hf-1  Creating\n Container chat-hf-1  Created\n"
_KERNEL = "$ cat /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
_POD = "Name:             nb-{0}\nNamespace:        team\nPriority:         0\nNode:             gn4/10.0.0.4\n"
_FOUND_NONE = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx\n"
_LIMITS = "    Limits:\n      cpu:             4\n      nvidia.com/gpu:  {}\n"
_RUN_OF_PLACE = "$ docker run --gpus all {} my/trainer python train.py\n"
_HEAD_OF_PLATFORM = "Ultralytics {} Python-3.10.12 torch-{} {}\n"
_CHECKS = (
    "Setup complete (6 CPUs, 7.4 GB RAM)\n\nOS                  Linux-5.15.148-{}\nEnvironment         Linux\nPython              3.10.12\n"
    "RAM                 7.44 GB\nCPU                 Cortex-A78AE\nCUDA                {}\n"
)
_ARM = "CPU (ARMv8 Processor rev 1 (v8l))"
_INSIDE_OF_TOLD = (
    "$ docker run --rm {}pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime torchrun --nproc_per_node=2 train.py\n"
)
_NONE_OF_TOLD = "RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!\n"
_STOPS = "ValueError: No GPUs found\n"
_BUS_OF_TOLD = "*** SIGBUS (@0x7f1a2c000000) received by PID 311 (TID 0x7f1e) from PID 738197504; stack trace: ***\n"
_NO_NODE = "Unable to open /dev/kfd read-write: No such file or directory\n"
_SHARDED = 'Error: NotEnoughCUDADevices("`sharded` is true but only found {} CUDA devices")\n'
_RUN_OF_SERVER = "$ docker run --rm {} -p 8000:8000 {}\n"
_GROUP = "\"Poll failed for model directory 'm': instance group m_0 of model m has kind KIND_GPU but {}\"\n"
_OPENVINO = "RuntimeError: Failed to create plugin libclDNNPlugin.so for device GPU\n[CLDNN ERROR]. clGetPlatformIDs error -1001\n"
_ENTRY_OF_BESIDE = "ERROR: This container was built for NVIDIA Driver Release {} or later, but\n       version {} was detected and compatibility mode is UNAVAILABLE.\n\n"
_803 = "       [[CUDA Driver UNAVAILABLE (cuInit(0) returned 803)]]\n"
_STAT = '$ docker run --rm --device /dev/kfd --device /dev/dri rocm/pytorch rocminfo\ndocker: Error response from daemon: error gathering device information while adding custom device "/dev/kfd": no such file or directory.\n'
_EXEC = "$ docker exec web ls /dev | grep -c nvidia\n{}\n$ nvidia-smi -L\nGPU 0: NVIDIA RTX A2000\n"
_BOX_OF_OTHER = "$ distrobox enter r -- python3 -c \"import torch; print(torch.version.hip, torch.cuda.is_available())\"\n6.1.40091 {}\n$ podman inspect r --format '{{{{.HostConfig.Devices}}}}'\n{}\n$ rocminfo | grep -m1 'Name:.*gfx'\n  Name:                    gfx1030\n"
_CDI = "$ nvidia-ctk cdi generate\nERRO[0000] failed to generate CDI spec: failed to initialize NVML: ERROR_LIBRARY_NOT_FOUND\n$ uname -r\n{}\n"
_CELLS = "[1] !which python\n/home/u/conda/envs/dl/bin/python\n[2] import torch\nModuleNotFoundError: No module named 'torch'\n[3] import sys; sys.prefix\n'{}'\n"
_PROMPT = "I have no name!@{}:/w$ python t.py\nRuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx\n"
_EMULATED = "$ docker run --rm some/image\nqemu: uncaught target signal {} - core dumped\n{}"
_GMX = "$ apptainer exec {}gmx.sif gmx mdrun -deffnm md -pme gpu\nPME on the GPU was requested with -pme gpu, but no compatible devices were found.\n"
_SWARM = '$ docker service create --generic-resource "gpu=2" --name w img\nno suitable node (insufficient resources on 2 nodes)\n$ which nvidia-ctk || echo missing\n{}\n'
_GUEST = "root@vm:~# ./server\nIllegal instruction (core dumped)\nroot@pve:~# qm config 104 | grep cpu\ncpu: {}\n"
_TABLE = "torch 2.2.0+cu121\nNVIDIA-SMI {0}       Driver Version: {0}       CUDA Version: {1}\n|   0  GeForce GTX 1660   WDDM  | 00000000:01:00.0  On |\n>>> torch.cuda.is_available()\nFalse\n"
_NO_LIBRARIES = "{} I external/local_tsl/tsl/cuda/cudart_stub.cc:31] Could not find cuda drivers on your machine, GPU will not be used.\n"
_STEP = (
    "".join(_NO_LIBRARIES.format(f"2025-03-02 10:11:1{at}.4{at}0112:") for at in range(5))
    + "I0302 10:11:20.1 make_examples.py:612] Found 3120 candidate variants\n"
)
_AWQ = (
    "RuntimeError: GPU is required to run AWQ quantized model. You can use IPEX version AWQ if you have an Intel CPU\n"
)
_DOCKER_OF_TORCH = "$ docker run -it --rm -v $PWD:/w pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime python /w/load.py\n"
_DOCKER_OF_TRACE = "$ docker run --rm -it my/image python run.py\n"
_XPU = "{}/lib/python3.12/site-packages/torch/xpu/__init__.py:61: UserWarning: Failed to initialize XPU devices. The driver may not be installed, installed incorrectly, or incompatible with the current setup.\n"
_RANKS = (
    "# Using devices\n"
    "#   Rank  0 Pid   1200 on      node7 device  0 [0x1a] NVIDIA A40\n"
    "#   Rank  1 Pid   1200 on      {} device  1 [0x1c] NVIDIA A40\n"
    "node7: Test NCCL failure common.cu:1005 'unhandled system error'\n"
)
_ENV = "['', '/opt/conda/envs/dl/lib/python311.zip', '/opt/conda/envs/dl/lib/python3.11/site-packages']\n"
_BASE = "['',\n '/opt/conda/lib/python312.zip',\n '/home/ada/.ipython']\n"
_CARD = "GPU 0: NVIDIA GeForce {} (UUID: GPU-0c1e2f00)\n"
_BOX_OF_CUDA = "$ docker run --rm -it simul:latest ./run.sh\n"
_DEVICE = "called `Result::unwrap()` on an `Err` value: CudaError::NoDevice\n"

_RM = "$ docker compose ps -q trainer\n9f8e7d6c5b4a\n$ rm {0}/last.pt\nrm: das Entfernen von '{0}/last.pt' ist nicht möglich: Keine Berechtigung\n$ ls -l runs\n-rw-r--r-- 1 root root 9120 Mai  4 17:20 {1}\n"
_PATH = '$ which nvidia-ctk nvidia-container-cli\n{}$ docker info -f \'{{{{json .Runtimes}}}}\'\n{{"io.containerd.runc.v2":{{"path":"runc"}},"runc":{{"path":"runc"}}}}\n$ nvidia-smi -L\nGPU 0: NVIDIA RTX A4000 (UUID: GPU-0f0f61e0-9d3a-e3d8-7a6f-8a6d4d6dbf2a)\n'
_GIVEN = "$ docker inspect -f '{{{{.HostConfig.Runtime}}}} {{{{.HostConfig.DeviceRequests}}}}' paint\n{}\n$ docker exec paint python -c 'import torch; print(torch.__version__, torch.cuda.is_available())'\n2.5.1+cu124 False\n"
_NODES = "$ kubectl get nodes -o custom-columns=NAME:.metadata.name,GPU:.status.allocatable.'nvidia\\.com/gpu'\nNAME   GPU\nn1     {}\n$ ssh n1 \"nvidia-smi -L; which nvidia-ctk || echo none\"\nGPU 0: NVIDIA A10 (UUID: GPU-0f0f61e0-9d3a-e3d8-7a6f-8a6d4d6dbf2a)\nnone\n"
_PIP = "(dl) $ pip install torch\nRequirement already satisfied: torch in /home/ada/conda/envs/dl/lib/python3.10/site-packages (2.3.0)\nCell In[1], line 1\n----> 1 import {0}\nModuleNotFoundError: No module named '{0}'\n"
_LIES = "In [1]: import torch; torch.__file__\nOut[1]: '/home/ada/conda{}/lib/python3.10/site-packages/torch/__init__.py'\n$ python -c 'import torch; print(torch.__file__)'\n/home/ada/conda/envs/dl/lib/python3.10/site-packages/torch/__init__.py\n"
_BOXED = "$ podman inspect voice --format '{{{{.HostConfig.Devices}}}}'\n{}\n$ podman logs voice\nUserWarning: CUDA is not available, using CPU\n$ nvidia-smi -L\nGPU 0: NVIDIA RTX A2000 (UUID: GPU-0f0f61e0-9d3a-e3d8-7a6f-8a6d4d6dbf2a)\n"
_SHARED = "$ docker inspect -f '{{{{.HostConfig.ShmSize}}}} {{{{.HostConfig.IpcMode}}}}' yolo\n{} private\n$ docker logs yolo\nFatal Python error: Bus error\n"
_MAPPED = "$ podman inspect paint\n$ ls -ln\ndrwxr-xr-x 3 {0} {0} 4096 Aug  3 11:00 models\n$ cp a models/\ncp: cannot create regular file 'models/a': Permission denied\n"
_JULIA = "$ docker run {}julia julia -e 'using CUDA; CUDA.functional(true)'\nERROR: CUDA driver not found\n$ nvidia-smi -L\nGPU 0: NVIDIA RTX A2000 (UUID: GPU-0f0f61e0-9d3a-e3d8-7a6f-8a6d4d6dbf2a)\n"
_COMPAT = "FROM nvidia/cuda:12.3.2-base-ubuntu22.04\nENV LD_LIBRARY_PATH=/usr/local/cuda/compat:$LD_LIBRARY_PATH\n| NVIDIA-SMI 525.147.05   Driver Version: 525.147.05   CUDA Version: {}     |\n|   0  NVIDIA GeForce ...  Off  | 00000000:01:00.0 Off |                  N/A |\n"
_CONTEXT = "$ docker context show\n{}\n" + _ASKED.format("ubuntu")
_TWO = "In [1]: import torch; torch.__version__\nOut[1]: '{}'\n$ python -c 'import torch; print(torch.__version__)'\n2.4.0+cu121\n"
_ENV_ASKED = "(pt) $ python -c 'import torch; print(torch.cuda.is_available())'\nTrue\nCell In[2], line 1\nModuleNotFoundError: No module named '{}'\n"
_PCT = "root@pve:~# ls /dev/nvidia*\n/dev/nvidia0  /dev/nvidiactl\nroot@pve:~# pct exec 110 -- sh -c 'ls /dev/nvidia*'\n{}\n"
_CHECK = '  File "/opt/conda/lib/python3.7/site-packages/torch/cuda/__init__.py", line {}, in _check_driver\n    {}\n'

SPEAKS = {
    "runtime-of-nvidias-cut": (
        "container-toolkit-missing",
        "docker: Error response from daemon: OCI runtime create failed: unable to retrieve OCI runtime error (open /run/x/log.json: no such file or directory): fork/exec /usr/bin/nvidia-contai\n",
    ),
    "driver-asked-in-the-source": (
        "container-without-gpu",
        "$ docker run -it --privileged me/train python t.py\n"
        + _CHECK.format(101, 'http://www.nvidia.com/Download/index.aspx""")'),
    ),
    "driver-asked-in-the-source-and-cut": (
        "container-without-gpu",
        "$ docker run -it me/train python t.py\n" + _CHECK.format(99, "http://www.nvidia.com/Dow"),
    ),
    "files-of-a-mapped-owner": ("container-files-root-owned", _MAPPED.format("100999")),
    "julia-without-gpus": ("container-without-gpu", _JULIA.format("")),
    "compatibility-first": ("cuda-compat-libs-on-unsupported-gpu", _COMPAT.format("12.3")),
    "engine-of-colima": ("docker-flavour-without-gpu", _CONTEXT.format("colima")),
    "torch-of-two-releases": ("jupyter-kernel-other-env", _TWO.format("2.1.0+cpu")),
    "torch-answers-in-an-environment": ("jupyter-kernel-other-env", _ENV_ASKED.format("torch")),
    "nodes-of-the-host-alone": (
        "container-without-gpu",
        _PCT.format("ls: cannot access '/dev/nvidia*': No such file or directory"),
    ),
    "frigate-has-little": (
        "shm-too-small",
        "The current SHM size of 67.1MB is too small, recommend increasing it to at least 161.2MB.\n",
    ),
    "no-nodes-and-nothing-to-watch": (
        "container-without-gpu",
        "coder@ws:~$ ls /dev | grep -i nvidia\ncoder@ws:~$ nvtop\nNo GPU to monitor.\ncoder@ws:~$ cat /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.07  Sat Feb 17 22:55:48 UTC 2024\n",
    ),
    "refused-in-german": ("container-files-root-owned", _RM.format("runs", "last.pt")),
    "engine-without-the-toolkit": ("container-toolkit-missing", _PATH.format("")),
    "template-without-devices": ("container-without-gpu", _GIVEN.format("runc []")),
    "nodes-offer-none": ("container-toolkit-missing", _NODES.format("<none>")),
    "pip-has-what-the-cell-misses": ("jupyter-kernel-other-env", _PIP.format("torch")),
    "module-lies-in-two": ("jupyter-kernel-other-env", _LIES.format("")),
    "nodes-of-podman-for-nvidia": ("container-without-gpu", _BOXED.format("[]")),
    "shared-memory-by-a-template": ("shm-too-small", _SHARED.format("67108864")),
    "nvidias-option": ("container-without-gpu", _ASKED.format("rocm/pytorch:latest")),
    "ggml-inside": (
        "container-without-gpu",
        "root@0a1b2c3d4e5f:/app# ./llama-cli\nggml_cuda_init: failed to initialize ROCm: no ROCm-capable device is detected\n",
    ),
    "trace-inside": ("container-without-gpu", "root@0a1b2c3d4e5f:/app# strace -f ./saxpy 2>&1 | grep kfd\n" + _TRACE),
    "podman-hands-ollama-none": ("container-without-gpu", "podman run --gpus=all ollama\n" + _SEARCHED),
    "bus-error-of-ranks-inside": ("shm-too-small", "(in a docker container)\n" + _BUS_OF_ENGINE),
    "library-through-an-image": ("container-without-gpu", _THROUGH.format("/app") + _MISSED),
    "library-inside": ("container-without-gpu", _INSIDE_OF_ENGINE + _MISSED),
    "triton": ("container-without-gpu", _TRITON + _NO_DEVICE),
    "no-platform-inside": ("container-without-gpu", _INSIDE_OF_ENGINE + _UNSPECIFIED),
    "too-old-and-new": (
        "container-without-gpu",
        _HEAD_OF_ENGINE.format("580.95.05", "13.0") + _THROUGH.format("/app") + _OLD,
    ),
    "program-from-a-compose-file": ("container-without-gpu", _COMPOSE + _NONE_OF_ENGINE),
    "library-and-words": ("container-without-gpu", "We run the reader in Docker on the new server.\n" + _MISSED),
    "server-in-an-inspected-one": ("container-without-gpu", _INSPECTED + _OLLAMA),
    "desktop-and-the-hosts-library": ("docker-flavour-without-gpu", _DESKTOP + _NVML.partition("error: ")[2]),
    "snap-and-the-runtime": ("docker-flavour-without-gpu", _SNAP + _RUNTIME),
    "own-files-inside": ("container-files-root-owned", _INSIDE_OF_ENGINE + _REFUSED_OF_ENGINE.format("runs/a.bin")),
    "files-through-an-image": (
        "container-files-root-owned",
        _THROUGH.format("/app") + _REFUSED_OF_ENGINE.format("index/a.bin"),
    ),
    "files-after-an-engines-command": (
        "container-files-root-owned",
        "$ podman run --rm -u 1001 acme/reader\n" + _REFUSED_OF_ENGINE.format("runs"),
    ),
    "clone-in-an-images-home": (
        "container-files-root-owned",
        "+ cd /home/runner/ComfyUI\nfatal: could not create work tree dir 'nodes': Permission denied\n",
    ),
    "notebook-in-roots-folder": ("container-files-root-owned", _ENTRY_OF_ENGINE.format("root") + _BOOK),
    "no-nodes-inside": (
        "container-without-gpu",
        "root@3fd21a9b77c4:/app# python serve.py\nRuntimeError: No XPU devices are available.\nroot@3fd21a9b77c4:/app# ls /dev/dri\nls: cannot access '/dev/dri': No such file or directory\n",
    ),
    "processors-inside": (
        "container-without-gpu",
        "root@3fd21a9b77c4:/app# sycl-ls\n[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5-12400 OpenCL 3.0\n",
    ),
    "module-refused": ("jetson-generic-wheel", _TEGRA + _REFUSED_OF_LINE),
    "store-asks-for-more": ("shm-too-small", "(raylet) " + _STORE.format("/dev/shm")),
    "store-of-plasma": ("shm-too-small", "/ray/src/plasma/store.cc:985: " + _STORE.format("/dev/shm")),
    "plots-in-a-mounted-cache": (
        "container-files-root-owned",
        _BROKEN.format("-v /srv/c:/app/.cache") + _PLOTS.format("/app/.cache/matplotlib"),
    ),
    "hub-in-a-mounted-cache": (
        "container-files-root-owned",
        _BROKEN.format('--volume "$HOME"/hf:/models') + _HUB.format("/models/hub/"),
    ),
    "volume-refuses": (
        "container-files-root-owned",
        _VOLUME.format("./runs:/opt/lab/runs") + _DENIED.format("/opt/lab/runs/e1"),
    ),
    "volume-itself-refuses": (
        "container-files-root-owned",
        _VOLUME.format("/data/out:/out") + _DENIED.format("/out"),
    ),
    "home-of-root-refused": ("container-files-root-owned", _MADE + _DENIED.format("/root/.cache/huggingface/hub")),
    "pod-without-gpus": ("container-without-gpu", _FOUND_NONE + _KERNEL + _POD.format(1)),
    "pod-without-its-tool": (
        "container-without-gpu",
        "bash: nvidia-smi: command not found\n" + _KERNEL + _POD.format(2) + _LIMITS.format(0),
    ),
    "checks-on-a-module": (
        "jetson-generic-wheel",
        _HEAD_OF_PLATFORM.format("8.3.40", "2.5.1", "CPU (Cortex-A78AE)")
        + _CHECKS.format("tegra-aarch64-with-glibc2.35", "None"),
    ),
    "checks-on-a-module-without-its-head": (
        "jetson-generic-wheel",
        _HEAD_OF_PLATFORM.format("YOLOv8.1.0", "2.1.2", _ARM) + _CHECKS.format("tegra-aarch64-with-glibc2.31", "None"),
    ),
    "head-line-and-a-module-named": (
        "jetson-generic-wheel",
        "Jetson Orin Nano, fresh image\n" + _HEAD_OF_PLATFORM.format("8.3.40", "2.5.1", "CPU (Cortex-A78AE)"),
    ),
    "head-line-and-an-older-module-named": (
        "jetson-generic-wheel",
        "My board is a Jetson Xavier NX.\n" + _HEAD_OF_PLATFORM.format("YOLOv8.0.200", "2.1.0", _ARM),
    ),
    "board-named-by-its-prompt": (
        "jetson-generic-wheel",
        "ada@jetson-orin:~/vision$ python3\n>>> import torch\n>>> torch.cuda.is_available()\nFalse\n",
    ),
    "group-inside": ("container-without-gpu", _INSIDE_OF_TOLD.format("") + _NONE_OF_TOLD),
    "stops-inside": ("container-without-gpu", _INSIDE_OF_TOLD.format("") + _STOPS),
    "bus-error": ("shm-too-small", _INSIDE_OF_TOLD.format("--gpus all ") + _BUS_OF_TOLD),
    "entered-and-absent": (
        "container-without-gpu",
        "lxc.cgroup2.devices.allow: c 226:128 rwm\nlxc.mount.entry: /dev/dri/renderD128 dev/dri/renderD128 none bind,optional,create=file\nroot@ct:~# rocminfo\n"
        + _NO_NODE,
    ),
    "shards": (
        "container-without-gpu",
        _RUN_OF_SERVER.format("", "ghcr.io/huggingface/text-generation-inference:3.3") + _SHARDED.format(0),
    ),
    "groups": (
        "container-without-gpu",
        _RUN_OF_SERVER.format("", "nvcr.io/nvidia/tritonserver:24.05-py3") + _GROUP.format("no GPUs are available"),
    ),
    "openvino": ("container-without-gpu", _RUN_OF_SERVER.format("", "openvino/ubuntu22_runtime") + _OPENVINO),
    "entrypoint-and-803": ("container-requires-newer-driver", _ENTRY_OF_BESIDE.format("545.23", "470.57.02") + _803),
    "no-node-inside": ("container-without-gpu", _EXEC.format(0)),
    "no-device-given": ("container-without-gpu", _BOX_OF_OTHER.format("False", "[]")),
    "cdi-on-a-jetson": ("container-runtime-without-jetson-support", _CDI.format("5.10.104-tegra")),
    "another-prefix": ("jupyter-kernel-other-env", _CELLS.format("/home/u/conda")),
    "nameless": ("container-without-gpu", _PROMPT.format("9c41fe")),
    "emulated": ("container-wrong-architecture", _EMULATED.format("4 (Illegal instruction)", "")),
    "emulated-and-faults": (
        "container-wrong-architecture",
        _EMULATED.format("11 (Segmentation fault)", "cpu: qemu64\n"),
    ),
    "gmx-without-nv": ("container-without-gpu", _GMX.format("")),
    "swarm": ("container-toolkit-missing", _SWARM.format("missing")),
    "container": ("container-without-gpu", _DOCKER_OF_TORCH + _AWQ),
    "xpu-in-a-container": ("container-without-gpu", _DOCKER_OF_TRACE + _XPU.format("/usr/local")),
    "system-error-on-one-host": ("shm-too-small", _RANKS.format("node7")),
    "two-paths": ("jupyter-kernel-other-env", _BASE + _ENV),
    "in-rust": ("container-without-gpu", _CARD.format("RTX 3090") + _BOX_OF_CUDA + _DEVICE),
    "another-container-has-the-cards": (
        "container-without-gpu",
        "$ docker run --rm -it example/web bash\nroot@1f2e:/# nvidia-smi\nbash: nvidia-smi: command not found\n$ docker run --rm --gpus all ubuntu nvidia-smi\n| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |\n",
    ),
    "another-container-of-podman-has-the-cards": (
        "container-without-gpu",
        "$ podman run -it example/train python run.py\nRuntimeError: Found no NVIDIA driver on your system.\n$ podman run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi\n| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |\n",
    ),
    "snap-told-and-no-task": (
        "docker-flavour-without-gpu",
        "Docker: installed via `snap`\n$ docker run --rm --gpus all ubuntu nvidia-smi\ndocker: Error response from daemon: failed to create task for container\n",
    ),
    "snaps-socket-folder": (
        "docker-flavour-without-gpu",
        "dockerd --exec-root=/run/snap.docker\n$ docker run --rm --runtime=nvidia ubuntu nvidia-smi\ndocker: Error response from daemon: unknown or invalid runtime name: nvidia.\n",
    ),
}

SILENT = {
    "runtime-of-another": (
        "container-toolkit-missing",
        'OCI runtime create failed: unable to retrieve OCI runtime error (open /run/x/log.json: no such file or directory): exec: "kata-runtime": executable file not found\n',
    ),
    "desktop-on-an-old-windows": (
        "docker-flavour-without-gpu",
        "Win 10 Pro 20H2 (19042.1288)\nDocker Desktop 4.2 with the WSL2 backend\nnvidia-container-cli: initialization error: driver error: failed to process request\n",
    ),
    "image-asked-for-the-tool-where-the-host-has-no-card": (
        "container-without-gpu",
        (
            "$ docker run --rm debian:12 nvidia-smi\n"
            'docker: Error response from daemon: OCI runtime create failed: exec: "nvidia-smi": executable file not found in $PATH: unknown.\n'
            "$ nvidia-smi\nbash: nvidia-smi: command not found\n"
            "$ lspci | grep -iE 'vga|3d'\n07:00.0 VGA compatible controller: ASPEED Technology, Inc. ASPEED Graphics Family (rev 41)\n"
        ),
    ),
    "ray-told-where-to-keep-its-store": (
        "shm-too-small",
        "The object store is using /tmp instead of /dev/shm because you set --plasma-directory\n",
    ),
    "driver-too-old-in-the-source": (
        "container-without-gpu",
        "$ docker run --gpus all -it me/train python t.py\n"
        + _CHECK.format(112, 'of the CUDA driver.""".format(str(torch._C._cuda_getDriverVersion())))'),
    ),
    "build-asked-in-the-source": (
        "container-without-gpu",
        "$ docker run -it me/train python t.py\n"
        + _CHECK.format(75, 'raise AssertionError("Torch not compiled with CUDA enabled")'),
    ),
    "julia-with-gpus": ("container-without-gpu", _JULIA.format("--gpus all ")),
    "compatibility-of-the-drivers-own-cuda": ("cuda-compat-libs-on-unsupported-gpu", _COMPAT.format("12.0")),
    "engine-of-the-host": ("docker-flavour-without-gpu", _CONTEXT.format("default")),
    "torch-of-one-release": ("jupyter-kernel-other-env", _TWO.format("2.4.0+cu121")),
    "another-module-is-missed": ("jupyter-kernel-other-env", _ENV_ASKED.format("diffusers")),
    "nodes-of-both": ("container-without-gpu", _PCT.format("/dev/nvidia0  /dev/nvidiactl")),
    "refused-in-german-elsewhere": ("container-files-root-owned", _RM.format("/etc/docker", "first.pt")),
    "engine-with-the-toolkit": (
        "container-toolkit-missing",
        _PATH.format("/usr/bin/nvidia-ctk\n/usr/bin/nvidia-container-cli\n"),
    ),
    "template-with-devices": ("container-without-gpu", _GIVEN.format("runc [{ -1 [] [[gpu]] map[]}]")),
    "nodes-offer-some": ("container-toolkit-missing", _NODES.format("4")),
    "cell-misses-another-module": ("jupyter-kernel-other-env", _PIP.format("diffusers")),
    "module-lies-in-one": ("jupyter-kernel-other-env", _LIES.format("/envs/dl")),
    "podman-was-given-a-node": ("container-without-gpu", _BOXED.format("[{/dev/nvidia0 /dev/nvidia0 rwm}]")),
    "much-shared-memory-by-a-template": ("shm-too-small", _SHARED.format("8589934592")),
    "nvidias-option-for-nvidias-image": ("container-without-gpu", _ASKED.format("nvidia/cuda:12.4.1-base-ubuntu22.04")),
    "toolkit-for-rocms-image": ("container-toolkit-missing", _ASKED.format("rocm/pytorch:latest")),
    "ollama-of-a-host": ("container-without-gpu", "$ ollama serve\n" + _SEARCHED),
    "bus-error-of-ranks-on-a-node": ("shm-too-small", _BUS_OF_ENGINE),
    "bus-error-of-one-process": ("shm-too-small", "(in a docker container)\nFatal Python error: Bus error\n"),
    "library-through-a-home": ("container-without-gpu", _THROUGH.format("/home/ada/app") + _MISSED),
    "library-on-a-machine": ("container-without-gpu", "ada@desk:~$ python serve.py\n" + _MISSED),
    "triton-behind-a-mask": ("container-without-gpu", "CUDA_VISIBLE_DEVICES=-1\n" + _TRITON + _NO_DEVICE),
    "no-platform-on-a-machine": ("container-without-gpu", "ada@desk:~$ vllm serve\n" + _UNSPECIFIED),
    "too-old-and-old": (
        "container-without-gpu",
        _HEAD_OF_ENGINE.format("450.80.02", "11.0") + _THROUGH.format("/app") + _OLD,
    ),
    "program-with-its-gpu-asked": (
        "container-without-gpu",
        "$ docker run --gpus all acme/reader:latest\n" + _NONE_OF_ENGINE,
    ),
    "library-and-no-words": ("container-without-gpu", "We run the reader on the new server.\n" + _MISSED),
    "server-asked-with-gpus": (
        "container-without-gpu",
        "$ docker run --gpus all ollama/ollama\n" + _INSPECTED + _OLLAMA,
    ),
    "library-and-no-desktop": ("docker-flavour-without-gpu", _NVML.partition("error: ")[2]),
    "runtime-and-no-snap": ("docker-flavour-without-gpu", "$ sudo apt install docker.io\n" + _RUNTIME),
    "nodes-of-the-system-inside": (
        "container-files-root-owned",
        _INSIDE_OF_ENGINE + _REFUSED_OF_ENGINE.format("/dev/kfd"),
    ),
    "script-without-its-bit": (
        "container-files-root-owned",
        "$ docker run --rm acme/reader\n" + _REFUSED_OF_ENGINE.format("./prepare.sh"),
    ),
    "home-beside-a-command": (
        "container-files-root-owned",
        "$ docker compose up -d\n" + _REFUSED_OF_ENGINE.format("/home/bob/notes"),
    ),
    "notebook-in-ones-own": ("container-files-root-owned", _ENTRY_OF_ENGINE.format("ada") + _BOOK),
    "module-works": ("jetson-generic-wheel", _TEGRA + ">>> torch.cuda.is_available()\nTrue\n"),
    "card-of-a-server": ("jetson-generic-wheel", 'Device 0: "NVIDIA GeForce GTX 1080"\n' + _REFUSED_OF_LINE),
    "store-elsewhere": ("shm-too-small", _STORE.format("/mnt/plasma")),
    "store-that-is-large-enough": (
        "shm-too-small",
        "The object store uses /dev/shm, and has 30000000000 bytes available.\n",
    ),
    "cache-beside-what-is-mounted": (
        "container-files-root-owned",
        _BROKEN.format("-v /srv/m:/models") + _PLOTS.format("/.config/matplotlib"),
    ),
    "mounted-to-be-read": (
        "container-files-root-owned",
        _BROKEN.format("-v /srv/c:/app/.cache:ro") + _PLOTS.format("/app/.cache/matplotlib"),
    ),
    "engines-socket": (
        "container-files-root-owned",
        _RUN_OF_PLACE.format("-v /var/run/docker.sock:/var/run/docker.sock") + _DENIED.format("/var/run/docker.sock"),
    ),
    "root-refused-without-an-engine": (
        "container-files-root-owned",
        "$ python run.py\n" + _DENIED.format("/root/.cache/huggingface/hub"),
    ),
    "pod-that-was-given-gpus": ("container-without-gpu", _FOUND_NONE + _KERNEL + _POD.format(3) + _LIMITS.format(1)),
    "pod-that-misses-nothing": ("container-without-gpu", _KERNEL + _POD.format(4)),
    "checks-that-see-the-card": (
        "jetson-generic-wheel",
        _HEAD_OF_PLATFORM.format("8.3.40", "2.5.0a0+872d972e41.nv24.08", "CUDA:0 (Orin, 7620MiB)")
        + _CHECKS.format("tegra-aarch64-with-glibc2.35", "12.6"),
    ),
    "checks-on-a-small-board": (
        "jetson-generic-wheel",
        _HEAD_OF_PLATFORM.format("8.3.40", "2.5.1", "CPU (Cortex-A76)")
        + _CHECKS.format("rpi-aarch64-with-glibc2.36", "None"),
    ),
    "processor-was-asked-for": (
        "jetson-generic-wheel",
        "On a Jetson Nano: yolo predict model=yolov8n.pt device=cpu\n"
        + _HEAD_OF_PLATFORM.format("8.3.40", "2.5.1", _ARM),
    ),
    "desktop-beside-a-module": (
        "jetson-generic-wheel",
        "I train here, and deploy to a Jetson later.\n"
        + _HEAD_OF_PLATFORM.format("8.3.40", "2.5.1", "CPU (AMD Ryzen 7 5800X)"),
    ),
    "board-that-works": (
        "jetson-generic-wheel",
        "ada@jetson-orin:~/vision$ python3\n>>> import torch\n>>> torch.cuda.is_available()\nTrue\n",
    ),
    "stops-inside-with-some": ("container-without-gpu", _INSIDE_OF_TOLD.format("--gpus all ") + _STOPS),
    "bus-error-with-more": ("shm-too-small", _INSIDE_OF_TOLD.format("--gpus all --shm-size=16g ") + _BUS_OF_TOLD),
    "slurm-names-an-option": (
        "container-without-gpu",
        "srun: error: --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.\n",
    ),
    "node-absent-on-a-machine": ("container-without-gpu", "ada@desk:~$ rocminfo\n" + _NO_NODE),
    "shards-with-gpus": (
        "container-without-gpu",
        _RUN_OF_SERVER.format("--gpus all", "ghcr.io/huggingface/text-generation-inference:3.3") + _SHARDED.format(0),
    ),
    "one-shard": (
        "container-without-gpu",
        _RUN_OF_SERVER.format("", "ghcr.io/huggingface/text-generation-inference:3.3") + _SHARDED.format(1),
    ),
    "groups-name-none": (
        "container-without-gpu",
        _RUN_OF_SERVER.format("", "nvcr.io/nvidia/tritonserver:24.05-py3") + _GROUP.format("specifies no GPUs"),
    ),
    "openvino-with-node": (
        "container-without-gpu",
        _RUN_OF_SERVER.format("--device /dev/dri", "openvino/ubuntu22_runtime") + _OPENVINO,
    ),
    "entrypoint-is-content": (
        "container-requires-newer-driver",
        "RuntimeError: Error 803: system has unsupported display driver / cuda driver combination\n",
    ),
    "engine-on-a-host-that-bars": (
        "docker-flavour-without-gpu",
        _STAT + "$ cat /etc/modprobe.d/vfio.conf\nblacklist amdgpu\n",
    ),
    "nodes-inside": ("container-without-gpu", _EXEC.format(5)),
    "devices-given": ("container-without-gpu", _BOX_OF_OTHER.format("False", "[{/dev/kfd /dev/kfd rwm}]")),
    "box-works": ("container-without-gpu", _BOX_OF_OTHER.format("True", "[]")),
    "cdi-on-a-desktop": ("container-runtime-without-jetson-support", _CDI.format("6.8.0-45-generic")),
    "same-prefix": ("jupyter-kernel-other-env", _CELLS.format("/home/u/conda/envs/dl")),
    "person-with-a-name": ("container-without-gpu", _PROMPT.format("desk")),
    "guest-of-host": ("container-wrong-architecture", _GUEST.format("host")),
    "emulated-and-made-up": (
        "container-wrong-architecture",
        _EMULATED.format("4 (Illegal instruction)", "<model fallback='allow'>qemu64</model>\n"),
    ),
    "gmx-with-nv": ("container-without-gpu", _GMX.format("--nv ")),
    "toolkit-is-there": ("container-toolkit-missing", _SWARM.format("/usr/bin/nvidia-ctk")),
    "no-package-on-windows": ("cuda-compat-libs-on-unsupported-gpu", _TABLE.format("441.66", "10.2")),
    "step-and-no-container": ("container-without-gpu", _STEP),
    "system-error-on-two-hosts": ("shm-too-small", _RANKS.format("node8")),
    "system-error-and-much-memory": (
        "shm-too-small",
        "$ df -h /dev/shm\ntmpfs  32G  0  32G  0% /dev/shm\n" + _RANKS.format("node7"),
    ),
    "one-path": ("jupyter-kernel-other-env", _BASE + _BASE),
    "both-containers-have-the-cards": (
        "container-without-gpu",
        "$ docker run --rm --gpus all example/web nvidia-smi\n| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |\n$ docker run --rm --gpus all ubuntu nvidia-smi\n| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |\n",
    ),
    "plain-container-and-no-complaint": (
        "container-without-gpu",
        "$ docker run --rm hello-world\nHello from Docker!\n$ docker run --rm --gpus all ubuntu nvidia-smi\n| NVIDIA-SMI 535.104.05             Driver Version: 535.104.05   CUDA Version: 12.2     |\n",
    ),
    "desktop-is-what-it-is-not": (
        "docker-flavour-without-gpu",
        "Docker Engine, not Docker Desktop\n$ docker run --rm --gpus all ubuntu nvidia-smi\ndocker: Error response from daemon: failed to create task for container\n",
    ),
    "snap-and-a-program-that-is-not-there": (
        "docker-flavour-without-gpu",
        "Docker: installed via `snap`\n$ docker run --rm ubuntu nvidia-smi\ndocker: Error response from daemon: failed to create task for container\n",
    ),
    "image-opens-its-nodes": (
        "container-render-group-mismatch",
        "**** permissions for /dev/dri/renderD128 are good ****\n",
    ),
}
