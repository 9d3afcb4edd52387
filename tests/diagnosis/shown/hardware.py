"""Cards and their memory: each rule where it speaks, and beside it where it has to be silent."""

_GUEST = "GPU: Radeon 890M, kernel 6.11\n"
_PS = "NAME           ID              SIZE     PROCESSOR    UNTIL\n{}    {}    4 minutes from now\n"
_PLAIN = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB\n"
_USED_OF_AMD = "GPU[0]\t\t: VRAM Total Memory (B): 25753026560\nGPU[0]\t\t: VRAM Total Used Memory (B): {}\n"
_FULL = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of {0} of which 300.00 MiB is free. Of the allocated memory 5.01 GiB is allocated by PyTorch, and 120.00 MiB is reserved by PyTorch but unallocated.\n"
_INNER = "Device 0: AMD Radeon 8060S Graphics, gfx1151\n"
_SKIPS = 'level=INFO source=amd_linux.go:226 msg="amdgpu appears to be an iGPU, skipping" gpu=1 total="512.0 MiB"\n'
_QUEUES = "[    7.1] kfd kfd: amdgpu: Error starting queue manager for device 1002:740f\n[    7.2] kfd kfd: amdgpu: device 1002:740f NOT added due to errors\n"
_CARD_OF_AMD = "Device 0: AMD Radeon RX 7900 XTX, gfx1100\n"
_WANTED = ":1:hip_memory.cpp :333 : 77 us: Allocation failed : Device memory : required :{} | free :8405385216 | total :12868124672\n"
_SERVES = 'level=INFO source=amd_linux.go:250 msg="amdgpu [0] gfx1030 is supported"\n'
_NVIDIA = "NVIDIA GeForce RTX 2060\n"
_BINDING = "{}: reading {} failed with {}\n"
_COUNTED = "12:04:11 CUDA devices available: {}\n"
_NONE = "12:32:04 ERROR: cuInit failed: CUDA_ERROR_NO_DEVICE\n"
_NVAPI = "12:31:58 WARN: {}: NVAPI_NVIDIA_DEVICE_NOT_FOUND, code -6\n"
_LLAMA_OF_KERNEL = "ggml_cuda_init: found {} CUDA devices:\n"
_DARK = "{} 0000:0{}:00.0: Refused to change power state, currently in {}\n"
_CARD_OF_KERNEL = "0{}:00.0 3D controller: NVIDIA Corporation {} (rev ff)\n"
_KILL = "{}kill{} {} - No such process\n"
_STAT = "[{}] NVIDIA {} | 41'C,  {} % | {} / {} MB |\n"
_NIC = "05:00.0 Ethernet controller: Realtek Semiconductor Co., Ltd. RTL8168\n"
_ASKED = "$ sudo tee /proc/acpi/bbswitch <<<{}\n"
_ONE = "  MIG 1g.10gb     Device  0:\n  MIG 1g.10gb     Device  1:"
_BEYOND = 'RuntimeError: device >= 0 && device < num_gpus INTERNAL ASSERT FAILED at "../aten/src/ATen/cuda/CUDAContext.cpp":50, please report a bug to PyTorch.\n'
_PARTS_OF_LINE = "GPU models and configuration: \nGPU 0: NVIDIA H100 80GB HBM3\n{}\nNvidia driver version: 550.90.07\n"
_TABLE_OF_FRAMEWORK = "|   0  NVIDIA A100-SXM4-40GB          On  |   00000000:07:00.0 Off |                    0 |\n| N/A   34C    P0              61W / 400W |   {:>5}MiB /  40960MiB |      0%      Default |\n"
_TAKEN_OF_FRAMEWORK = "CUDA backend failed to initialize: INTERNAL: no supported devices found for platform CUDA. This may be due to JAX pre-allocating too much device memory, leaving too little for CUDA library initialization.\n"
_FREE_OF_FRAMEWORK = "Warning: less than 75% GPU memory available for training. Free: {} Total: 15109.75\n"
_ROW_OF_LIBRARY = "|   0  Tesla P100-PCIE...  On   | 00000000:3B:00.0 Off |                    0 |\n| N/A   41C    P0    88W / 250W |   9211MiB / 16280MiB |     91%   {} |\n"
_KALDI = "WARNING (nnet3-train[5.5.1]:SelectGpuId():cu-device.cc:243) Will try again to get a GPU after 20 seconds.\n"
_MINER = "CUDA error in func 'ethash_cuda_miner::init' at line 251 : out of memory\n"
_LLAMA_OF_LIBRARY = "ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size {}\n"
_WINDOWS = "OS: Microsoft Windows 11 Pro\n"
_CUT = (
    "$ nvidia-smi -L\n"
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5f2a1c3e-1111-2222-3333-444455556666)\n"
    "  MIG 3g.20gb     Device  0: (UUID: MIG-0c1d2e3f-aaaa-bbbb-cccc-ddddeeeeffff)\n"
    "  MIG 3g.20gb     Device  1: (UUID: MIG-1c1d2e3f-aaaa-bbbb-cccc-ddddeeeeffff)\n"
)
_OOM_OF_PLACE = "CUDA out of memory. Tried to allocate {} (GPU 0; 23.69 GiB total capacity; {} already allocated; {} free; 23.00 GiB allowed; {} reserved in total by PyTorch)\n"
_WHOLE = (
    "$ nvidia-smi -L\n"
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5f2a1c3e-1111-2222-3333-444455556666)\n"
    "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-6f2a1c3e-1111-2222-3333-444455556666)\n"
)
_ROW_OF_REPORT = "NVRM: Xid (PCI:0000:9b:00): 63, pid=5321, name=kworker, Row Remapper: New row marked for remapping, reset gpu to activate.\n"
_REMAPPED = "$ nvidia-smi --query-remapped-rows=remapped_rows.pending,remapped_rows.failure --format=csv\nremapped_rows.pending, remapped_rows.failure\n{}\n"
_CARD_OF_REPORT = "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0f3a1b2c-1111-2222-3333-444455556666)\n"
_HANG = (
    "[drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=24118, emitted seq=24120\n"
    "amdgpu 0000:03:00.0: amdgpu: GPU reset begin!\n[drm] VRAM is lost due to GPU reset!\n"
)
_CARVED_OF_ROCM = (
    "[    5.1] amdgpu 0000:c5:00.0: amdgpu: VRAM: 98304M 0x0000008000000000 - 0x00000097FFFFFFFF (98304M used)\n"
)
_FENCE = "[ 3721.4] kfd: qcm fence wait loop timeout expired\n[ 3721.4] kfd: unmapping queues failed.\n"
_ATHUB = "amdgpu 0000:63:00.0: amdgpu: uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!\n{}: GPU reset begin!\n"
_ROWS = "|   0  NVIDIA GeForce RTX 3090        Off |   00000000:01:00.0 Off |                  N/A |\n|  0%   44C    P2             60W /  350W |   {}MiB /  24576MiB |      0%      Default |\n"
_OFFLOADED = "load_tensors: offloaded {}/33 layers to GPU\n"
_HIP_FULL = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of {0} GiB of which 512.00 MiB is free. Of the allocated memory {1} GiB is allocated by PyTorch, and 96.00 MiB is reserved by PyTorch but unallocated.\n"
_PAGES = "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.14 root=/dev/sda2 amd_iommu=off ttm.pages_limit={}\n"
_REFUSED = "CUDA error 2 at ggml-cuda.cu:4856: out of memory\n"
_OOM_OF_BESIDE = (
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 5120.00 MiB on device 0: cudaMalloc failed: out of memory\n"
)
_FREE_OF_BESIDE = "$ nvidia-smi --query-gpu=index,memory.total,memory.free --format=csv\nindex, memory.total [MiB], memory.free [MiB]\n0, 24564 MiB, {} MiB\n"
_PIDS = "KFD process information:\nPID\tPROCESS NAME\tGPU(s)\tVRAM USED\tSDMA USED\tCU OCCUPANCY\n777\tXorg       \t1     \t98304      \t0        \t0\n4120\tpython3    \t1     \t{}\t0        \t0\n"
_SUMMARY = "|                  PyTorch CUDA memory summary, device ID 0                 |\n|            CUDA OOMs: {}            |        cudaMalloc retries: 7        |\n|===========================================================================|\n| Allocated memory      |   {} MiB |   11402 MiB |     902 GiB |\n| GPU reserved memory   |   20000 MiB |   20000 MiB |   48310 MiB |\n"
_FREE_OF_OTHER = "torch.cuda.mem_get_info()  -> 0.21 GiB, 15.77 GiB\ntorch.cuda.memory_reserved()  -> {} GiB\n|    0   N/A  N/A   3051088      C   ...envs/r/bin/python            {}MiB |\n"
_LONG = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n$ ps -o pid,etime,cmd -p $(nvidia-smi --query-compute-apps=pid --format=csv,noheader)\n    PID     ELAPSED CMD\n 771031  {} python -m old.server\n"
_ORPHAN = "$ sudo fuser -v /dev/nvidia0\n                     USER        PID ACCESS COMMAND\n/dev/nvidia0:        u          9921 F...m python\n$ ps -o ppid,stat,cmd -p 9921\n   PPID STAT CMD\n   {} Sl   python fit.py --workers 8\n"
_POOLS = "[    2.9] [drm] amdgpu: 4096M of VRAM memory ready\n[    2.9] [drm] amdgpu: 13854M of GTT memory ready.\nprint_info: file size   = {} GiB (4.89 BPW)\nggml_cuda_init: found 1 ROCm devices:\n  Device 0: AMD Radeon Graphics, gfx1100 (0x1100), VMM: no, Wave Size: 32\nload_tensors: offloaded {}/41 layers to GPU\n"
_VULKAN = "ggml_vulkan: 0 = AMD Radeon(TM) 8050S Graphics (AMD proprietary driver) | uma: 1 | fp16: 1 | bf16: 0 | warp size: 64 | shared memory: 32768 | matrix cores: KHR_coopmat\nusing device Vulkan0 (AMD Radeon(TM) 8050S Graphics) (unknown id) - 15410 MiB free\nprint_info: file size   = {} GiB (4.82 BPW)\n"
_OLLAMA = 'level=INFO source=types.go:32 msg="inference compute" id=0 library=ROCm compute=gfx1151 name=ROCm0 description="AMD Radeon 8060S Graphics" libdirs=ollama,rocm_v7_2 driver=0.0 pci_id=0000:c5:00.0 type=iGPU total="64.0 GiB" available="{} GiB"\n'
_GGML = "$ rocm-smi --showmeminfo vram gtt\nGPU[0]\t\t: VRAM Total Memory (B): 103079215104\nGPU[0]\t\t: GTT Total Memory (B): 16642998272\nggml_backend_cuda_device_get_memory: free {0} MiB, total {0} MiB (device 0, integrated: 1)\n"
_MIG = "$ nvidia-smi -L\nGPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)\n{}$ CUDA_VISIBLE_DEVICES={} python -c 'import torch; print(torch.cuda.device_count(), torch.cuda.is_available())'\n{}\n"
_PARTS_OF_THERE = "  MIG 3g.20gb     Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)\n  MIG 3g.20gb     Device  1: (UUID: MIG-cba663e8-9bed-5b25-b243-5985ef7c9beb)\n"
_CARVED_OF_THERE = "$ cat /sys/class/drm/card0/device/mem_info_{{vram,gtt}}_total\n{}\n16106127360\n>>> torch.cuda.mem_get_info()\n(10000000, 1073741824)\ngpu: Radeon 680M\n"
_NODE = 'ResourceExhaustedError: OOM when allocating tensor {}\n\t [[Node: d/w = Const[dtype=DT_FLOAT, _device="/job:localhost/replica:0/task:0/{}"]()]]\n'
_FIRMWARE = "nvidia 0000:0a:00.0: Direct firmware load for nvidia/575.51.02/gsp_{}.bin failed with error -2\n"
_ADAPTER = "NVRM: GPU 0000:0a:00.0: RmInitAdapter failed! (0x61:0x56:1718)\n"
_SPILLED = "ValueError: Some modules are dispatched on the CPU or the disk. Make sure you have enough GPU RAM to fit the quantized model.\n"
_TABLE_OF_TORCH = (
    "| NVIDIA-SMI 525.85.12    Driver Version: 525.85.12    CUDA Version: 12.0     |\n"
    "| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |\n"
    "|===============================+======================+======================|\n"
)
_USED_OF_TORCH = "|   0  NVIDIA A10G         Off  | 00000000:00:1E.0 Off |                    0 |\n|  0%   31C    P0    59W / 300W |  {}MiB / 22731MiB |      0%      Default |\n"
_ROW_OF_WORK = "|   0  NVIDIA L40S                    On  |   00000000:01:00.0 Off |                  Off |\n| 30%   34C    P8             22W /  300W |   {}MiB /  46068MiB |      0%      Default |\n"
_TAKEN_OF_WORK, _EMPTY = _ROW_OF_WORK.format(44120), _ROW_OF_WORK.format(3)
_TENSORRT = (
    "[TRT] [E] 2: [virtualMemoryBuffer.cpp::resizePhysical::140] Error Code 2: OutOfMemory (no further information)\n"
)
_HANDLE = "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n"
_OPENCL = "clCreateBuffer failed with error -4\n"
_CALL = "solver: cudaMallocManaged failed: out of memory\n"
_KILLED_OF_MAIN = "Loading checkpoint shards:  33%|###3      | 1/3 [00:21<00:42]\n{}\n"
_LOG_OF_MAIN = "[  912.2] Out of memory: Killed process 3120 ({}) total-vm:41943040kB, anon-rss:15777216kB\n"
_SACCT = "$ sacct {} --format=JobID,State,ExitCode\nJobID        State      ExitCode\n{}        OUT_OF_ME+ 0:125\n"
_ROWS_OF_CARDS = "$ nvidia-smi --query-remapped-rows=gpu_bus_id,remapped_rows.pending,remapped_rows.failure --format=csv\ngpu_bus_id, remapped_rows.pending, remapped_rows.failure\n00000000:07:00.0, No, No\n00000000:44:00.0, {}\n"
_MANAGER = "ii nvidia-driver-535-server 535.183.06-0ubuntu0.22.04.1\nii nvidia-fabricmanager-535 {}-1\nGPU 0: NVIDIA {} (UUID: GPU-5f2a1c3e-1111-2222-3333-444455556666)\n"
_SERVER_OF_OTHERS = 'level=INFO source=types.go:131 msg="inference compute" id=GPU-5f2a1c3e-1111-2222-3333-444455556666 library=cuda variant=v12 compute=8.6 driver=12.4 name="NVIDIA GeForce RTX 3080" total="9.8 GiB" available="{} GiB"\npid, process_name, used_gpu_memory [MiB]\n8123, {}, 8422 MiB\n'
_HASHCAT = "* Device #1: NVIDIA GeForce GTX 1650, {}/3903 MB, 14MCU\n* Device #1: Not enough allocatable device memory for this attack.\n"
_BITS = "{}    ECC Errors\n        Volatile\n            Single Bit\n                Device Memory         : 0\n                Total                 : 0\n            Double Bit\n                Device Memory         : {}\n                Total                 : {}\n        Aggregate\n            Double Bit\n                Total                 : 2\n"

