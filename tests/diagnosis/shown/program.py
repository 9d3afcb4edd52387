"""What a program asks for, and its network: each rule where it speaks, and beside it where it has to be silent."""

_MATRIX = "Unidirectional P2P={} Bandwidth Matrix (GB/s)\n   D\\D     0      1\n     0 810.20  {}\n     1  {} 810.20\n"
_NCCL = "gn01:410:440 [0] NCCL INFO Bootstrap : Using [0]{}<0>\n"
_MADE_OF_ENGINE = "gn01:410:440 [0] NCCL INFO comm 0x7f11 rank 0 nranks 2 cudaDev 0 busId 1b000 - Init COMPLETE\n"
_MASK_OF_PLACE = "services:\n  web:\n    image: my/web\n    environment:\n      CUDA_VISIBLE_DEVICES: {}\n"
_NONE = "RuntimeError: No CUDA GPUs are available\n"
_NO_DEVICE = "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n"
_IFNAME = "NCCL_SOCKET_IFNAME={}\n"
_LOOPBACK = "n1:411:411 [0] NCCL INFO NET : Using interface lo:127.0.0.1<0>\n"
_REGISTER = "$ for b in $(lspci | grep -i plx | cut -d' ' -f1); do sudo setpci -s $b f2a.w; done\n0000\n{}\n"
_MADE_OF_RANK = "n1:411:430 [0] NCCL INFO comm 0x7f1c rank 0 nranks 2 cudaDev 0 nvmlDev 0 - Init COMPLETE\n"
_BY_P2P = "n1:411:430 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/direct pointer\n"
_SLOT = "ValueError: No slot '{}' specified on host 'localhost'\n"
_TOOK = "Detected CUDA_VISIBLE_DEVICES=2,3: setting --include=localhost:2,3\n"
_LATE = "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError\n"
_MEET = "srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint={}:29500 train.py\n"
_LEFT_OUT = 'time=2025-02-14T20:15:39.337Z level=INFO source=amd_linux.go:322 msg="filtering out device per user request" id=GPU-e8a2b1c3d4f50617 visible_devices=[1]\n'
_NO_XPU = "RuntimeError: No XPU devices are available.\n"
_FILTERED = "INFO: Output filtered by ONEAPI_DEVICE_SELECTOR environment variable, which is set to level_zero:{}.\n"
_MASK_OF_SERVER = "$ ZE_AFFINITY_MASK={} python train.py\n"
_PROXY = "(Engine pid=31, ip=10.2.0.7) Last error:\n(Engine pid=31, ip=10.2.0.7) Proxy Call to rank 5 failed (Connect)\n(Engine pid=31, ip=10.2.0.7) Unhandled error: ray::Worker.run() (pid=88, ip={}, actor_id=9c)\n"
_JULIA = "ERROR: ArgumentError: cannot take the CPU address of a {}\n"
_BASECALLER = "[error] CUDA_VISIBLE_DEVICES={} specifies more device ids than the number of GPUs present\n"
_IDS = "terminate called after throwing an instance of 'std::runtime_error'\n  what():  Invalid device ids{}\n"
_YOLO = "ValueError: Invalid CUDA 'device={}' requested. Use 'device=cpu' or pass valid CUDA device(s)\n\ntorch.cuda.is_available(): True\ntorch.cuda.device_count(): 2\n"
_FAMILY = "socket.h:{} WARN Socket creation failed : Address family not supported by protocol\n"
_ABORTED = "w1:88:120 [1] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to {}<41003> failed : Software caused connection abort\n"
_SAMPLE = (
    "Device: 0, Tesla P40, pciBusID: 3b, pciDeviceID: 0, pciDomainID:0\n"
    "Device: 1, Tesla P40, pciBusID: af, pciDeviceID: 0, pciDomainID:0\n"
    "Device=0 CANNOT Access Peer Device=1\nDevice=1 CANNOT Access Peer Device=0\n"
    "***NOTE: In case a device doesn't have P2P access to other one, it falls back to normal memcopy procedure.\n"
)
_CHILD = '  File "/opt/py/lib/python3.8/multiprocessing/process.py", line 315, in _bootstrap\n    self.run()\n'
_MXNET = "mxnet.base.MXNetError: src/storage/storage.cc:199: Check failed: e == cudaSuccess (3 vs. 0) : CUDA: initialization error\n"
_CORES = "GPU #0 has #3584 cores\nGPU #1 has #896 cores\nGPU #2 has #896 cores\n"