_COUNTED_CARVE_OUT = "Radeon 8060S, BIOS carve-out 64 GB\nggml_cuda_init: found 1 ROCm devices (Total VRAM: {} MiB):\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 71234.12 MiB on device 0: cudaMalloc failed: out of memory\n"
_FREE_AND_SMALL = "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of {} of which 14.90 GiB is free. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.\n"
_VRAM_FILE = "$ cat /sys/class/drm/card0/device/mem_info_vram_total\n{}\n"
_SIZES = "$ rocminfo | grep Size\n{}Size:    {}(0x1f14800) KB\n"
_PART = "CUDA_VISIBLE_DEVICES=MIG-0c1d2e3f-aaaa-bbbb-cccc-ddddeeeeffff\n"


SPEAKS = {
    "gsp-task-ended": ("gsp-timeout-xid-119", "NVRM: GSP task watchdog timeout @ pc:0x31c0, partition:4#0, task:3\n"),
    "context-refused-by-a-constant-alone": (
        "gpu-memory-held-by-others",
        "E direct_session.cc:137] Internal: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY; total memory reported: 11715084288\n",
    ),
    "allocator-with-a-tiny-limit": (
        "gpu-memory-held-by-others",
        "I bfc_allocator.cc:647] Stats:\nLimit:                    90177536\nInUse:                    88080384\nMaxInUse:                 88080384\n",
    ),
    "allocator-full-of-its-own": (
        "oom-model-too-large",
        "I bfc_allocator.cc:1038] Stats:\nLimit:                  7516192768\nInUse:                  7400000000\nMaxInUse:               7400000000\n",
    ),
    "part-of-what-the-log-has": ("apu-vram-carveout-vs-gtt", _CARVED_OF_ROCM + _FREE_AND_SMALL.format("15.24 GiB")),
    "part-of-what-the-tool-has": (
        "apu-vram-carveout-vs-gtt",
        "$ amd-smi static -v\nGPU: 0\n    VRAM:\n        SIZE: 65536 MB\n>>> print(torch.cuda.get_device_properties(0).total_memory)\n33371979776\n",
    ),
    "part-as-told": ("apu-vram-carveout-vs-gtt", _VRAM_FILE.format(68719476736) + "vLLM only sees 31.2 GB here\n"),
    "part-in-rocminfo": ("apu-vram-carveout-vs-gtt", _VRAM_FILE.format(68719476736) + _SIZES.format("", 32589824)),
    "second-device-of-a-part": (
        "mig-device-misaddressed",
        _PART + "RuntimeError: CUDA error: invalid device ordinal\n",
    ),
    "second-device-of-a-part-in-lightning": (
        "mig-device-misaddressed",
        _PART + "MisconfigurationException: You requested gpu: [0, 1]\n But your machine only has: [0]\n",
    ),
    "cache-below-nothing": ("oom-model-too-large", "Available KV cache memory: -2.10 GiB\n"),
    "no-block-on-the-card": ("oom-model-too-large", "INFO # GPU blocks: 0, # CPU blocks: 1024\n"),
    "double-bit-errors": ("gpu-memory-ecc-error", _BITS.format("", 3, 3)),
    "double-bit-errors-of-a-card": (
        "gpu-memory-ecc-error",
        _BITS.format("Attached GPUs : 1\nGPU 00000000:65:00.0\n    Product Name : Tesla K80\n", 3, 3),
    ),
    "killed-and-the-kernel-tells": (
        "host-memory-exhausted",
        _KILLED_OF_MAIN.format("Killed") + _LOG_OF_MAIN.format("python"),
    ),
    "killed-in-german-and-the-kernel-tells": (
        "host-memory-exhausted",
        _KILLED_OF_MAIN.format("./run.sh: Zeile 4: 812 Getötet     python a.py") + _LOG_OF_MAIN.format("python"),
    ),
    "runner-killed-and-the-kernel-tells": (
        "host-memory-exhausted",
        _LOG_OF_MAIN.format("ollama") + "Error: llama runner process has terminated: signal: killed\n",
    ),
    "compiler-killed": ("host-memory-exhausted", "c++: fatal error: Killed signal terminated program cc1plus\n"),
    "job-ended-for-memory": (
        "host-memory-exhausted",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=42.0. Some of the step tasks have been OOM Killed.\n",
    ),
    "job-asked-of": ("host-memory-exhausted", _SACCT.format("-j 42", "42")),
    "row-not-replaced-in-a-list": ("gpu-memory-ecc-error", _ROWS_OF_CARDS.format("No, Yes")),
    "row-waits-in-a-list": ("gpu-memory-ecc-error", _ROWS_OF_CARDS.format("Yes, No")),
    "manager-of-another-version": ("fabric-manager-not-running", _MANAGER.format("535.161.08", "A100-SXM4-80GB")),
    "server-starts-with-little": (
        "gpu-memory-held-by-others",
        _SERVER_OF_OTHERS.format("1.2", "/opt/webui/venv/bin/python3"),
    ),
    "hashcat-on-a-free-card": ("oom-model-too-large", _HASHCAT.format("3841")),
    "model-beside-a-limit": (
        "igpu-vram-counted-without-gtt",
        _GUEST
        + 'GRUB_CMDLINE_LINUX="amdgpu.gttsize=49152"\n'
        + _PS.format("qwen2.5:32b", "9f13ba1299af    24 GB    100% CPU"),
    ),
    "model-beside-pages": (
        "igpu-vram-counted-without-gtt",
        "CPU: Ryzen AI 9 HX 370 w/ Radeon 890M\nttm.pages_limit=12582912\n$ ollama run phi4 hello (100% CPU)\n",
    ),
    "full": ("gpu-memory-held-by-others", _USED_OF_AMD.format("25109463040") + _PLAIN),
    "shared": ("apu-vram-carveout-vs-gtt", _INNER + _FULL.format("96.00 GiB")),
    "little": ("igpu-vram-counted-without-gtt", _SKIPS),
    "queues": ("gpu-hardware-init-failure", _QUEUES),
    "card-is-held": ("gpu-memory-held-by-others", _CARD_OF_AMD + _FULL.format("23.98 GiB")),
    "whole-card": ("oom-model-too-large", _WANTED.format("17179869184")),
    "too-little": ("oom-model-too-large", _WANTED.format("10179869184")),
    "not-connected": (
        "gpu-fell-off-bus",
        "Currently, this hardware device is not connected to the computer. (Code 45)\n" + _NVIDIA,
    ),
    "stopped": (
        "gpu-hardware-init-failure",
        "Windows has stopped this device because it has reported problems. (Code 43)\n" + _NVIDIA,
    ),
    "xpu-full": (
        "oom-model-too-large",
        "RuntimeError: XPU out of memory. Tried to allocate 3.91 GiB (GPU 0; 15.56 GiB total capacity; 14.89 GiB already allocated; 15.01 GiB reserved in total by PyTorch)\n",
    ),
    "lost-by-a-name-of-net": (
        "gpu-fell-off-bus",
        _BINDING.format("[NVML] System.Exception", "the clock", "status: GPUIsLost"),
    ),
    "lost-by-a-name-of-rust": ("gpu-fell-off-bus", _BINDING.format("exporter", "temperature", "NvmlError::GpuLost")),
    "lost-by-a-name-of-python": ("gpu-fell-off-bus", "pynvml.NVMLError_GpuIsLost\n"),
    "counted-and-gone-in-a-miner": (
        "gpu-fell-off-bus",
        _COUNTED.format(2) + _NVAPI.format("Can't read power of [000300]") + _NONE,
    ),
    "counted-and-gone-in-a-server": ("gpu-fell-off-bus", _LLAMA_OF_KERNEL.format(1) + _NVAPI.format("overlay") + _NONE),
    "dark-without-a-tool": ("gpu-fell-off-bus", _DARK.format("nvidia", 3, "D3")),
    "dark-by-its-address": (
        "gpu-fell-off-bus",
        _CARD_OF_KERNEL.format(3, "GA102GL [RTX A5000]") + _DARK.format("pci", 3, "D3"),
    ),
    "killed-and-not-there": (
        "gpu-memory-held-by-others",
        _STAT.format(2, "H100 PCIe", 100, 40211, 81559) + _KILL.format("-bash: ", ":", "(40917)"),
    ),
    "killed-by-zsh": (
        "gpu-memory-held-by-others",
        _STAT.format(0, "GeForce RTX 3090", 0, 9120, 24576) + "kill: kill 7712 failed: no such process\n",
    ),
    "killed-on-two-lines": (
        "gpu-memory-held-by-others",
        _STAT.format(1, "RTX A6000", 0, 30210, 49140) + "# kill -9 31007\nno such process\n",
    ),
    "parts-as-cards": ("mig-device-misaddressed", _BEYOND + _PARTS_OF_LINE.format(_ONE)),
    "full-of-framework": ("gpu-memory-held-by-others", _TAKEN_OF_FRAMEWORK + _TABLE_OF_FRAMEWORK.format(39900)),
    "little-free": ("gpu-memory-held-by-others", _FREE_OF_FRAMEWORK.format("1213.375")),
    "kaldi-and-the-mode": ("compute-mode-exclusive", _KALDI + _ROW_OF_LIBRARY.format("E. Process")),
    "kaldi-alone": ("compute-mode-exclusive", _KALDI),
    "mode-was-set": (
        "compute-mode-exclusive",
        "Set compute mode to EXCLUSIVE_PROCESS for GPU 00000000:3B:00.0.\n" + _KALDI,
    ),
    "miner-elsewhere": ("oom-model-too-large", _MINER),
    "a-long-cache": ("host-memory-exhausted", _LLAMA_OF_LIBRARY.format(68719476736)),
    "parts-beyond-the-cards": ("mig-device-misaddressed", "$ export CUDA_VISIBLE_DEVICES=0,1\n" + _CUT),
    "part-beyond-the-card": ("mig-device-misaddressed", "CUDA_VISIBLE_DEVICES=1\n" + _CUT),
    "allowed-and-full": (
        "oom-model-too-large",
        _OOM_OF_PLACE.format("2.00 GiB", "22.10 GiB", "300.00 MiB", "22.40 GiB"),
    ),
    "allowed-and-in-pieces": (
        "oom-fragmentation",
        _OOM_OF_PLACE.format("2.00 GiB", "9.10 GiB", "300.00 MiB", "22.40 GiB"),
    ),
    "row-waits-for-a-reset": ("gpu-memory-ecc-error", _ROW_OF_REPORT + _REMAPPED.format("1, 0")),
    "no-process": (
        "gpu-memory-held-by-others",
        "memory.used [MiB], memory.total [MiB]\n23987 MiB, 24576 MiB\npid, used_gpu_memory [MiB]\n\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacty of 23.69 GiB of which 10.06 MiB is free.\n",
    ),
    "no-process-in-the-long-report": (
        "gpu-memory-held-by-others",
        "    FB Memory Usage\n        Total                             : 24564 MiB\n        Used                              : 23810 MiB\n    Processes                             : None\n",
    ),
    "fabric-inactive": (
        "fabric-manager-not-running",
        "$ systemctl is-active nvidia-fabricmanager\ninactive\nGPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-0f3a1b2c-1111-2222-3333-444455556666)\n>>> torch.cuda.is_available()\nFalse\n",
    ),
    "card-hangs-and-loses-its-memory": ("gpu-hardware-init-failure", _HANG),
    "more-mapped-wished-for": (
        "apu-gtt-limit-not-applied",
        "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.14 root=/dev/nvme0n1p2 ro quiet amdgpu.gttsize=122880\n$ cat /sys/class/drm/card1/device/mem_info_gtt_total\n33285996544\n",
    ),
    "carve-out-and-comfyui": (
        "apu-vram-carveout-vs-gtt",
        "Total VRAM 15804 MB, total RAM 31609 MB\npytorch version: 2.9.0+rocm7.0\nAMD arch: gfx1151\n"
        + _CARVED_OF_ROCM,
    ),
    "fence-alone": ("gpu-hardware-init-failure", _FENCE),
    "athub": ("gpu-memory-ecc-error", _ATHUB.format("amdgpu 0000:63:00.0: amdgpu")),
    "athub-numbered": (
        "gpu-memory-ecc-error",
        "[13850.9] amdgpu 0000:1c:00.0: {1}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!\n",
    ),
    "taken": ("gpu-memory-held-by-others", _OFFLOADED.format(0) + _ROWS.format("23390")),
    "pages-that-are-not-seen": (
        "apu-gtt-limit-not-applied",
        _PAGES.format(27648000) + _HIP_FULL.format("46.90", "45.80"),
    ),
    "pages-of-a-later-release": (
        "apu-gtt-limit-not-applied",
        _HIP_FULL.format("15.30", "14.60")
        + 'GRUB_CMDLINE_LINUX="ttm.pages_limit=6291456 ttm.page_pool_size=6291456"\n',
    ),
    "memory-refused": ("oom-model-too-large", _REFUSED),
    "little-free-of-beside": ("gpu-memory-held-by-others", _OOM_OF_BESIDE + _FREE_OF_BESIDE.format(402)),
    "radeon-held": ("gpu-memory-held-by-others", _PIDS.format(20615843020) + _OOM_OF_BESIDE),
    "summary": ("oom-fragmentation", _SUMMARY.format(3, 9000)),
    "full-before": ("gpu-memory-held-by-others", _FREE_OF_OTHER.format("0.00", 14902)),
    "runs-for-long": ("gpu-memory-held-by-others", _LONG.format("2-03:00:10")),
    "orphan": ("gpu-memory-held-by-others", _ORPHAN.format("   1")),
    "both-pools": ("igpu-vram-counted-without-gtt", _POOLS.format("9.10", 12)),
    "half-of-the-model": ("apu-vram-carveout-vs-gtt", _VULKAN.format("42.50")),
    "little-free-of-other": ("apu-memory-miscount", _OLLAMA.format("11.2")),
    "ggml-total": ("apu-vram-carveout-vs-gtt", _GGML.format(15872)),
    "card-and-part": ("mig-device-misaddressed", _MIG.format(_PARTS_OF_THERE, "0:0", "0 False")),
    "carve-out-is-the-total": ("igpu-vram-counted-without-gtt", _CARVED_OF_THERE.format("1073741824")),
    "node-of-old": ("oom-model-too-large", _NODE.format("with shape[32,512,512,64]", "gpu:0")),
    "node-with-a-type": (
        "oom-model-too-large",
        _NODE.format("of shape [3,3,4096,4096] and type float", "device:GPU:1"),
    ),
    "spilled": ("oom-model-too-large", _SPILLED),
    "spilled-beside-another": (
        "gpu-memory-held-by-others",
        _TABLE_OF_TORCH + _USED_OF_TORCH.format("21560") + _SPILLED,
    ),
    "tensorrt": ("gpu-memory-held-by-others", _TAKEN_OF_WORK + _TENSORRT),
    "library-of-cuda": ("gpu-memory-held-by-others", _TAKEN_OF_WORK + _HANDLE),
    "opencl": ("gpu-memory-held-by-others", _TAKEN_OF_WORK + _OPENCL),
    "call-of-cuda": ("gpu-memory-held-by-others", _TAKEN_OF_WORK + _CALL),
    "empty-card": ("oom-model-too-large", _EMPTY + _CALL),
    "carve-out-is-all-that-is-counted": ("igpu-vram-counted-without-gtt", _COUNTED_CARVE_OUT.format(65536)),
}

SILENT = {
    "gsp-tasks-of-people": ("gsp-timeout-xid-119", "GSP task list for today: the watchdog timeout page, then lunch\n"),
    "allocator-with-room": (
        "oom-model-too-large",
        "Stats:\nLimit:                  7516192768\nInUse:                  1000000000\nMaxInUse:               7400000000\n",
    ),
    "allocator-of-a-whole-card": (
        "gpu-memory-held-by-others",
        "Stats:\nLimit:                  7516192768\nInUse:                  7400000000\nMaxInUse:               7400000000\n",
    ),
    "cap-of-a-test": (
        "oom-model-too-large",
        "FAILED [0.0004s] tests/test_mem.py::test_cap - torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 47.40 GiB of which 45.10 GiB is free. 512.00 MiB allowed; Of the allocated memory 500.00 MiB is allocated by PyTorch, and 4.00 MiB is reserved by PyTorch but unallocated.\n",
    ),
    "vllm-asked-for-more-than-all": (
        "gpu-memory-held-by-others",
        "ValueError: Free memory on device (22.1/23.6 GiB) on startup is less than desired GPU memory utilization (1.1, 25.96 GiB).\n",
    ),
    "card-beside-what-is-carved-out": (
        "apu-vram-carveout-vs-gtt",
        _CARVED_OF_ROCM + "[drm] amdgpu: 16368M of VRAM memory ready\n" + _FREE_AND_SMALL.format("15.98 GiB"),
    ),
    "cuda-beside-what-is-carved-out": (
        "apu-vram-carveout-vs-gtt",
        _CARVED_OF_ROCM + _FREE_AND_SMALL.format("23.64 GiB").replace("HIP", "CUDA"),
    ),
    "log-that-contradicts": ("oom-model-too-large", _CARVED_OF_ROCM + _FREE_AND_SMALL.format("15.24 GiB")),
    "all-of-it-as-told": ("apu-vram-carveout-vs-gtt", _VRAM_FILE.format(536870912) + "vLLM only sees 31.2 GB here\n"),
    "pools-of-two-sizes": (
        "apu-vram-carveout-vs-gtt",
        _VRAM_FILE.format(68719476736) + _SIZES.format("Size:    67108864(0x4000000) KB\n", 32589824),
    ),
    "second-device-of-a-card": (
        "mig-device-misaddressed",
        "CUDA_VISIBLE_DEVICES=GPU-5c89852c\nRuntimeError: CUDA error: invalid device ordinal\n",
    ),
    "one-device-of-a-part": ("mig-device-misaddressed", _PART + ">>> torch.cuda.device_count()\n1\n"),
    "cache-that-is-there": ("oom-model-too-large", "Available KV cache memory: 2.10 GiB\n"),
    "blocks-on-the-card": ("oom-model-too-large", "INFO # GPU blocks: 1024, # CPU blocks: 1024\n"),
    "killed-without-a-word": ("host-memory-exhausted", _KILLED_OF_MAIN.format("Killed")),
    "pod-ended-long-ago": ("host-memory-exhausted", "    Last State:     Terminated\n      Reason:       OOMKilled\n"),
    "double-bit-errors-of-before": (
        "gpu-memory-ecc-error",
        _BITS.format("Attached GPUs : 1\nGPU 00000000:65:00.0\n    Product Name : Tesla K80\n", 0, 0),
    ),
    "killed-by-hand": ("host-memory-exhausted", "$ kill -9 31415\n[1]+  Killed                  python train.py\n"),
    "job-among-many": ("host-memory-exhausted", _SACCT.format("-u ana", "41") + "42           COMPLETED  0:0\n"),
    "other-program-in-an-old-journal": (
        "host-memory-exhausted",
        _LOG_OF_MAIN.format("chrome") + "systemd[1]: Started ollama.service.\n",
    ),
    "container-killed-for-another-reason": (
        "host-memory-exhausted",
        '{"Status":"exited","OOMKilled":false,"ExitCode":137}\n',
    ),
    "rows-replaced": ("gpu-memory-ecc-error", _ROWS_OF_CARDS.format("No, No")),
    "manager-of-the-drivers-version": ("fabric-manager-not-running", _MANAGER.format("535.183.06", "A100-SXM4-80GB")),
    "manager-beside-a-card-in-a-slot": ("fabric-manager-not-running", _MANAGER.format("535.161.08", "A100 80GB PCIe")),
    "server-itself-holds-it": ("gpu-memory-held-by-others", _SERVER_OF_OTHERS.format("1.2", "/usr/local/bin/ollama")),
    "server-starts-with-much": (
        "gpu-memory-held-by-others",
        _SERVER_OF_OTHERS.format("9.1", "/opt/webui/venv/bin/python3"),
    ),
    "model-on-the-card": (
        "igpu-vram-counted-without-gtt",
        _GUEST + "amdgpu.gttsize=49152\n" + _PS.format("qwen2.5:32b", "9f13ba1299af    24 GB    100% GPU"),
    ),
    "model-beside-a-card": (
        "igpu-vram-counted-without-gtt",
        "GPU: RX 7900 XTX\namdgpu.gttsize=49152\n" + _PS.format("llama3.3", "a6eb4748fd29    46 GB    100% CPU"),
    ),
    "model-without-a-limit": (
        "igpu-vram-counted-without-gtt",
        _GUEST + _PS.format("phi4", "ac896e5b8b34    11 GB    100% CPU"),
    ),
    "not-full": ("gpu-memory-held-by-others", _USED_OF_AMD.format("251094630") + _PLAIN),
    "shared-and-not-held": ("gpu-memory-held-by-others", _INNER + _FULL.format("96.00 GiB")),
    "little-beside-a-card": ("igpu-vram-counted-without-gtt", _SERVES + _SKIPS),
    "enough": ("oom-model-too-large", _WANTED.format("4096")),
    "laptops-card-is-not-connected": (
        "gpu-fell-off-bus",
        "Currently, this hardware device is not connected to the computer. (Code 45)\nNVIDIA GeForce RTX 3070 Laptop GPU\n",
    ),
    "stopped-in-a-guest": (
        "gpu-hardware-init-failure",
        "QEMU/KVM guest\nWindows has stopped this device because it has reported problems. (Code 43)\n" + _NVIDIA,
    ),
    "xpu-has-room": (
        "oom-model-too-large",
        "RuntimeError: XPU out of memory. Tried to allocate 1.91 GiB (GPU 0; 15.56 GiB total capacity; 2.89 GiB already allocated; 3.01 GiB reserved in total by PyTorch)\n",
    ),
    "names-in-a-source": (
        "gpu-fell-off-bus",
        "public enum NvmlReturn {\n    GPUIsLost = 15,\n    ResetRequired = 16,\n}\n",
    ),
    "lost-in-a-game": ("gpu-fell-off-bus", "connection lost, GpuLoad 40 %\n"),
    "no-display-and-nothing-fails": ("gpu-fell-off-bus", _COUNTED.format(4) + _NVAPI.format("overlay not shown")),
    "none-was-ever-counted": ("gpu-fell-off-bus", _COUNTED.format(0) + _NVAPI.format("overlay") + _NONE),
    "another-device-stays-dark": ("gpu-fell-off-bus", _NIC + _DARK.format("pci", 5, "D3")),
    "dark-where-bbswitch-was-asked-is-no-loss": (
        "gpu-fell-off-bus",
        _CARD_OF_KERNEL.format(1, "GP108M [GeForce MX250]") + _ASKED.format("ON") + _DARK.format("pci", 1, "D3"),
    ),
    "killed-and-nothing-held": (
        "gpu-memory-held-by-others",
        _STAT.format(0, "GeForce RTX 3090", 0, 18, 24576) + _KILL.format("-bash: ", ":", "(40917)"),
    ),
    "held-and-nobody-killed": (
        "gpu-memory-held-by-others",
        _STAT.format(0, "GeForce RTX 3090", 98, 20118, 24576) + "cat: /proc/40917/status: No such process\n",
    ),
    "card-without-parts": ("mig-device-misaddressed", _BEYOND + _PARTS_OF_LINE.format("GPU 1: NVIDIA H100 80GB HBM3")),
    "empty": ("gpu-memory-held-by-others", _TAKEN_OF_FRAMEWORK + _TABLE_OF_FRAMEWORK.format(412)),
    "much-free": ("gpu-memory-held-by-others", _FREE_OF_FRAMEWORK.format("9213.375")),
    "kaldi-and-a-shared-card": ("compute-mode-exclusive", _KALDI + _ROW_OF_LIBRARY.format("  Default")),
    "a-little-in-main-memory": ("host-memory-exhausted", _WINDOWS + _LLAMA_OF_LIBRARY.format(84940832)),
    "parts-and-the-first-serves": (
        "mig-device-misaddressed",
        "$ export CUDA_VISIBLE_DEVICES=0,1\n" + _CUT + ">>> torch.cuda.is_available()\nTrue\n",
    ),
    "one-card-of-whole-ones": ("mig-device-misaddressed", "$ export CUDA_VISIBLE_DEVICES=0,1\n" + _WHOLE),
    "first-part": ("mig-device-misaddressed", "$ export CUDA_VISIBLE_DEVICES=0\n" + _CUT),
    "part-by-its-name": (
        "mig-device-misaddressed",
        "$ export CUDA_VISIBLE_DEVICES=MIG-1c1d2e3f-aaaa-bbbb-cccc-ddddeeeeffff\n" + _CUT,
    ),
    "allowed-and-pieces-are-no-lack": (
        "oom-model-too-large",
        _OOM_OF_PLACE.format("2.00 GiB", "9.10 GiB", "300.00 MiB", "22.40 GiB"),
    ),
    "a-process-is-listed": (
        "gpu-memory-held-by-others",
        "memory.used [MiB], memory.total [MiB]\n2398 MiB, 24576 MiB\npid, used_gpu_memory [MiB]\n4711, 2390 MiB\n",
    ),
    "idle-in-the-long-report": (
        "gpu-memory-held-by-others",
        "    FB Memory Usage\n        Total                             : 24564 MiB\n        Used                              : 310 MiB\n    Processes                             : None\n",
    ),
    "fabric-inactive-beside-a-card-in-a-slot": (
        "fabric-manager-not-running",
        "$ systemctl is-active nvidia-fabricmanager\ninactive\n"
        + _CARD_OF_REPORT
        + ">>> torch.cuda.is_available()\nFalse\n",
    ),
    "card-that-came-back": (
        "gpu-hardware-init-failure",
        _HANG + "amdgpu 0000:03:00.0: amdgpu: GPU reset(2) succeeded!\n",
    ),
    "as-much-as-wished-for": (
        "apu-gtt-limit-not-applied",
        "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.14 root=/dev/nvme0n1p2 ro quiet amdgpu.gttsize=31744\n$ cat /sys/class/drm/card1/device/mem_info_gtt_total\n33285996544\n",
    ),
    "carve-out-counted": (
        "apu-vram-carveout-vs-gtt",
        "Total VRAM 98304 MB, total RAM 31609 MB\npytorch version: 2.9.0+rocm7.0\nAMD arch: gfx1151\n"
        + _CARVED_OF_ROCM,
    ),
    "corrected": (
        "gpu-memory-ecc-error",
        "amdgpu 0000:63:00.0: amdgpu: 3 correctable hardware errors detected in umc block\n",
    ),
    "athub-told-of": ("gpu-memory-ecc-error", "RAS: interrupt ERREVENT_ATHUB_INTERRUPT enabled\n"),
    "some-offloaded": ("gpu-memory-held-by-others", _OFFLOADED.format(10) + _ROWS.format("23390")),
    "free-card": ("gpu-memory-held-by-others", _OFFLOADED.format(0) + _ROWS.format("390")),
    "pages-that-are-seen": ("apu-gtt-limit-not-applied", _PAGES.format(12582912) + _HIP_FULL.format("46.90", "45.80")),
    "pages-beside-a-card": (
        "apu-gtt-limit-not-applied",
        _PAGES.format(27648000) + "GPU[0]: Card Series: AMD Radeon RX 7900 XTX\n" + _HIP_FULL.format("23.98", "22.90"),
    ),
    "much-free-of-beside": ("gpu-memory-held-by-others", _OOM_OF_BESIDE + _FREE_OF_BESIDE.format(22100)),
    "radeon-hardly-held": ("gpu-memory-held-by-others", _PIDS.format(1073741824) + _OOM_OF_BESIDE),
    "radeon-held-and-nobody-refused": ("gpu-memory-held-by-others", _PIDS.format(20615843020)),
    "summary-without-refusal": ("oom-fragmentation", _SUMMARY.format(0, 9000)),
    "summary-in-use": ("oom-fragmentation", _SUMMARY.format(3, 19000)),
    "own-memory": ("gpu-memory-held-by-others", _FREE_OF_OTHER.format("14.60", 14902)),
    "small-holder": ("gpu-memory-held-by-others", _FREE_OF_OTHER.format("0.00", 318)),
    "just-started": ("gpu-memory-held-by-others", _LONG.format("00:14")),
    "child": ("gpu-memory-held-by-others", _ORPHAN.format("9900")),
    "fits-the-carve-out": ("igpu-vram-counted-without-gtt", _POOLS.format("2.10", 12)),
    "all-layers": ("igpu-vram-counted-without-gtt", _POOLS.format("9.10", 41)),
    "model-fits": ("apu-vram-carveout-vs-gtt", _VULKAN.format("12.50")),
    "much-free-of-other": ("apu-memory-miscount", _OLLAMA.format("61.9")),
    "ggml-total-of-the-carve-out": ("apu-vram-carveout-vs-gtt", _GGML.format(98304)),
    "card-is-whole": ("mig-device-misaddressed", _MIG.format("", "0:0", "0 False")),
    "part-works": ("mig-device-misaddressed", _MIG.format(_PARTS_OF_THERE, "0", "1 True")),
    "carve-out-is-large": ("igpu-vram-counted-without-gtt", _CARVED_OF_THERE.format("17179869184")),
    "node-of-the-processor": (
        "oom-model-too-large",
        _NODE.format("of shape [90000,90000] and type float", "device:CPU:0"),
    ),
    "firmware-is-missing-and-no-card-broken": ("gpu-hardware-init-failure", _FIRMWARE.format("ga10x") + _ADAPTER),
    "spilled-on-a-free-card": ("gpu-memory-held-by-others", _TABLE_OF_TORCH + _USED_OF_TORCH.format("3") + _SPILLED),
    "empty-card-tensorrt": ("gpu-memory-held-by-others", _EMPTY + _TENSORRT),
    "empty-card-opencl": ("gpu-memory-held-by-others", _EMPTY + _OPENCL),
    "taken-and-nothing-failed": ("gpu-memory-held-by-others", _TAKEN_OF_WORK + "Application startup complete.\n"),
    "tactic-skipped": (
        "oom-model-too-large",
        _EMPTY
        + "[W] [TRT] Skipping tactic 3 due to insufficient memory on requested size of 8589934592\n[I] Engine built\n",
    ),
    "more-than-the-carve-out-is-counted": ("igpu-vram-counted-without-gtt", _COUNTED_CARVE_OUT.format(98304)),
}