def _cards(*names: str) -> str:
    return "".join(f"GPU {at}: NVIDIA {name} (UUID: GPU-0c1e2f0{at})\n" for at, name in enumerate(names))


_SMALL, _LARGE = "GeForce GTX 1650", "GeForce RTX 3060"

_FOUND = "gpu_device.cc:1618] Found device {} with properties: \nname: {} major: 7 minor: 5 memoryClockRate(GHz): 1.5\npciBusID: 0000:{}:00.0\n"
_FULL = "$ nvidia-smi --query-gpu=name,memory.total,index --format csv,noheader\nNVIDIA GeForce GTX 1650, 4096 MiB, 0\nNVIDIA GeForce RTX 4080, 16376 MiB, 1\n$ CUDA_VISIBLE_DEVICES=1 ./llama-cli -m q4.gguf -ngl 99\nggml_cuda_init: found 1 CUDA devices:\n  Device 0: {}, compute capability 7.5, VMM: yes\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 27605.33 MiB on device 0: cudaMalloc failed: out of memory\n"
_JULIAS_LIST = "julia> CUDA.devices()\nCUDA.DeviceIterator() for 2 devices:\n0. NVIDIA RTX A6000\n1. NVIDIA T600\n$ nvidia-smi -L\nGPU 0: {} (UUID: GPU-a)\nGPU 1: {} (UUID: GPU-b)\n"
_COPIED = "RuntimeWarning: os.fork() was called. os.fork() is incompatible with multithreaded code, and JAX is multithreaded, so this will likely lead to a deadlock.\n"
_LOOKS = "[W socket.cpp:601] [c10d] The client socket has failed to connect to [{}]:29500 (errno: 111 - Connection refused).\n"
_OWN_NAME = "127.0.0.1 localhost\n127.0.1.1 node1\n$ torchrun --nnodes=2 --rdzv_endpoint={}:29500 t.py\n"
_WEBUI = "RuntimeError: Torch is not able to use GPU; add --skip-torch-cuda-test to COMMANDLINE_ARGS variable to disable this check\n"
_POD = '      env:\n        - name: CUDA_VISIBLE_DEVICES\n          value: "1"\n      resources:\n        limits:\n          nvidia.com/gpu: {}\n'

_QUEUE = '  File "/venv/lib/python3.12/site-packages/{}", line 400, in {}\n'

_MASKED_START = (
    "$ CUDA_VISIBLE_DEVICES=2 python resnet.py --epochs 9\nI tensorflow/core/common_runtime/gpu/gpu_device.cc:1320] Found device 0 with properties: \n"
    "name: Tesla P100-PCIE-16GB major: 6 minor: 0 memoryClockRate(GHz): 1.3285\npciBusID: 0000:83:00.0\ntotalMemory: 15.90GiB freeMemory: 15.61GiB\n"
)
SPEAKS = {
    "peer-announces-a-bridge-of-compose": (
        "multinode-wrong-interface",
        "n2:311:402 [1] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 172.21.0.1<50211> failed : Software caused connection abort\n",
    ),
    "emptied-mask-and-an-exception": (
        "cuda-visible-devices-wrong",
        '$ CUDA_VISIBLE_DEVICES="" python fit.py\nE cuda_driver.cc:271] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nTraceback (most recent call last):\nRuntimeError: a GPU is needed\n',
    ),
    "speed-before-slots": (
        "cuda-device-order-differs",
        _FOUND.format(0, "TITAN RTX", "41") + _FOUND.format(1, "Quadro P600", "0b"),
    ),
    "detour-is-faster": (
        "nccl-p2p-blocked-by-acs-iommu",
        _MATRIX.format("Disabled", "14.20", "14.10") + _MATRIX.format("Enabled", " 1.20", " 1.10"),
    ),
    "tunnel-first": ("multinode-wrong-interface", _NCCL.format("tunl0:10.42.7.64")),
    "order-of-names": (
        "cuda-device-order-differs",
        "0, NVIDIA GeForce GTX 1050 Ti, 00000000:01:00.0\n1, NVIDIA GeForce RTX 2080 Ti, 00000000:02:00.0\n>>> [torch.cuda.get_device_name(i) for i in range(2)]\n['NVIDIA GeForce RTX 2080 Ti', 'NVIDIA GeForce GTX 1050 Ti']\n",
    ),
    "mask-of-all": ("cuda-visible-devices-wrong", _MASK_OF_PLACE.format("all") + _NONE),
    "mask-of-a-device": ("cuda-visible-devices-wrong", "$ export CUDA_VISIBLE_DEVICES=cuda:0\n" + _NONE),
    "mask-of-a-name": ("cuda-visible-devices-wrong", "$ export CUDA_VISIBLE_DEVICES=gpu1\n" + _NO_DEVICE),
    "docker-alone-is-avoided": ("multinode-wrong-interface", _IFNAME.format("^docker0") + _LOOPBACK),
    "bridges-register-is-on": ("nccl-p2p-blocked-by-acs-iommu", _REGISTER.format("001d")),
    "mask-taken": ("cuda-visible-devices-wrong", _TOOK + _SLOT.format(2)),
    "loopback": ("multinode-wrong-interface", _MEET.format("localhost") + _LATE),
    "program-hides-all": (
        "cuda-visible-devices-wrong",
        "os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nprint(tf.config.list_physical_devices('GPU'))\n[]\n",
    ),
    "shell-hides-all": (
        "cuda-visible-devices-wrong",
        "$ env | grep CUDA\nCUDA_VISIBLE_DEVICES=\n>>> torch.cuda.is_available()\nFalse\n",
    ),
    "left-out-on-request": (
        "cuda-visible-devices-wrong",
        _LEFT_OUT
        + 'time=2025-02-14T20:15:39.337Z level=INFO source=amd_linux.go:402 msg="no compatible amdgpu devices detected"\n',
    ),
    "selector": ("cuda-visible-devices-wrong", _FILTERED.format(2) + _NO_XPU),
    "mask": ("cuda-visible-devices-wrong", _MASK_OF_SERVER.format(3) + _NO_XPU),
    "proxy-on-another-host": ("multinode-wrong-interface", _PROXY.format("10.2.0.8")),
    "julia-array": ("tensors-on-different-devices", _JULIA.format("ROCArray{Float32, 2}")),
    "more-ids-than-cards": ("cuda-visible-devices-wrong", _BASECALLER.format("0,1,2,3")),
    "ids-alone": ("cuda-visible-devices-wrong", _IDS.format("")),
    "yolo-list": ("cuda-visible-devices-wrong", _YOLO.format("0,1,2,3")),
    "family-without-a-prefix": ("multinode-wrong-interface", "include/" + _FAMILY.format(311)),
    "family-of-a-later-file": ("multinode-wrong-interface", "misc/" + _FAMILY.format(208)),
    "connection-aborted": ("multinode-no-route", _ABORTED.format("10.8.0.4")),
    "child": ("cuda-initialised-before-fork", _CHILD + _MXNET),
    "cores": ("cuda-device-order-differs", _CORES + _cards(_SMALL, _SMALL, _LARGE)),
    "own-words-behind-a-later-number": (
        "cuda-visible-devices-wrong",
        "export CUDA_VISIBLE_DEVICES=1\n$ sh run.sh\nException: No GPU found, please run without --cuda\n",
    ),
    "own-words-of-a-program-that-sets-it": (
        "cuda-visible-devices-wrong",
        "os.environ['CUDA_VISIBLE_DEVICES'] = '2'\nAssertionError: CUDA is not available\n",
    ),
    "grepped-out-of-a-file": (
        "cuda-visible-devices-wrong",
        "$ grep -n CUDA ~/.bashrc\n12:export CUDA_VISIBLE_DEVICES=-1\n>>> jax.devices()\n[CpuDevice(id=0)]\n",
    ),
    "counted-by-a-pipe": (
        "cuda-visible-devices-wrong",
        "$ nvidia-smi -L | wc -l\n4\n$ CUDA_VISIBLE_DEVICES=4 julia t.jl\nNo CUDA-capable devices were found\n",
    ),
    "manifest-of-a-cluster": (
        "cuda-visible-devices-wrong",
        '    - name: CUDA_VISIBLE_DEVICES\n      value: "3"\nRuntimeError: No CUDA GPUs are available\n',
    ),
    "asked-of-julia": (
        "cuda-visible-devices-wrong",
        'julia> ENV["CUDA_VISIBLE_DEVICES"]\n"1"\nERROR: CUDA error: no CUDA-capable device is detected (code 100, ERROR_NO_DEVICE)\nshell> nvidia-smi -L\nGPU 0: NVIDIA RTX A4000 (UUID: GPU-1)\n',
    ),
    "smaller-card-is-full": ("cuda-device-order-differs", _FULL.format("NVIDIA GeForce GTX 1650")),
    "julias-order": ("cuda-device-order-differs", _JULIAS_LIST.format("NVIDIA T600", "NVIDIA RTX A6000")),
    "copied-with-threads": (
        "cuda-initialised-before-fork",
        _COPIED + "CUDA_ERROR_NOT_INITIALIZED: initialization error\n",
    ),
    "server-that-loads-first": (
        "cuda-initialised-before-fork",
        "$ gunicorn --preload -w 4 app:app\nRuntimeError: CUDA error: initialization error\n",
    ),
    "child-by-its-name": (
        "cuda-initialised-before-fork",
        "Process Process-2:\nOSError: (External) CUDA error(3), initialization error.\n",
    ),
    "looks-at-itself": ("multinode-wrong-interface", "--nnodes=2 --node_rank=1\n" + _LOOKS.format("localhost")),
    "own-name": ("multinode-wrong-interface", _OWN_NAME.format("node1") + _LATE),
    "head-behind-docker": (
        "multinode-wrong-interface",
        "Failed to connect to GCS at address 172.17.0.2:6379 within 5 seconds\n",
    ),
    "probe-of-windows": (
        "multinode-no-route",
        "TcpTestSucceeded : False\nDistStoreError: Timed out after 1801 seconds waiting for clients. 1/2 clients joined.\n",
    ),
    "probe-of-a-server": (
        "multinode-no-route",
        "Failed to connect to 192.168.1.3:50052\n$ nc -vz 192.168.1.3 50052\nnc: connect to 192.168.1.3 port 50052 (tcp) failed: No route to host\n",
    ),
    "webui-behind-a-later-number": (
        "cuda-visible-devices-wrong",
        "@echo off\nset CUDA_VISIBLE_DEVICES=1\n"
        + _WEBUI
        + "C:\\>nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-1)\n",
    ),
    "one-card-for-a-pod": (
        "cuda-visible-devices-wrong",
        _POD.format(1) + "pinned memory pool will not be available: no CUDA-capable device is detected\n",
    ),
    "input-of-another-device": (
        "tensors-on-different-devices",
        "RuntimeError: Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) sho",
    ),
    "bias-of-another-device": (
        "tensors-on-different-devices",
        "RuntimeError: Input type (CUDAFloatType) and bias type (CPUFloatType) should be the same",
    ),
    "task-of-a-queue": (
        "cuda-initialised-before-fork",
        _QUEUE.format("celery/app/trace.py", "trace_task") + "RuntimeError: b'initialization error'\n",
    ),
    "task-of-a-work-horse": (
        "cuda-initialised-before-fork",
        _QUEUE.format("rq/worker.py", "perform_job") + "RuntimeError: CUDA error: initialization error\n",
    ),
    "order-written-down": (
        "cuda-device-order-differs",
        "# nvidia-smi order\n# 0. GT 1030\n# 1. RTX 2080 Ti\nprint(torch.cuda.get_device_name(0))  # prints: NVIDIA GeForce RTX 2080 Ti\nprint(torch.cuda.get_device_name(1))  # prints: NVIDIA GeForce GT 1030\n",
    ),
}

SILENT = {
    "emptied-mask-of-one-command": (
        "cuda-visible-devices-wrong",
        '$ CUDA_VISIBLE_DEVICES="" python resize.py\nE cuda_driver.cc:271] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n900 files written\n',
    ),
    "mask-of-one-command-below-nought": (
        "cuda-visible-devices-wrong",
        "$ CUDA_VISIBLE_DEVICES=-1 python resize.py\nE cuda_driver.cc:271] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\n900 files written\n",
    ),
    "address-of-a-node-among-them": (
        "multinode-wrong-interface",
        "n2:311:402 [1] NCCL WARN socketStartConnect: Connect to 172.21.4.17<50211> failed : Software caused connection abort\n",
    ),
    "mask-and-the-one-card-behind-it-with-its-address": (
        "cuda-visible-devices-wrong",
        _MASKED_START,
    ),
    "slots-in-order": (
        "cuda-device-order-differs",
        _FOUND.format(0, "TITAN RTX", "0b") + _FOUND.format(1, "Quadro P600", "41"),
    ),
    "two-of-one-kind": (
        "cuda-device-order-differs",
        _FOUND.format(0, "TITAN RTX", "41") + _FOUND.format(1, "TITAN RTX", "0b"),
    ),
    "direct-way-is-faster": (
        "nccl-p2p-blocked-by-acs-iommu",
        _MATRIX.format("Disabled", "14.20", "14.10") + _MATRIX.format("Enabled", "24.20", "24.10"),
    ),
    "tunnel-first-and-made": ("multinode-wrong-interface", _NCCL.format("tunl0:10.42.7.64") + _MADE_OF_ENGINE),
    "tunnel-second": ("multinode-wrong-interface", _NCCL.format("eth0:10.0.3.4<0> [1]tunl0:10.42.7.64")),
    "order-is-the-same": (
        "cuda-device-order-differs",
        "0, NVIDIA GeForce RTX 3080\n1, NVIDIA GeForce GTX 1070\n>>> [torch.cuda.get_device_name(i) for i in range(2)]\n['NVIDIA GeForce RTX 3080', 'NVIDIA GeForce GTX 1070']\n",
    ),
    "mask-of-a-uuid": (
        "cuda-visible-devices-wrong",
        "$ export CUDA_VISIBLE_DEVICES=GPU-5f2a1c3e-1111-2222-3333-444455556666\n" + _NONE,
    ),
    "mask-of-a-part": (
        "cuda-visible-devices-wrong",
        "$ export CUDA_VISIBLE_DEVICES=MIG-0c1d2e3f-aaaa-bbbb-cccc-ddddeeeeffff\n" + _NONE,
    ),
    "toolkits-variable": (
        "cuda-visible-devices-wrong",
        _MASK_OF_PLACE.format("all").replace("CUDA_", "NVIDIA_") + _NONE,
    ),
    "mask-of-all-and-all-is-well": ("cuda-visible-devices-wrong", _MASK_OF_PLACE.format("all") + "True\n"),
    "loopback-is-asked-for": ("multinode-wrong-interface", _IFNAME.format("lo") + _LOOPBACK),
    "loopback-and-it-works": ("multinode-wrong-interface", _IFNAME.format("^docker0") + _LOOPBACK + _MADE_OF_RANK),
    "bridges-register-is-off": ("nccl-p2p-blocked-by-acs-iommu", _REGISTER.format("0000")),
    "bridges-register-is-on-and-cards-speak": ("nccl-p2p-blocked-by-acs-iommu", _REGISTER.format("001d") + _BY_P2P),
    "slot-of-another": ("cuda-visible-devices-wrong", _TOOK + _SLOT.format(7)),
    "meets-at-a-node": ("multinode-wrong-interface", _MEET.format("gn01") + _LATE),
    "one-command-hides-all": (
        "cuda-visible-devices-wrong",
        "$ CUDA_VISIBLE_DEVICES= python -c 'import torch; print(torch.cuda.is_available())'\nFalse\n",
    ),
    "program-hides-all-of-a-cpu-build": (
        "cuda-visible-devices-wrong",
        "os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\nPyTorch version: 2.2.0+cpu\nIs CUDA available: False\n",
    ),
    "left-out-beside-another": (
        "cuda-visible-devices-wrong",
        _LEFT_OUT
        + 'level=INFO source=types.go:130 msg="inference compute" id=GPU-1 library=rocm variant="" compute=gfx1100 total="24.0 GiB"\n',
    ),
    "first-selected": ("cuda-visible-devices-wrong", _FILTERED.format(0) + _NO_XPU),
    "first-masked": ("cuda-visible-devices-wrong", _MASK_OF_SERVER.format(0) + _NO_XPU),
    "mask-that-works": ("cuda-visible-devices-wrong", _MASK_OF_SERVER.format(1) + "XPU device count: 1\n"),
    "proxy-on-the-same-host": ("multinode-wrong-interface", _PROXY.format("10.2.0.7")),
    "proxy-beside-a-route": (
        "multinode-wrong-interface",
        _PROXY.format("10.2.0.8")
        + "NCCL WARN socketStartConnect: Connect to 10.2.0.8<50000> failed : No route to host\n",
    ),
    "julia-vector": ("tensors-on-different-devices", _JULIA.format("SubArray{Float32}")),
    "ids-of-a-mouse": ("cuda-visible-devices-wrong", _IDS.format(" for input devices: 1883")),
    "yolo-list-that-is-there": ("cuda-visible-devices-wrong", _YOLO.format("0,1")),
    "family-of-another-program": (
        "multinode-wrong-interface",
        "server.c:31 socket: Address family not supported by protocol\n",
    ),
    "aborted-by-ssh": (
        "multinode-no-route",
        "ssh: connect to host 10.8.0.4 port 22: Software caused connection abort\n",
    ),
    "aborted-on-a-bridge": ("multinode-no-route", _ABORTED.format("172.17.0.1")),
    "sample-complains-of-nothing": ("cuda-device-order-differs", _SAMPLE),
    "parent": ("cuda-initialised-before-fork", _MXNET),
    "cores-in-order": ("cuda-device-order-differs", _CORES + _cards(_LARGE, _SMALL, _SMALL)),
    "processor-is-meant": (
        "cuda-visible-devices-wrong",
        "$ CUDA_VISIBLE_DEVICES=1 python t.py --device cpu\nUsing device: cpu\n",
    ),
    "first-and-own-words": (
        "cuda-visible-devices-wrong",
        "export CUDA_VISIBLE_DEVICES=0\nException: No GPU found, please run without --cuda\n",
    ),
    "counted-by-a-pipe-and-there": (
        "cuda-visible-devices-wrong",
        "$ nvidia-smi -L | wc -l\n8\n$ CUDA_VISIBLE_DEVICES=4 julia t.jl\nNo CUDA-capable devices were found\n",
    ),
    "count-beside-a-name": (
        "cuda-device-order-differs",
        ">>> print(torch.cuda.device_count(), torch.cuda.get_device_name(0))\n1 NVIDIA T600\n$ nvidia-smi -L\nGPU 0: NVIDIA T600 (UUID: GPU-a)\nGPU 1: NVIDIA RTX A6000 (UUID: GPU-b)\nRuntimeError: failed\n",
    ),
    "larger-card-is-full": ("cuda-device-order-differs", _FULL.format("NVIDIA GeForce RTX 4080")),
    "julias-order-is-the-same": ("cuda-device-order-differs", _JULIAS_LIST.format("NVIDIA RTX A6000", "NVIDIA T600")),
    "copied-with-threads-and-all-is-well": ("cuda-initialised-before-fork", _COPIED + "step 100 loss 2.1\n"),
    "server-that-loads-later": (
        "cuda-initialised-before-fork",
        "$ gunicorn -w 4 app:app\nRuntimeError: CUDA error: initialization error\n",
    ),
    "looks-at-another": ("multinode-wrong-interface", "--nnodes=2 --node_rank=1\n" + _LOOKS.format("node1")),
    "own-name-and-they-meet": ("multinode-wrong-interface", _OWN_NAME.format("node1") + "step 10 loss 2.2\n"),
    "another-name": ("multinode-wrong-interface", _OWN_NAME.format("10.0.0.5") + _LATE),
    "probe-answers": (
        "multinode-no-route",
        "TcpTestSucceeded : True\nDistStoreError: Timed out after 1801 seconds waiting for clients. 1/2 clients joined.\n",
    ),
    "two-cards-for-a-pod": (
        "cuda-visible-devices-wrong",
        _POD.format(2) + 'I0611 1 server.cc:674] "Started GRPCInferenceService at 0.0.0.0:8001"\n',
    ),
    "input-of-another-kind": (
        "tensors-on-different-devices",
        "RuntimeError: Input type (torch.cuda.HalfTensor) and bias type (torch.cuda.FloatTensor) should be the same",
    ),
    "task-of-a-queue-fails-otherwise": (
        "cuda-initialised-before-fork",
        _QUEUE.format("celery/app/trace.py", "trace_task") + "ValueError: initialization vector error\n",
    ),
    "no-queue": ("cuda-initialised-before-fork", "RuntimeError: b'initialization error'\n"),
    "rccl-names-the-iommu-alone": (
        "multinode-wrong-interface",
        'n1:8:8 [0] NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!\nn1:8:8 [0] NCCL INFO NET/Socket : Using [0]eth0:10.1.1.2<0> [1]br-12ab34cd56ef:172.18.0.1<0>\n',
    ),
    "rccl-names-the-iommu-and-starts": (
        "nccl-p2p-blocked-by-acs-iommu",
        'n1:8:8 [0] NCCL WARN Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!\nn1:8:8 [0] NCCL INFO comm 0x55d0 rank 0 nranks 2 cudaDev 0 busId c000 - Init COMPLETE\n',
    ),
    "rccl-warns-of-numa": (
        "multinode-wrong-interface",
        "n1:8:8 [0] NCCL WARN NUMA auto balancing enabled which can lead to variability in the RCCL performance!\nn1:8:8 [0] NCCL INFO NET/Socket : Using [0]eth0:10.1.1.2<0> [1]docker0:172.17.0.1<0>\nn1:8:8 [0] NCCL INFO comm 0x55d0 rank 0 nranks 2 cudaDev 0 busId c000 - Init COMPLETE\n",
    ),
    "order-written-down-of-equals": (
        "cuda-device-order-differs",
        "# nvidia-smi shows\n# 0. RTX 2080 Ti\n# 1. RTX 2080 Ti\nprint(torch.cuda.get_device_name(0))  # prints: NVIDIA GeForce RTX 2080 Ti\n",
    ),
}
