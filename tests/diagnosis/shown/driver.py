"""Drivers and the kernel's side: each rule where it speaks, and beside it where it has to be silent."""

_NONE_OF_AMD = "RuntimeError: No HIP GPUs are available\n"
_LSPCI_OF_AMD = "03:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 31 [Radeon RX 7900 XTX] [1002:744c] (rev c8)\n\tKernel driver in use: {}\n"
_HSA = "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n"
_ATOMICS = "[    2.61] amdgpu 0000:05:00.0: amdgpu: PCIE atomic ops is not supported\n"
_SERVED = "[    2.91] kfd kfd: amdgpu: added device 1002:744c\n"
_TRACE = 'openat(AT_FDCWD, "/dev/kfd", O_RDWR|O_CLOEXEC) = -1 ENOENT (No such file or directory)\n'
_REFUSED_OF_AMD = "Error code:\n\t10 | AMDSMI_STATUS_NO_PERM - Permission Denied\n"
_QUEUES = "[    7.1] kfd kfd: amdgpu: Error starting queue manager for device 1002:740f\n[    7.2] kfd kfd: amdgpu: device 1002:740f NOT added due to errors\n"
_NVIDIA_OF_DESKTOP = "NVIDIA GeForce RTX 2060\n"
_CARD_OF_KERNEL = "0{}:00.0 3D controller: NVIDIA Corporation {} (rev ff)\n"
_DARK = "{} 0000:0{}:00.0: Refused to change power state, currently in {}\n"
_ASKED_OF_KERNEL = "$ sudo tee /proc/acpi/bbswitch <<<{}\n"
_CUT = "[   91.204311] bbswitch: {} discrete graphics\n"
_ADAPTER_OF_KERNEL = "[   97.118212] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! ({}:{})\n"
_FILE = "-rw-r--r-- 1 root root 27M Jan 14 03:22 {}/libcuda.so.{}\n"
_INSIDE = "root@7c1fe0a9b3d2:/# ls -lah /usr/lib/x86_64-linux-gnu/libcuda.so*\n"
_LIBS = "/usr/lib/x86_64-linux-gnu"
_LINK_OF_KERNEL = "lrwxrwxrwx 1 root root 20 Mar  2 09:10 /usr/lib/x86_64-linux-gnu/libcuda.so.1 -> libcuda.so.{}\n"
_BUS = "00:00.0 Host bridge: Intel Corporation 440FX - 82441FX PMC [Natoma] (rev 02)\n00:03.0 VGA compatible controller: {}\n"
_CIRRUS, _QXL = "Cirrus Logic GD 5446", "Red Hat, Inc. QXL paravirtual graphic card (rev 04)"
_XEN = "builder = 'hvm'\nmemory = 8192\n{} = {}\n"
_PROXMOX = "cores: 8\nhostpci0: 0000:00:02.0,{}\n"
_WINDOW = "[    8.10] NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\n               NVRM: BAR{} is 0M @ 0x0 (PCI:0000:{}:00.0)\n"
_ESXI = 'pciPassthru.{} = "{}"\n'
_FUSION = "kmod-nvidia-{}.fc42.x86_64-570.133.07-1.fc42.x86_64\n"
_KERNEL = "$ uname -r\n{}\n"
_SILENT_TOOL = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n"
_PREBUILT = "kmod-nvidia-535.161.08-{}-535.161.08-3.{}.x86_64\n"
_UBUNTU = "ii  linux-modules-nvidia-550{}-{}  6.8.0-60.63  amd64  Linux kernel nvidia modules for version\n"
_VOID = "{}-dkms-{}_2: configuring ...\nSkipping kernel-6.13.9_1. kernel-headers package not installed...\n"
_CHIP = "$ rocminfo\n  Name:                    gfx1151\n"
_FAULT = "Memory access fault by GPU node-1 (Agent handle: 0x5a10) on address (nil). Reason: Page not present or supervisor privilege.\n"
_MES = "MES feature version: 1, firmware version: 0x000000{}\n"
_COMPILER = "/var/lib/dkms/{}/build/{}:88:12: {}implicit declaration of function ‘{}’\n"
_HOST = "me@tower:~$ ls -lah /usr/lib/x86_64-linux-gnu/libcuda.so*\n"
_TABLE = "| NVIDIA-SMI 570.133.07             Driver Version: 570.133.07     CUDA Version: 12.8     |\n|   0  NVIDIA GeForce RTX 4060        Off |   00000000:01:00.0 Off |                  N/A |\n|  0%   41C    P8              4W /  115W |       9MiB /   8188MiB |      0%      Default |\n"
_MADE = "Building DKMS module 'nvidia-565.77' for kernel-6.12.21_1... done.\nInstalling DKMS module 'nvidia-565.77' for kernel-6.12.21_1... done.\n"
_INITRAMFS = (
    "-> Scanning the initramfs with lsinitramfs...\n-> Nouveau detected in initramfs\n-> Initramfs scan complete.\n"
)
_SMI_OF_DRIVER = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
_CLAIMED = "[   24.301333] NVRM: request_mem_region failed for 16M @ 0xf6000000. This can\n"
_NOUVEAU_OF_DRIVER = "$ lsmod | grep nouveau\nnouveau              2347008  1\n"
_OPTIRUN = "$ optirun ./train\n[  101.223111] [ERROR]Cannot access secondary GPU - error: Could not load GPU driver\n"
_STALLED = "[   55.112331] nouveau 0000:01:00.0: timer: stalled at ffffffffffffffff\n"
_NO_GPUS = "RuntimeError: No CUDA GPUs are available\n"
_FIFO = "[   55.112399] nouveau 0000:01:00.0: fifo: SCHED_ERROR 20 []\n"
_TORCH = '$ python -c "import torch; print(torch.__version__, torch.cuda.is_available())"\n{} False\n'
_VFIO = "[   14.101231] NVRM: GPU 0000:01:00.0 is already bound to vfio-pci.\n"
_LSPCI_OF_DRIVER = "$ lspci | grep VGA\n"
_NVTOP = "$ nvtop\nNo GPU to monitor.\n"
_CARD_OF_DRIVER = "01:00.0 VGA compatible controller: NVIDIA Corporation GA106 [GeForce RTX 3060] (rev a1)\n"
_NVIDIA_OF_DRIVER = "$ lsmod | grep nvidia\nnvidia              56717312  240\nnouveau              2347008  0\n"
_LSMOD = "$ lsmod | grep nouveau\nnouveau              {}  1\n"
_STUBS = "$ echo $LD_LIBRARY_PATH\n/usr/local/cuda-11.6/lib64:/usr/local/cuda-11.6/lib64/stubs\n>>> torch.cuda.is_available()\n{}\n"
_STUBS_FIRST = "export LD_LIBRARY_PATH=/opt/cuda-12.2/lib64/stubs:$LD_LIBRARY_PATH\n"
_HEAD = "| NVIDIA-SMI {}       Driver Version: {}       CUDA Version: {}     |\n"
_NO_GPU = "RuntimeError: No CUDA GPUs are available\n"
_LINK_OF_LIBRARY = (
    "lrwxrwxrwx 1 root root       20 Jan  4 10:11 /usr/lib/x86_64-linux-gnu/libcuda.so.1 -> libcuda.so.{}\n"
)
_TF = "I cuda/cuda_diagnostics.cc:193] libcuda reported version is: {}\n"
_TF_KERNEL = "I cuda/cuda_diagnostics.cc:197] kernel reported version is: {}\n"
_SELECTOR = "*** Terminating app due to uncaught exception 'NSInvalidArgumentException', reason: '-[{} {}]: unrecognized selector sent to instance 0x1200'\n"
_GSP = "[    9.31] NVRM: {}_kgspFwContainerVerifyVersion: GSP firmware {} version mismatch:{}got version {}, expected version {}\n"
_HEADERS = (
    "Error! Your kernel headers for kernel {} cannot be found at /lib/modules/{}/build or /lib/modules/{}/source.\n"
)
_DKMS = "$ dkms status\namdgpu/6.10.5-2095006.22.04, 6.5.0-45-generic, x86_64: installed (original_module exists)\n$ uname -r\n"
_NO_MODULE = "$ rocminfo\nROCk module is NOT loaded, possibly no GPU devices\n"
_NOT_LOADED = "$ rocm-smi\ncat: /sys/module/amdgpu/initstate: No such file or directory\nERROR:root:Driver not initialized (amdgpu not found in modules)\n"
_FENCE = "[ 3721.4] kfd: qcm fence wait loop timeout expired\n[ 3721.4] kfd: unmapping queues failed.\n"
_CPU = "Model name:          {}\n"
_SANDY, _FX = "Intel(R) Core(TM) i5-2500K CPU @ 3.30GHz", "AMD FX(tm)-6300 Six-Core Processor"
_OUT = "hsa api call failure at: /src/rocminfo/rocminfo.cc:1142\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n"
_POLARIS = "03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Ellesmere [Radeon RX 470/480/570/570X/580/580X/590] (rev e7)\n"
_WESTMERE, _IVY = "Intel(R) Xeon(R) CPU           X5670  @ 2.93GHz", "Intel(R) Xeon(R) CPU E3-1230 V2 @ 3.30GHz"
_NUMBER = "$ rocminfo\nhsa api call failure at line 900, file: /home/jenkins/rocminfo.cc. Call returned 4104\n"
_SAME = "Error! Module version {0} for {1}\nis not newer than what is already found in kernel {2} ({0}).\nYou may override by specifying --force.\n"
_SMI_OF_PROCESSOR = "ada@box:~$ rocm-smi\nERROR:root:Driver not initialized (amdgpu not found in modules)\n"
_ENGINE = 'docker: Error response from daemon: error gathering device information while adding custom device "/dev/kfd": no such file or directory.\n'
_HOOK = "==> Unable to install module {} for kernel 6.9.3-arch1-1: Missing kernel headers.\n"
_HASWELL, _BROADWELL = "Intel(R) Core(TM) i5-4590 CPU @ 3.30GHz", "Intel(R) Xeon(R) CPU E5-2678 v3 @ 2.50GHz"
_VEGA = "03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Vega 10 XL/XT [Radeon RX Vega 56/64] (rev c3)\n"
_GROUPS = "$ groups\nada adm cdrom sudo dip plugdev\n"
_ADDED = "[    2.9] kfd kfd: amdgpu: added device 1002:67df\n"
_UNKNOWN = "ggml_cuda_init: failed to initialize CUDA: {}\n"
_NVML_OF_SERVER = "INFO [__init__.py:36] Exception happens when checking CUDA platform: NVML Shared Library Not Found\n"
_PLATFORM = "INFO [__init__.py:239] Automatically detected platform {}.\n"
_COUNT = "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error {}\n"
_NVML_OF_SERVED = (
    "$ nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.90\n"
)
_REFUSED_OF_SERVED = "CUDA error 2 at ggml-cuda.cu:4856: out of memory\n"
_STAT = '$ docker run --rm --device /dev/kfd --device /dev/dri rocm/pytorch rocminfo\ndocker: Error response from daemon: error gathering device information while adding custom device "/dev/kfd": no such file or directory.\n'
_FILES = "$ nvtop\nNo GPU to monitor.\n$ modinfo -F version nvidia; cat /sys/module/nvidia/version\n{}\n550.107.02\n"
_STRINGS = "$ cat /sys/module/nvidia/version\n550.107.02\n$ strings /usr/lib64/libnvidia-ml.so.1 | grep -m1 -E '^5[0-9]{{2}}'\n{}\n"
_CARD_OF_OTHER = "$ lspci -k -s 41:00.0\n41:00.0 3D controller: NVIDIA Corporation GA102GL [RTX A6000] (rev a1)\n{}\tKernel modules: nvidiafb, nouveau, nvidia_drm, nvidia\n$ lsmod | grep nvidia\n{}$ modinfo -F filename nvidia\n/lib/modules/5.15.0-94-generic/updates/dkms/nvidia.ko\n"
_CLIENT = "(EE) NVIDIA: Failed to initialize the NVIDIA kernel module. Please see the\nnvidia-modeset: ERROR: client version {} does not match kernel module {}\n"
_GUEST = "root@vm:~# lspci | grep -i vga\n00:02.0 VGA compatible controller: Device 1234:1111 (rev 02)\nroot@pve:~# qm config 101 | grep -c hostpci\n{}\n"
_UVM = "modprobe: FATAL: Module {} not found.\npycuda._driver.RuntimeError: cuInit failed: unknown error\n{}"
_LOG = "$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n$ cat /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Fri Mar 1 00:00:00 UTC 2024\n{}\n"
_PACMAN = "[2024-03-02T06:11:02+0000] [ALPM] upgraded nvidia-utils (550.54.14-4 -> 550.90.07-1)"
_DPKG = "2024-03-02 06:11:02 upgrade libnvidia-compute-550:amd64 550.54.14-0ubuntu1 550.90.07-0ubuntu1"
_ASKED_OF_THERE = "$ modinfo -F version nvidia; strings /usr/lib64/libnvidia-ml.so | grep -m1 '^5'\n550.90.07\n{}\n"
_MODULE = "$ sudo modprobe nvidia\nmodprobe: ERROR: could not insert 'nvidia': No such device\n{}"
_NOUVEAU_OF_THERE = "[    4.1] nouveau 0000:02:00.0: DRM: VRAM: 4096 MiB\n"
_FIRMWARE = "nvidia 0000:0a:00.0: Direct firmware load for nvidia/575.51.02/gsp_{}.bin failed with error -2\n"
_ADAPTER_OF_SYSTEM = "NVRM: GPU 0000:0a:00.0: RmInitAdapter failed! (0x61:0x56:1718)\n"
_AWQ = (
    "RuntimeError: GPU is required to run AWQ quantized model. You can use IPEX version AWQ if you have an Intel CPU\n"
)
_TRITON = "RuntimeError: 0 active drivers ([]). There should only be one.\n"
_NONE_OF_TORCH = "RuntimeError: None of the available devices `available_devices = None` are supported by the bitsandbytes version you have installed\n"
_DIAGNOSIS = "PyTorch says CUDA is not available. Possible reasons:\n1. CUDA driver not installed\n"
_OPERATOR = "RuntimeError: Not implemented on the CPU\n"
_CARD_OF_TORCH = "GPU 0: NVIDIA GeForce RTX 3060 (UUID: GPU-0c1e2f00)\n"
_NPU = "import torch_npu\n"
_DOCKER = "$ docker run -it --rm -v $PWD:/w pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime python /w/load.py\n"
_CARD_OF_FRAMEWORK = "GPU 0: NVIDIA GeForce {} (UUID: GPU-0c1e2f00)\n"

_STARTS = "[    0.000000] Linux version {} (builder@host) (gcc 12.3.0) #41 SMP PREEMPT_DYNAMIC\n"
_FOR_THE_OLDER = "$ dkms status\nnvidia/535.171.04, 6.5.0-35-generic, x86_64: installed\n"
_RUNS_AND_LIES = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n$ modinfo -F version nvidia\n{}\n"
_LOADS = "kernel: NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.161.07  Sat Feb 17 22:55:48 UTC 2024\n"
_COMPUTE = "ii  libnvidia-compute-535:amd64  {}-0ubuntu0.22.04.1  amd64  NVIDIA libcompute package\n"
_UPGRADE = "Upgrade: libnvidia-compute-535:amd64 ({}-0ubuntu1, 535.183.01-0ubuntu1)\n"
_SEES_NONE = ">>> torch.cuda.is_available()\nFalse\n"
_MESA = "\tdeviceName         = NVIDIA GeForce RTX 3060 (NVK GA106)\n\tdriverName         = NVK\n"
_OFFERED = "01:00.0 VGA compatible controller: NVIDIA Corporation {} (rev a1)\n\tKernel modules: {}\n"
_OWNERS_KEY = "$ mokutil --test-key MOK.der\nMOK.der is {} enrolled\n"
_NOT_AMONG = "$ lsmod | grep nvidia\n$ uptime\n"
_OF_UBUNTU = "ii  nvidia-driver-535  535.183.01-0ubuntu0.22.04.1 amd64  NVIDIA driver metapackage\n"
_ANSWERED = ">>> ctypes.CDLL('libcuda.so.1').cuInit(0)\n{}\n| NVIDIA-SMI 570.124.06             Driver Version: 570.124.06     CUDA Version: 12.8     |\n"
_BY_OLLAMA = "WARNING: No NVIDIA/AMD GPU detected. Ollama will run in CPU-only mode.\n$ lspci | grep -iE 'vga|3d'\n{}"

_SENSOR = "$ sensors\nnouveau-pci-0100\nAdapter: PCI adapter\n"
_SCREEN_OF = "$ cat /proc/fb\n0 {}\n"
_JAX = "RuntimeError: Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are present. Platforms present are: cpu\n"
_HALF = "ii  libnvidia-compute-535:amd64  {}-0ubuntu1  amd64  NVIDIA libcompute package\nii  nvidia-dkms-535  535.161.07-0ubuntu1  amd64  NVIDIA DKMS package\n"
_BARRED = "$ grep -r nvidia /etc/modprobe.d/\n/etc/modprobe.d/vm.conf:install nvidia /bin/false\n"
_STOPPED = "\u578b\u53f7: {}\nNVIDIA GeForce GTX 1650\n\u7531\u4e8e\u8be5\u8bbe\u5907\u6709\u95ee\u9898\uff0cWindows \u5df2\u5c06\u5176\u505c\u6b62\u3002 (\u4ee3\u7801 43)\n"
_SWITCHED = "w /proc/acpi/call - - - - \\\\_SB.PCI0.PEG0.PEGP.{}\n"
_LLAMA = "warning: no usable GPU found, --gpu-layers option will be ignored\n"
_SVGA = "Name           AdapterCompatibility\n----           --------------------\nVMware SVGA 3D VMware, Inc.\n"
_WEBUI = "RuntimeError: Torch is not able to use GPU; add --skip-torch-cuda-test to COMMANDLINE_ARGS variable to disable this check\n"

_LABELLER = '{{"level":"error","logger":"amdgpu-node-labeller","msg":"{}"}}\n'

_BUILDS = "$ uname -r\n{}-generic\n$ dkms status\namdgpu, 1.9-211, 4.15.0-33-generic, x86_64: installed\n$ /opt/rocm/bin/rocminfo\nhsa api call failure at line 900, file: rocminfo.cc. Call returned 4104\n"
_NO_INTERRUPT = (
    "[    9.11] NVRM: Can't find an IRQ for your NVIDIA card!\n[    9.12] nvidia: probe of {} failed with error -1\n"
)
_BRIDGE = "[    0.31] pci 0000:00:03.0: bridge window [mem size 0x{} 64bit pref]: can't assign; no space\n"
_LISTED = "GPU 0: NVIDIA GeForce RTX 4060 (UUID: GPU-00000000-1111-2222-3333-444444444444)\n"
_NOT_INSERTED = "modprobe: ERROR: could not insert '{}': Required key not available\n"
_SLEEP_OF_MACHINE = "Oct 02 07:40:11 desk {}\n"
_TORCH_AFTER = '$ python -c "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())"\n2.5.1+cu124 12.4 {}\n'
_EFI_VARIABLE = "$ od --address-radix=n --format=u1 /sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c\n   6   0   0   0   {}\n"
_UNTRUSTED = "[    4.02] PKCS#7 signature not signed with a trusted key\n"
_PNP_LIST = "Status     Class           FriendlyName\n------     -----           ------------\n{}      Display         NVIDIA GeForce RTX 3070\n"
_BOARD_OF_QEMU = "System Model:              Standard PC (Q35 + ICH9, 2009)\n"
_HINT = "akmods[880]: Hint: Some kmods were ignored or failed to build or install.\n"
_AT_WORK = "[    2.91] nouveau 0000:01:00.0: DRM: VRAM: 8192 MiB\n"
_NO_CARD_FOUND = "[   11.70] NVRM: No NVIDIA GPU found.\n"

SPEAKS = {
    "amds-source-does-not-compile": (
        "kernel-module-not-built",
        "amd/display/amdgpu_dm/amdgpu_dm.c:8212:30: error: too few arguments to function 'drm_mode_dup2'\n",
    ),
    "laptops-daemon-bars-the-module": (
        "hybrid-laptop-gpu-powered-off",
        "$ cat /etc/modprobe.d/supergfxd.conf\nblacklist nouveau\nblacklist nvidia\n",
    ),
    "stub-cut": ("libcuda-stub-loaded", "cuInit(0): CUDA driver is a stub lib\n"),
    "stub-constant-cut": ("libcuda-stub-loaded", "Result::unwrap() on an Err value: DriverError(CUDA_ERROR_STUB_LI\n"),
    "no-module-of-that-name": (
        "nvidia-driver-missing",
        "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.1.0-18-amd64\n01:00.0 3D controller: NVIDIA Corporation GP108M [GeForce MX150] (rev a1)\n",
    ),
    "built-for-an-older-kernel": ("kernel-module-not-built", _BUILDS.format("4.15.0-36")),
    "no-radeon": ("no-gpu-present", "$ radeontop\nCan't find Radeon cards\n" + _NONE_OF_AMD),
    "kept": ("vm-passthrough-misconfigured", _LSPCI_OF_AMD.format("vfio-pci") + _HSA),
    "atomics": ("pcie-atomics-missing", _ATOMICS + _SERVED),
    "trace": ("amdgpu-not-loaded", "ada@box:~$ strace -f ./saxpy 2>&1 | grep kfd\n" + _TRACE),
    "no-driver": (
        "nvidia-driver-missing",
        "The drivers for this device are not installed. (Code 28)\n" + _NVIDIA_OF_DESKTOP,
    ),
    "no-driver-by-name": (
        "nvidia-driver-missing",
        "FriendlyName : 3D Video Controller\nProblem : CM_PROB_FAILED_INSTALL\nInstanceId : PCI\\VEN_10DE&DEV_1F99&SUBSYS_09EF1028\n",
    ),
    "no-room": ("bios-bar-settings", "Nicht genug freie Ressourcen. (Code 12)\nNVIDIA Tesla P100\n"),
    "switched-off": ("hybrid-laptop-gpu-powered-off", "This device is disabled. (Code 22)\n" + _NVIDIA_OF_DESKTOP),
    "stopped-in-a-guest": (
        "vm-passthrough-misconfigured",
        "ESXi 8.0, Windows Server 2022\nWindows has stopped this device because it has reported problems. (Code 43)\n",
    ),
    "unsigned": (
        "secure-boot-module-unsigned",
        "Windows cannot verify the digital signature for the drivers required for this device. (Code 52)\n"
        + _NVIDIA_OF_DESKTOP,
    ),
    "does-not-load": (
        "nvidia-module-not-loaded",
        "Windows cannot load the device driver for this hardware. (Code 39)\n" + _NVIDIA_OF_DESKTOP,
    ),
    "basic-driver": (
        "nvidia-driver-missing",
        "Name        : Microsoft Basic Display Adapter\nPNPDeviceID : PCI\\VEN_10DE&DEV_2503&SUBSYS_39901458\n",
    ),
    "drivers-library": (
        "nvidia-driver-missing",
        "ImportError: Could not find 'nvcuda.dll'. TensorFlow requires that this DLL be installed\nGeForce GTX 1080\n",
    ),
    "drivers-library-alone": (
        "no-gpu-present",
        "ImportError: Could not find 'nvcuda.dll'. TensorFlow requires that this DLL be installed\n",
    ),
    "listed-and-no-tool": (
        "nvidia-driver-missing",
        "PS> (Get-WmiObject Win32_VideoController).Name\nNVIDIA GeForce GTX 1650\nPS> nvidia-smi\nnvidia-smi : The term 'nvidia-smi' is not recognized as the name of a cmdlet\n",
    ),
    "guests-adapter": (
        "vm-without-gpu-passthrough",
        "VMware SVGA 3D\nRuntimeError: Found no NVIDIA driver on your system.\n",
    ),
    "panel": ("bios-bar-settings", "Intel Arc A770\nResizable BAR: Not enabled\n"),
    "launcher": (
        "no-gpu-present",
        "AssertionError: Torch is not able to use GPU; add --skip-torch-cuda-test to COMMANDLINE_ARGS variable to disable this check\nIntel(R) HD Graphics 4000\n",
    ),
    "dark-where-bbswitch-was-asked": (
        "hybrid-laptop-gpu-powered-off",
        _CARD_OF_KERNEL.format(1, "GP108M [GeForce MX250]")
        + _ASKED_OF_KERNEL.format("ON")
        + _DARK.format("pci", 1, "D3"),
    ),
    "dark-and-no-list": ("hybrid-laptop-gpu-powered-off", _CUT.format("disabling") + _DARK.format("nvidia", 2, "D3")),
    "starts-not-after-the-cut": (
        "hybrid-laptop-gpu-powered-off",
        _CUT.format("disabling") + _CUT.format("enabling") + _ADAPTER_OF_KERNEL.format("0x30:0xffffffff", 711),
    ),
    "starts-not-with-another-code": (
        "hybrid-laptop-gpu-powered-off",
        _CUT.format("disabling") + _ADAPTER_OF_KERNEL.format("0x26:0xffff", 1130),
    ),
    "two-releases-in-an-image": (
        "libcuda-differs-from-kernel-driver",
        _INSIDE
        + _LINK_OF_KERNEL.format("560.35.03")
        + _FILE.format(_LIBS, "550.90.07")
        + _FILE.format(_LIBS, "560.35.03"),
    ),
    "older-link-in-an-image": (
        "libcuda-differs-from-kernel-driver",
        _INSIDE + _LINK_OF_KERNEL.format("470.256.02") + _FILE.format(_LIBS, "535.183.01"),
    ),
    "xen-without-what-was-promised": (
        "vm-without-gpu-passthrough",
        _XEN.format("gfx_passthru", 1) + _BUS.format(_CIRRUS),
    ),
    "proxmox-without-what-was-promised": ("vm-without-gpu-passthrough", _PROXMOX.format("x-vga=1") + _BUS.format(_QXL)),
    "part-of-a-card-that-was-promised": (
        "vm-without-gpu-passthrough",
        _PROXMOX.format("mdev=i915-GVTg_V5_4") + _BUS.format(_CIRRUS),
    ),
    "esxi-and-no-window": (
        "vm-passthrough-misconfigured",
        _ESXI.format("use64bitMMIO", "TRUE") + _WINDOW.format(1, "0b"),
    ),
    "esxi-and-no-registers": (
        "vm-passthrough-misconfigured",
        _ESXI.format("64bitMMIOSizeGB", 256) + _WINDOW.format(0, "1a"),
    ),
    "package-of-another-kernel": (
        "kernel-module-not-built",
        _KERNEL.format("6.14.5-300.fc42.x86_64") + _FUSION.format("6.14.4-300") + _SILENT_TOOL,
    ),
    "prebuilt-for-another-kernel": (
        "kernel-module-not-built",
        _KERNEL.format("5.14.0-427.20.1.el9_4.x86_64") + _PREBUILT.format("5.14.0-427.16.1", "el9_4") + _SILENT_TOOL,
    ),
    "ubuntus-for-another-kernel": (
        "kernel-module-not-built",
        _KERNEL.format("6.8.0-62-generic") + _UBUNTU.format("-server-open", "6.8.0-60-generic") + _SILENT_TOOL,
    ),
    "void-without-headers": ("kernel-module-not-built", _VOID.format("nvidia", "565.77")),
    "void-without-headers-and-an-old-branch": ("kernel-module-not-built", _VOID.format("nvidia470", "470.256.02")),
    "firmware-and-a-fault-at-nought": ("amd-firmware-regression", _CHIP + _MES.format(83) + _FAULT),
    "compiler-in-bold-letters": (
        "kernel-module-not-built",
        _COMPILER.format("amdgpu/6.3.6-1718217", "amd/amdgpu/amdgpu_vm.c", "**error: ", "drm_x"),
    ),
    "compiler-in-bold-letters-of-nvidia": (
        "kernel-module-not-built",
        _COMPILER.format("nvidia/390.157", "nvidia/nv-acpi.c", "**error: ", "acpi_y"),
    ),
    "initramfs": ("nouveau-bound", _INITRAMFS + _SMI_OF_DRIVER),
    "registers": ("nouveau-bound", _CLAIMED + _NOUVEAU_OF_DRIVER),
    "optirun": ("nouveau-bound", _OPTIRUN + _NOUVEAU_OF_DRIVER),
    "log-and-program": ("nouveau-bound", _STALLED + _NO_GPUS),
    "log-and-torch": ("nouveau-bound", _FIFO + _TORCH.format("2.6.0+cu124")),
    "given-away": ("vm-passthrough-misconfigured", _VFIO + _NO_GPUS),
    "monitor": ("nvidia-driver-missing", _NVTOP + _LSPCI_OF_DRIVER + _CARD_OF_DRIVER),
    "nouveau-searched-for": ("nouveau-bound", _LSMOD.format(2314240)),
    "nouveau-searched-with-sudo": ("nouveau-bound", "me@pc:~$ sudo lsmod|grep -i nouveau\nnouveau 1957888 5\n"),
    "uvm-not-inserted": ("uvm-device-missing", "modprobe: ERROR: could not insert 'nvidia_352_uvm': No such device\n"),
    "uvm-of-a-foreign-key": (
        "secure-boot-module-unsigned",
        "ERROR: could not insert 'nvidia_375_uvm': required key not available\n",
    ),
    "switch-finds-no-card": (
        "hybrid-laptop-gpu-powered-off",
        "[ 09:10:11 ] user_logout_waiter: started\n[ 09:10:11 ] Forcing intel due to NVIDIA card not found\n",
    ),
    "no-library-beside-a-card": (
        "nvidia-driver-missing",
        "ERROR: CUDA driver not found\n01:00.0 VGA compatible controller: NVIDIA Corporation GA106 [GeForce RTX 3060] (rev a1)\n",
    ),
    "stubs-and-no-card": ("libcuda-stub-loaded", _STUBS.format("False")),
    "stubs-first": ("libcuda-stub-loaded", _STUBS_FIRST),
    "libcuda-of-another-driver": (
        "libcuda-differs-from-kernel-driver",
        _HEAD.format("535.129.03", "535.129.03", "12.2") + _LINK_OF_LIBRARY.format("525.85.12") + _NO_GPU,
    ),
    "tensorflow-tells-two": (
        "libcuda-differs-from-kernel-driver",
        _TF.format("470.82.1") + _TF_KERNEL.format("460.91.3"),
    ),
    "tensorflow-and-the-module": (
        "libcuda-differs-from-kernel-driver",
        _TF.format("470.82.1")
        + "NVRM version: NVIDIA UNIX x86_64 Kernel Module  460.91.03  Fri Jul  2 06:04:10 UTC 2021\n",
    ),
    "tool-of-a-far-release": ("nvml-driver-library-mismatch", _HEAD.format("450.80.02", "535.54.03", "N/A")),
    "guests-device-lacks-a-selector": (
        "vm-without-gpu-passthrough",
        _SELECTOR.format("AppleParavirtComputeCommandEncoder", "dispatchThreads:threadsPerThreadgroup:"),
    ),
    "guests-buffer-lacks-a-selector": (
        "vm-without-gpu-passthrough",
        _SELECTOR.format("AppleParavirtBuffer", "setOwnerWithIdentity:"),
    ),
    "engine-fails-on-a-guests-device": (
        "vm-without-gpu-passthrough",
        "ggml_metal_init: GPU name:   Apple Paravirtual device\nggml_metal_init: error: failed to create command queue\n",
    ),
    "engine-cannot-allocate-on-a-guests-device": (
        "vm-without-gpu-passthrough",
        "ggml_metal_init: found device: Apple Paravirtual device\nggml_metal_add_buffer: error: failed to allocate 'data' buffer\n",
    ),
    "firmware-is-newer": ("nvml-driver-library-mismatch", _GSP.format("", "image", " ", "570.133.07", "570.124.06")),
    "firmware-is-older-and-the-line-is-broken": (
        "nvml-driver-library-mismatch",
        _GSP.format("GPU1 ", "image", "\n", "550.54.14", "550.90.07"),
    ),
    "virtual-display": (
        "no-gpu-present",
        "GPU: 00:02.0 Vendor 1234 Device 1111\nRuntimeError: Found no NVIDIA driver on your system.\n",
    ),
    "shell-offers-the-tool": (
        "nvidia-driver-missing",
        "OS: Ubuntu 22.04.3 LTS x86_64\nGPU: NVIDIA GeForce RTX 3060\n$ nvidia-smi\nCommand 'nvidia-smi' not found, but can be installed with:\n",
    ),
    "card-got-no-room": (
        "bios-bar-settings",
        "amdgpu 0000:03:00.0: amdgpu: Fatal error during GPU init\namdgpu 0000:03:00.0: probe with driver amdgpu failed with error -12\n",
    ),
    "headers-missing": (
        "kernel-module-not-built",
        _HEADERS.format(*["6.8.0-45-generic"] * 3) + "Loading new amdgpu-6.8.5-2009582.22.04 DKMS files...\n",
    ),
    "built-for-another-kernel": ("kernel-module-not-built", _DKMS + "6.8.0-40-generic\n" + _NO_MODULE),
    "no-firmware": (
        "amdgpu-not-loaded",
        "[    5.219] amdgpu 0000:03:00.0: Direct firmware load for amdgpu/psp_13_0_0_sos.bin failed with error -2\n[    5.221] amdgpu: Fatal error during GPU init\n[    5.224] amdgpu: probe of 0000:03:00.0 failed with error -2\n",
    ),
    "opencl-without-devices": (
        "amdgpu-not-loaded",
        "Number of platforms                               1\n  Platform Name                                   AMD Accelerated Parallel Processing\n  Platform Vendor                                 Advanced Micro Devices, Inc.\n\n  Platform Name                                   AMD Accelerated Parallel Processing\nNumber of devices                                 0\n",
    ),
    "firmware-known-bad": (
        "amd-firmware-regression",
        "$ pacman -Q linux-firmware-amdgpu\nlinux-firmware-amdgpu 20251125-1\nMemory access fault by GPU node-1 (Agent handle: 0x3b7c6b0) on address 0x7f24d6e00000. Reason: Page not present or supervisor privilege.\nGPU: Radeon 8060S gfx1151\n",
    ),
    "fence-sandy": ("pcie-atomics-missing", _CPU.format(_SANDY) + _FENCE),
    "fence-fx": ("pcie-atomics-missing", "CPU: AMD FX-8120, GPU: R9 Nano\n" + _FENCE + _OUT),
    "number-westmere": ("pcie-atomics-missing", _CPU.format(_WESTMERE) + _POLARIS + _NUMBER),
    "out-ivy": ("pcie-atomics-missing", _CPU.format(_IVY) + _POLARIS + _OUT),
    "fence-ivy-in-one-word": ("pcie-atomics-missing", "CPU: Xeon E3-1245V2\n" + _FENCE),
    "same-version": ("kernel-module-not-built", _SAME.format("5.18.13", "amdgpu.ko", "5.19.0-46-generic")),
    "same-version-packed": ("kernel-module-not-built", _SAME.format("6.12.12", "amdttm.ko.zst", "6.8.0-60-generic")),
    "engine-and-host": (
        "amdgpu-not-loaded",
        _SMI_OF_PROCESSOR + "ada@box:~$ docker run --device=/dev/kfd rocm/pytorch\n" + _ENGINE,
    ),
    "engine-and-rocminfo": (
        "amdgpu-not-loaded",
        _ENGINE + "$ /opt/rocm/bin/rocminfo\nROCk module is NOT loaded, possibly no GPU devices\n",
    ),
    "hook-of-a-dotted-name": ("kernel-module-not-built", _HOOK.format("amdgpu-3.8/30")),
    "unknown-error": ("uvm-broken-after-suspend", _UNKNOWN.format("unknown error")),
    "nvml-missing": ("nvidia-driver-missing", _NVML_OF_SERVER),
    "number-803-cut": ("libcuda-differs-from-kernel-driver", _COUNT.format("803: system has unsupp")),
    "number-803-alone": ("libcuda-differs-from-kernel-driver", _COUNT.format("803")),
    "memory-refused-beside-a-mismatch": ("nvml-driver-library-mismatch", _NVML_OF_SERVED + _REFUSED_OF_SERVED),
    "driver-of-its-own-and-803": (
        "libcuda-differs-from-kernel-driver",
        "RuntimeError: Error 803: system has unsupported display driver / cuda driver combination\n",
    ),
    "barred-and-not-handed-in": (
        "amdgpu-not-loaded",
        _STAT + "$ cat /etc/modprobe.d/vfio.conf\nblacklist amdgpu\n",
    ),
    "file-of-the-module": ("nvml-driver-library-mismatch", _FILES.format("550.120")),
    "strings-of-nvml": ("nvml-driver-library-mismatch", _STRINGS.format("550.120")),
    "built-and-not-loaded": ("nvidia-module-not-loaded", _CARD_OF_OTHER.format("", "")),
    "client-of-modeset": ("nvml-driver-library-mismatch", _CLIENT.format("390.48", "384.130")),
    "lent-none": ("vm-without-gpu-passthrough", _GUEST.format(0)),
    "uvm-of-old": (
        "uvm-device-missing",
        _UVM.format("nvidia-uvm", "modprobe: ERROR: could not insert 'nvidia_304_uvm': No such device\n"),
    ),
    "pacmans-log": ("nvml-driver-library-mismatch", _LOG.format("550.54.14", _PACMAN)),
    "dpkgs-log": ("nvml-driver-library-mismatch", _LOG.format("550.54.14", _DPKG)),
    "asked-together": ("nvml-driver-library-mismatch", _ASKED_OF_THERE.format("550.120")),
    "nouveau-has-it": ("nouveau-bound", _MODULE.format(_NOUVEAU_OF_THERE)),
    "firmware-of-another-release": ("nvml-driver-library-mismatch", _FIRMWARE.format("tu10x") + _ADAPTER_OF_SYSTEM),
    "quantised": ("no-gpu-present", _AWQ),
    "triton": ("no-gpu-present", _TRITON),
    "bitsandbytes": ("no-gpu-present", _NONE_OF_TORCH),
    "diagnosis": ("no-gpu-present", _DIAGNOSIS),
    "operator": ("no-gpu-present", _OPERATOR),
    "not-loaded-by-its-number": ("nvml-driver-library-mismatch", "nvmlInit_v2 returned 18\n"),
    "small-modprobe": (
        "secure-boot-module-unsigned",
        "modprobe: can't load module nvidia (kernel/drivers/video/nvidia.ko): Key was rejected by service\n",
    ),
    "kernel-of-the-logs-head": ("kernel-module-not-built", _STARTS.format("6.5.0-41-generic") + _FOR_THE_OLDER),
    "module-file-and-what-runs": ("nvml-driver-library-mismatch", _RUNS_AND_LIES.format("550.90.07")),
    "module-of-the-log-and-package": ("nvml-driver-library-mismatch", _LOADS + _COMPUTE.format("535.183.01")),
    "replaced-and-torch-sees-none": (
        "nvml-driver-library-mismatch",
        _UPGRADE.format("535.161.07") + _LOADS + _SEES_NONE,
    ),
    "mesas-vulkan-and-no-cuda": ("nouveau-bound", _MESA + _SEES_NONE),
    "link-to-nouveau": (
        "nouveau-bound",
        "$ readlink /sys/bus/pci/devices/0000:01:00.0/driver\n../../../../bus/pci/drivers/nouveau\n",
    ),
    "later-module-leaves-the-card": (
        "gpu-needs-legacy-driver",
        _OFFERED.format("GM107 [GeForce GTX 750 Ti]", "nouveau, nvidia_drm, nvidia")
        + "$ modinfo -F version nvidia\n590.48.01\n",
    ),
    "key-not-enrolled": ("secure-boot-module-unsigned", _OWNERS_KEY.format("not") + _SILENT_TOOL),
    "package-and-no-module": ("nvidia-module-not-loaded", _OF_UBUNTU + _NOT_AMONG),
    "nothing-of-nvidias-is-offered": ("nvidia-driver-missing", _OFFERED.format("AD104 [GeForce RTX 4070]", "nouveau")),
    "start-answers-three": ("uvm-hmm-init-failure", _ANSWERED.format("3")),
    "installer-finds-none-on-the-bus": (
        "no-gpu-present",
        _BY_OLLAMA.format("00:02.0 VGA compatible controller: Intel Corporation HD Graphics 530 (rev 06)\n"),
    ),
    "sensors-of-nouveau": ("nouveau-bound", _SENSOR + _SILENT_TOOL),
    "console-by-nouveau": ("nouveau-bound", _SCREEN_OF.format("nouveaudrmfb") + _JAX),
    "packages-half-way": ("nvml-driver-library-mismatch", _HALF.format("535.183.01")),
    "module-barred-by-a-setting": ("nvidia-module-not-loaded", _BARRED + _NOT_AMONG),
    "stopped-on-qemus-board": ("vm-passthrough-misconfigured", _STOPPED.format("Standard PC (i440FX + PIIX, 1996)")),
    "board-is-not-the-newer": (
        "vm-passthrough-misconfigured",
        "TASK ERROR: q35 machine model is not enabled at /usr/share/perl5/PVE/QemuServer/PCI.pm line 553.\n",
    ),
    "switched-off-by-acpi": ("hybrid-laptop-gpu-powered-off", _SWITCHED.format("_OFF")),
    "display-of-parallels": (
        "vm-without-gpu-passthrough",
        "01:00.0 VGA compatible controller: Parallels, Inc. Accelerated Virtual Video Adapter\n" + _LLAMA,
    ),
    "display-of-vmware-in-windows": ("vm-without-gpu-passthrough", _SVGA + _WEBUI),
    "labeller-finds-no-topology": ("amdgpu-not-loaded", _LABELLER.format("Fail to glob topology properties")),
    "kfd-isnt-there": ("amdgpu-not-loaded", "On Talos /dev/kfd isn't present\n"),
    "old-docker-plugin-and-no-module": (
        "kernel-module-not-built",
        "nvidia-docker | 2017/05/09 11:20:31 Error: Could not load UVM kernel module\n[root@gpu1 ~]# modprobe nvidia\nmodprobe: FATAL: Module nvidia not found.\n",
    ),
    "no-interrupt-on-the-first-bus": ("vm-passthrough-misconfigured", _NO_INTERRUPT.format("0000:00:06.0")),
    "no-interrupt-in-a-slot": ("bios-bar-settings", _NO_INTERRUPT.format("0000:04:00.0")),
    "bridge-without-a-large-window": ("bios-bar-settings", _BRIDGE.format("1800000000")),
    "audio-of-the-card-refused": ("secure-boot-module-unsigned", _NOT_INSERTED.format("nvhda")),
    "switch-of-the-card-refused": ("secure-boot-module-unsigned", _NOT_INSERTED.format("bbswitch")),
    "woken-and-torch-sees-none": (
        "uvm-broken-after-suspend",
        _SLEEP_OF_MACHINE.format("kernel: ACPI: PM: Waking up from system sleep state S3")
        + "$ nvidia-smi -L\n"
        + _LISTED
        + _TORCH_AFTER.format("False"),
    ),
    "back-from-the-disk-and-torch-sees-none": (
        "uvm-broken-after-suspend",
        _SLEEP_OF_MACHINE.format("kernel: PM: hibernation: hibernation exit")
        + "$ nvidia-smi -L\n"
        + _LISTED
        + _TORCH_AFTER.format("False"),
    ),
    "memory-manager-in-use-after-sleep": (
        "uvm-broken-after-suspend",
        _SLEEP_OF_MACHINE.format("systemd-logind[702]: Operation 'suspend' finished.")
        + "rmmod: ERROR: Module nvidia_uvm is in use\n",
    ),
    "dkms-names-no-tree": (
        "dkms-stale-tree",
        "$ dkms status\nError! Could not locate dkms.conf file.\nFile:  does not exist.\n",
    ),
    "laptops-tool-keeps-it-for-guests": (
        "hybrid-laptop-gpu-powered-off",
        "$ supergfxctl -g\nVfio\n$ nvidia-smi\n" + _SILENT_TOOL,
    ),
    "laptops-tool-says-off": ("hybrid-laptop-gpu-powered-off", "$ supergfxctl -S\noff\n$ nvidia-smi\n" + _SILENT_TOOL),
    "driverctl-lists-nouveau": (
        "nouveau-bound",
        "0000:01:00.0 nouveau (TU116 [GeForce GTX 1660])\n$ nvidia-smi\n" + _SILENT_TOOL,
    ),
    "nouveau-draws-for-x": (
        "nouveau-bound",
        "(II) modeset(0): glamor X acceleration enabled on NV166\n$ nvidia-smi\n" + _SILENT_TOOL,
    ),
    "nouveau-works-where-nvidia-finds-none": ("nouveau-bound", _AT_WORK + _NO_CARD_FOUND),
    "untrusted-and-the-firmware-checks": ("secure-boot-module-unsigned", _EFI_VARIABLE.format(1) + _UNTRUSTED),
    "error-in-a-guests-list": ("vm-passthrough-misconfigured", _BOARD_OF_QEMU + _PNP_LIST.format("Error")),
    "akmods-hints-alone": ("kernel-module-not-built", _HINT),
    "folder-of-built-modules-is-missing": (
        "kernel-module-not-built",
        "ls: cannot access '/lib/modules/6.11.4-301.fc41.x86_64/extra': No such file or directory\n$ nvidia-smi\n"
        + _SILENT_TOOL,
    ),
    "objects-of-the-kernel-are-missing": (
        "kernel-module-not-built",
        "make[1]: *** /usr/src/linux-6.4.0-150600.21-obj/x86_64/default: No such file or directory.  Stop.\n$ nvidia-smi\n"
        + _SILENT_TOOL,
    ),
    "fallback-and-no-such-module": (
        "kernel-module-not-built",
        "nvidia-fallback.service - Fallback to nouveau as nvidia did not load\nmodprobe: FATAL: Module nvidia not found in directory /lib/modules/6.11.4-301.fc41.x86_64\n",
    ),
    "guest-of-esxi-and-its-device": (
        "vm-passthrough-misconfigured",
        "Power on failed: Module 'DevicePowerOn' power on failed.\n",
    ),
}

SILENT = {
    "kernels-own-source": (
        "kernel-module-not-built",
        "drivers/gpu/drm/amd/amdgpu/amdgpu_vm.c:880:3: error: 'foo' undeclared\n",
    ),
    "laptops-daemon-in-hybrid-mode": (
        "hybrid-laptop-gpu-powered-off",
        "$ cat /etc/modprobe.d/supergfxd.conf\nblacklist nouveau\nalias nouveau off\noptions nvidia-drm modeset=1\n",
    ),
    "web-interface-on-the-processor": (
        "nvidia-driver-missing",
        "$ ./webui.sh --use-cpu all --no-half\nWarning: caught exception 'Found no NVIDIA driver on your system.', memory monitor disabled\nRunning on local URL:  http://127.0.0.1:7860\n",
    ),
    "shell-offers-the-tool-on-a-jetson": (
        "nvidia-driver-missing",
        "Model: NVIDIA Jetson Orin NX - Jetpack 5.1.1 [L4T 35.3.1]\n$ nvidia-smi\nCommand 'nvidia-smi' not found, but can be installed with:\n",
    ),
    "stub-and-other-constant": ("libcuda-stub-loaded", "DriverError(CUDA_ERROR_STUBBORN\n"),
    "no-module-and-a-tool": (
        "nvidia-driver-missing",
        "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.1.0-18-amd64\n01:00.0 3D controller: NVIDIA Corporation GP108M [GeForce MX150] (rev a1)\n"
        + _SILENT_TOOL,
    ),
    "no-module-and-nouveau": (
        "nvidia-driver-missing",
        "modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.1.0-18-amd64\n01:00.0 3D controller: NVIDIA Corporation GP108M [GeForce MX150] (rev a1)\n\tKernel driver in use: nouveau\n",
    ),
    "built-for-this-kernel": ("kernel-module-not-built", _BUILDS.format("4.15.0-33")),
    "refused-to-a-member": (
        "amdgpu-not-loaded",
        _REFUSED_OF_AMD + "$ id\nuid=1000(ada) gid=1000(ada) groups=1000(ada),110(render)\n",
    ),
    "radeon": ("no-gpu-present", _LSPCI_OF_AMD.format("amdgpu") + "Can't find Radeon cards\n" + _NONE_OF_AMD),
    "kept-beside-another": (
        "vm-passthrough-misconfigured",
        _LSPCI_OF_AMD.format("vfio-pci") + _LSPCI_OF_AMD.format("amdgpu").replace("03:", "06:") + _HSA,
    ),
    "queues-of-a-chip-that-is-served": ("kfd-gpu-not-supported", _QUEUES),
    "atomics-not-missed": (
        "pcie-atomics-missing",
        _ATOMICS + _SERVED + ">>> torch.ones(3).cuda().sum()\ntensor(3., device='cuda:0')\n",
    ),
    "trace-of-a-container": (
        "amdgpu-not-loaded",
        "root@0a1b2c3d4e5f:/app# strace -f ./saxpy 2>&1 | grep kfd\n" + _TRACE,
    ),
    "trace-of-a-wsl": ("amdgpu-not-loaded", "5.15.153.1-microsoft-standard-WSL2\n" + _TRACE),
    "no-driver-for-sound": (
        "nvidia-driver-missing",
        "Realtek PCIe GBE: The drivers for this device are not installed. (Code 28)\n",
    ),
    "no-driver-and-code-of-another": ("nvidia-driver-missing", "ConfigManagerErrorCode : 0\n" + _NVIDIA_OF_DESKTOP),
    "sound-is-off": ("hybrid-laptop-gpu-powered-off", "Realtek Audio: This device is disabled. (Code 22)\n"),
    "stopped-on-a-desktop": (
        "vm-passthrough-misconfigured",
        "Windows has stopped this device because it has reported problems. (Code 43)\n" + _NVIDIA_OF_DESKTOP,
    ),
    "unsigned-sound": (
        "secure-boot-module-unsigned",
        "Realtek Audio: Windows cannot verify the digital signature. (Code 52)\n",
    ),
    "sound-cannot-start": (
        "nvidia-module-not-loaded",
        "Realtek High Definition Audio: This device cannot start. (Code 10)\n",
    ),
    "basic-driver-for-another": (
        "nvidia-driver-missing",
        "Name        : Microsoft Basic Display Adapter\nPNPDeviceID : PCI\\VEN_8086&DEV_9A49\n",
    ),
    "drivers-library-opened": ("no-gpu-present", "I tensorflow: Successfully opened dynamic library nvcuda.dll\n"),
    "listed-and-its-tool": (
        "nvidia-driver-missing",
        "(Get-WmiObject Win32_VideoController).Name\nNVIDIA GeForce GTX 1650\n| NVIDIA-SMI 546.33    Driver Version: 546.33    CUDA Version: 12.3 |\n",
    ),
    "guests-adapter-and-no-wish": ("vm-without-gpu-passthrough", "VMware SVGA 3D\nWindows 11 Pro\n"),
    "panel-of-another-maker": ("bios-bar-settings", "GeForce GTX 1080\nResizable BAR: Disabled\n"),
    "launcher-beside-a-card": (
        "no-gpu-present",
        "AssertionError: Torch is not able to use GPU; add --skip-torch-cuda-test to COMMANDLINE_ARGS variable to disable this check\nIntel(R) HD Graphics 4000\nNVIDIA GeForce GTX 1050\n",
    ),
    "awake-and-not-put-to-sleep": (
        "hybrid-laptop-gpu-powered-off",
        _CARD_OF_KERNEL.format(1, "GM108M [GeForce 940M]") + _DARK.format("pci", 1, "D0"),
    ),
    "another-device-beside-bbswitch": (
        "hybrid-laptop-gpu-powered-off",
        "01:00.0 3D controller: NVIDIA Corporation GP107M [GeForce GTX 1050] (rev a1)\n"
        + _ASKED_OF_KERNEL.format("ON")
        + _DARK.format("pci", 5, "D3"),
    ),
    "cut-and-well-again": (
        "hybrid-laptop-gpu-powered-off",
        _CUT.format("disabling")
        + _CUT.format("enabling")
        + "[  120.1] nvidia-modeset: Loading NVIDIA Kernel Mode Setting Driver\n",
    ),
    "starts-not-and-nobody-cut": ("hybrid-laptop-gpu-powered-off", _ADAPTER_OF_KERNEL.format("0x26:0xffff", 1130)),
    "leftover-on-a-host": (
        "libcuda-differs-from-kernel-driver",
        _HOST
        + _LINK_OF_KERNEL.format("560.35.03")
        + _FILE.format(_LIBS, "550.90.07")
        + _FILE.format(_LIBS, "560.35.03"),
    ),
    "one-release-in-an-image": (
        "libcuda-differs-from-kernel-driver",
        _INSIDE + _LINK_OF_KERNEL.format("560.35.03") + _FILE.format(_LIBS, "560.35.03"),
    ),
    "compatibility-beside-it": (
        "libcuda-differs-from-kernel-driver",
        _INSIDE
        + _LINK_OF_KERNEL.format("535.183.01")
        + _FILE.format(_LIBS, "535.183.01")
        + _FILE.format("/usr/local/cuda-12.8/compat", "570.86.10"),
    ),
    "nothing-was-promised": ("vm-without-gpu-passthrough", _XEN.format("gfx_passthru", 0) + _BUS.format(_CIRRUS)),
    "promised-and-there": (
        "vm-without-gpu-passthrough",
        _PROXMOX.format("x-vga=1")
        + _BUS.format(_QXL)
        + "00:10.0 VGA compatible controller: NVIDIA Corporation AD104 [GeForce RTX 4070] (rev a1)\n",
    ),
    "network-card-was-passed": ("vm-without-gpu-passthrough", _PROXMOX.format("pcie=1") + _BUS.format(_QXL)),
    "window-on-bare-metal": ("vm-passthrough-misconfigured", _WINDOW.format(1, "0b")),
    "package-of-this-kernel": (
        "kernel-module-not-built",
        _KERNEL.format("6.14.5-300.fc42.x86_64")
        + _FUSION.format("6.14.4-300")
        + _FUSION.format("6.14.5-300")
        + _SILENT_TOOL,
    ),
    "package-of-another-kernel-and-it-works": (
        "kernel-module-not-built",
        _KERNEL.format("6.14.5-300.fc42.x86_64") + _FUSION.format("6.14.4-300") + _TABLE,
    ),
    "prebuilt-for-this-kernel": (
        "kernel-module-not-built",
        _KERNEL.format("5.14.0-427.16.1.el9_4.x86_64") + _PREBUILT.format("5.14.0-427.16.1", "el9_4") + _SILENT_TOOL,
    ),
    "ubuntus-without-a-kernel": (
        "kernel-module-not-built",
        _KERNEL.format("6.8.0-62-generic") + _UBUNTU.format("", "generic-hwe-22.04") + _SILENT_TOOL,
    ),
    "void-skips-an-older-kernel": ("kernel-module-not-built", _VOID.format("nvidia", "565.77") + _MADE),
    "void-skips-another-module": ("kernel-module-not-built", _VOID.format("zfs", "2.3.1")),
    "compiler-only-warns": (
        "kernel-module-not-built",
        _COMPILER.format("amdgpu/6.3.6-1718217", "amd/amdgpu/amdgpu_vm.c", "**warning: ", "drm_x"),
    ),
    "initramfs-before-it-is-rebuilt": (
        "nouveau-bound",
        _INITRAMFS + "Installation of the kernel module is now complete.\n",
    ),
    "registers-of-a-loaded-driver": ("nouveau-bound", _CLAIMED + _NVIDIA_OF_DRIVER),
    "optirun-alone": ("nouveau-bound", _OPTIRUN),
    "log-alone": ("nouveau-bound", _STALLED),
    "log-of-a-torch-for-the-processor": ("nouveau-bound", _FIFO + _TORCH.format("2.6.0+cpu")),
    "given-away-on-purpose": ("vm-passthrough-misconfigured", _VFIO),
    "monitor-without-a-card": ("nvidia-driver-missing", _NVTOP),
    "nouveau-not-loaded": ("nouveau-bound", "$ lsmod | grep nouveau\n$ nvidia-smi -L\nGPU 0: NVIDIA RTX A4000\n"),
    "nouveau-beside-another-card": (
        "nouveau-bound",
        _LSMOD.format(1)
        + "$ lsmod | grep amdgpu\namdgpu 9486336 12\n$ rocminfo | grep gfx\n  Name:                    gfx1030\n",
    ),
    "nvidia-not-inserted": ("uvm-device-missing", "modprobe: ERROR: could not insert 'nvidia': No such device\n"),
    "intel-not-found": ("hybrid-laptop-gpu-powered-off", "[ 18:38:35 ] Forcing nvidia due to Intel card not found\n"),
    "no-library-and-no-card": (
        "nvidia-driver-missing",
        "ERROR: CUDA driver not found\n$ uname -r\n5.15.153.1-microsoft-standard-WSL2\n",
    ),
    "stubs-and-a-card": ("libcuda-stub-loaded", _STUBS.format("True")),
    "stubs-first-and-a-card": ("libcuda-stub-loaded", _STUBS_FIRST + ">>> torch.cuda.is_available()\nTrue\n"),
    "stubs-for-the-linker": ("libcuda-stub-loaded", "export LIBRARY_PATH=/opt/cuda-12.2/lib64/stubs:$LIBRARY_PATH\n"),
    "libcuda-of-the-driver": (
        "libcuda-differs-from-kernel-driver",
        _HEAD.format("535.129.03", "535.129.03", "12.2") + _LINK_OF_LIBRARY.format("535.129.03") + _NO_GPU,
    ),
    "tensorflow-tells-one": (
        "libcuda-differs-from-kernel-driver",
        _TF.format("384.130.0") + _TF_KERNEL.format("384.130.0"),
    ),
    "tensorflow-and-its-module": (
        "libcuda-differs-from-kernel-driver",
        _TF.format("470.57.2")
        + "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.57.02  Tue Jul 13 16:14:05 UTC 2021\n",
    ),
    "tool-in-a-wsl": ("nvml-driver-library-mismatch", _HEAD.format("535.146.01", "537.99", "12.2")),
    "macs-own-device-lacks-a-selector": (
        "vm-without-gpu-passthrough",
        _SELECTOR.format("AGXG14XFamilyBuffer", "setOwnerWithIdentity:"),
    ),
    "guest-that-works": (
        "vm-without-gpu-passthrough",
        "ggml_metal_init: GPU name:   Apple Paravirtual device\nggml_metal_init: loaded kernel_add\n",
    ),
    "engine-fails-on-a-mac": (
        "vm-without-gpu-passthrough",
        "ggml_metal_init: GPU name:   Apple M2\nggml_metal_init: error: failed to create command queue\n",
    ),
    "firmware-of-unknown-release": (
        "nvml-driver-library-mismatch",
        "NVRM: GPU0 _kgspFwContainerVerifyVersion: GSP firmware image version unknown\n",
    ),
    "library-of-another-release": (
        "nvml-driver-library-mismatch",
        "cuDNN version mismatch: got version 8.9.2, expected version 9.1.0\n",
    ),
    "virtual-display-alone": ("no-gpu-present", "GPU: 00:02.0 Vendor 1234 Device 1111\nMemory: 812MiB / 3919MiB\n"),
    "shell-offers-the-tool-in-a-container": (
        "nvidia-driver-missing",
        "GPU: NVIDIA GeForce RTX 3060\nroot@3f2a1b9c7d21:/# nvidia-smi\nCommand 'nvidia-smi' not found, but can be installed with:\n",
    ),
    "card-was-given-up-for-another-reason": (
        "bios-bar-settings",
        "amdgpu 0000:03:00.0: amdgpu: Fatal error during GPU init\namdgpu: probe of 0000:03:00.0 failed with error -22\n",
    ),
    "guest-of-windows-that-computes": ("amdgpu-not-loaded", "$ ls /dev/dxg\n/dev/dxg\n" + _NOT_LOADED),
    "module-missed-where-torch-computes": ("amdgpu-not-loaded", _NOT_LOADED + ">>> torch.cuda.is_available()\nTrue\n"),
    "headers-of-another-module": (
        "kernel-module-not-built",
        "Loading new amdgpu-6.8.5-2009582.22.04 DKMS files...\nBuilding for 6.8.0-45-generic\n",
    ),
    "built-for-the-kernel": ("kernel-module-not-built", _DKMS + "6.5.0-45-generic\n" + _NO_MODULE),
    "firmware-not-needed": (
        "amdgpu-not-loaded",
        "[    5.219] amdgpu 0000:03:00.0: Direct firmware load for amdgpu/isp_4_1_1.bin failed with error -2\n[    6.0] [drm] Initialized amdgpu 3.61.0 for 0000:03:00.0 on minor 1\n",
    ),
    "opencl-with-a-device": (
        "amdgpu-not-loaded",
        "Number of platforms:\t\t\t\t 1\n  Platform Name:\t\t\t\t AMD Accelerated Parallel Processing\nNumber of devices:\t\t\t\t 1\n  Board name:\t\t\t\t\t AMD Radeon RX 7800 XT\n  Name:\t\t\t\t\t\t gfx1101\n",
    ),
    "firmware-good": (
        "amd-firmware-regression",
        "$ pacman -Q linux-firmware-amdgpu\nlinux-firmware-amdgpu 20260110-1\nMemory access fault by GPU node-1 (Agent handle: 0x3b7c6b0) on address 0x7f24d6e00000. Reason: Page not present or supervisor privilege.\nGPU: Radeon 8060S gfx1151\n",
    ),
    "fence-haswell": ("pcie-atomics-missing", _CPU.format(_HASWELL) + _FENCE),
    "fence-of-a-later-xeon": ("pcie-atomics-missing", "CPU: Xeon E3-1245V5\n" + _FENCE),
    "fence-of-vega": ("pcie-atomics-missing", _CPU.format(_SANDY) + _VEGA + _FENCE),
    "number-of-vega": ("pcie-atomics-missing", _CPU.format(_FX) + _VEGA + _NUMBER),
    "number-broadwell": ("pcie-atomics-missing", _CPU.format(_BROADWELL) + _POLARIS + _NUMBER),
    "no-member": ("pcie-atomics-missing", _CPU.format(_SANDY) + _POLARIS + _GROUPS + _NUMBER),
    "served": ("pcie-atomics-missing", _CPU.format(_SANDY) + _POLARIS + _ADDED + _OUT),
    "same-version-of-another": ("kernel-module-not-built", _SAME.format("8.053.00", "r8168.ko", "5.19.0-46-generic")),
    "same-version-and-served": (
        "kernel-module-not-built",
        _SAME.format("5.18.13", "amdgpu.ko", "5.19.0-46-generic") + _ADDED,
    ),
    "engine-alone": ("amdgpu-not-loaded", _ENGINE),
    "hook-of-another": ("kernel-module-not-built", _HOOK.format("vboxhost/7.0.20")),
    "other-error": ("uvm-broken-after-suspend", _UNKNOWN.format("no CUDA-capable device is detected")),
    "nvml-of-rocm": ("nvidia-driver-missing", _NVML_OF_SERVER + _PLATFORM.format("rocm")),
    "number-802": ("libcuda-differs-from-kernel-driver", _COUNT.format("802: system not yet")),
    "number-elsewhere": ("libcuda-differs-from-kernel-driver", "HTTP Error 803: cudaGetDeviceCount\n"),
    "not-barred": ("amdgpu-not-loaded", _STAT),
    "barred-of-another": ("amdgpu-not-loaded", _STAT + "$ cat /etc/modprobe.d/n.conf\nblacklist nouveau\n"),
    "same-file-of-the-module": ("nvml-driver-library-mismatch", _FILES.format("550.107.02")),
    "same-strings-of-nvml": ("nvml-driver-library-mismatch", _STRINGS.format("550.107.02")),
    "loaded": (
        "nvidia-module-not-loaded",
        _CARD_OF_OTHER.format("\tKernel driver in use: nvidia\n", "nvidia  56770560  2\n"),
    ),
    "client-of-another-program": (
        "nvml-driver-library-mismatch",
        "Error response from daemon: client version 1.41 is too old\n",
    ),
    "lent-one": ("vm-without-gpu-passthrough", _GUEST.format(1)),
    "module-itself-not-built": ("uvm-device-missing", _UVM.format("nvidia", "")),
    "restarted-since": ("nvml-driver-library-mismatch", _LOG.format("550.90.07", _PACMAN)),
    "log-of-the-kernel": (
        "nvml-driver-library-mismatch",
        _LOG.format("550.54.14", "[2024-03-02T06:11:02+0000] [ALPM] upgraded linux (6.7.5-1 -> 6.7.6-1)"),
    ),
    "asked-together-and-same": ("nvml-driver-library-mismatch", _ASKED_OF_THERE.format("550.90.07")),
    "no-nouveau": ("nouveau-bound", _MODULE.format("")),
    "quantised-beside-a-card": ("no-gpu-present", _CARD_OF_TORCH + _AWQ),
    "quantised-of-a-known-build": ("no-gpu-present", ">>> torch.__version__\n'2.5.1+cu124'\n" + _AWQ),
    "triton-of-another-accelerator": ("no-gpu-present", _NPU + _TRITON),
    "triton-in-a-container": ("no-gpu-present", _DOCKER + _TRITON),
    "another-module": (
        "secure-boot-module-unsigned",
        "modprobe: can't load module wl (kernel/drivers/net/wl.ko): Key was rejected by service\n"
        + _CARD_OF_FRAMEWORK.format("RTX 3090"),
    ),
    "kernel-of-the-logs-head-is-the-built-one": (
        "kernel-module-not-built",
        _STARTS.format("6.5.0-35-generic") + _FOR_THE_OLDER,
    ),
    "heads-of-two-starts": (
        "kernel-module-not-built",
        _STARTS.format("6.5.0-41-generic") + _STARTS.format("6.5.0-35-generic") + _FOR_THE_OLDER,
    ),
    "module-file-is-what-runs": ("nvml-driver-library-mismatch", _RUNS_AND_LIES.format("550.54.15")),
    "module-of-the-log-is-the-packages": ("nvml-driver-library-mismatch", _LOADS + _COMPUTE.format("535.161.07")),
    "module-of-the-log-and-working-tool": (
        "nvml-driver-library-mismatch",
        _LOADS + _COMPUTE.format("535.183.01") + "GPU 0: NVIDIA A10 (UUID: GPU-f15ae561-21b1-6003-c768-861fc285203b)\n",
    ),
    "replaced-long-before": ("nvml-driver-library-mismatch", _UPGRADE.format("535.129.03") + _LOADS + _SEES_NONE),
    "mesas-vulkan-that-is-wanted": ("nouveau-bound", _MESA),
    "unbind-of-nouveau": ("nouveau-bound", "$ echo 0000:01:00.0 | sudo tee /sys/bus/pci/drivers/nouveau/unbind\n"),
    "last-branch-for-the-card": (
        "gpu-needs-legacy-driver",
        _OFFERED.format("GM107 [GeForce GTX 750 Ti]", "nouveau, nvidia_drm, nvidia")
        + "$ modinfo -F version nvidia\n580.95.05\n",
    ),
    "key-enrolled": ("secure-boot-module-unsigned", _OWNERS_KEY.format("already") + _SILENT_TOOL),
    "package-and-module": (
        "nvidia-module-not-loaded",
        _OF_UBUNTU + "$ lsmod | grep nvidia\nnvidia  56770560  2\n$ uptime\n",
    ),
    "nvidias-is-offered": (
        "nvidia-driver-missing",
        _OFFERED.format("AD104 [GeForce RTX 4070]", "nouveau, nvidia_drm, nvidia"),
    ),
    "start-answers-nought": ("uvm-hmm-init-failure", _ANSWERED.format("0")),
    "installer-finds-none-and-a-card-is-listed": (
        "no-gpu-present",
        _BY_OLLAMA.format("01:00.0 VGA compatible controller: NVIDIA Corporation AD104 [GeForce RTX 4070] (rev a1)\n"),
    ),
    "sensors-of-nouveau-alone": ("nouveau-bound", _SENSOR),
    "console-by-nvidia": ("nouveau-bound", _SCREEN_OF.format("nvidia-drmdrmfb") + _JAX),
    "packages-of-one-release": ("nvml-driver-library-mismatch", _HALF.format("535.161.07")),
    "module-barred-and-loaded": (
        "nvidia-module-not-loaded",
        _BARRED + "$ lsmod | grep nvidia\nnvidia  56770560  2\n$ uptime\n",
    ),
    "module-barred-for-a-guest": (
        "nvidia-module-not-loaded",
        _BARRED
        + _NOT_AMONG
        + "$ lspci -nnk\n01:00.0 VGA compatible controller [0300]: NVIDIA Corporation TU117 [GeForce GTX 1650] [10de:1f82] (rev a1)\n\tKernel driver in use: vfio-pci\n",
    ),
    "stopped-on-a-board-of-metal": ("vm-passthrough-misconfigured", _STOPPED.format("PRIME B450M-A")),
    "switched-on-by-acpi": ("hybrid-laptop-gpu-powered-off", _SWITCHED.format("_ON")),
    "display-of-vmware-alone": ("vm-without-gpu-passthrough", _SVGA),
    "labeller-reads-no-name": ("amdgpu-not-loaded", _LABELLER.format("Fail to get card family name.")),
    "bridge-without-a-small-window": ("bios-bar-settings", _BRIDGE.format("00200000")),
    "bridge-got-it-at-last": (
        "bios-bar-settings",
        _BRIDGE.format("600000000")
        + "[    0.33] pci 0000:00:03.0: bridge window [mem 0x6000000000-0x65ffffffff 64bit pref]: assigned\n",
    ),
    "another-programs-module-refused": ("secure-boot-module-unsigned", _NOT_INSERTED.format("vmmon")),
    "woken-and-torch-sees-it": (
        "uvm-broken-after-suspend",
        _SLEEP_OF_MACHINE.format("kernel: ACPI: PM: Waking up from system sleep state S3")
        + _TORCH_AFTER.format("True"),
    ),
    "memory-manager-in-use-and-no-sleep": ("uvm-broken-after-suspend", "rmmod: ERROR: Module nvidia_uvm is in use\n"),
    "dkms-names-another-tree": (
        "dkms-stale-tree",
        "Error! Could not locate dkms.conf file.\nFile: /var/lib/dkms/zfs/2.2.2/source/dkms.conf does not exist.\n",
    ),
    "laptops-tool-and-nobody-wants-it": ("hybrid-laptop-gpu-powered-off", "$ supergfxctl -g\nVfio\n"),
    "laptops-tool-says-asleep": (
        "hybrid-laptop-gpu-powered-off",
        "$ supergfxctl -S\nsuspended\n$ nvidia-smi -L\n" + _LISTED,
    ),
    "nouveau-works-and-no-gpu-is-not-said": ("no-gpu-present", _AT_WORK + _NO_CARD_FOUND),
    "untrusted-and-the-firmware-lets-pass": ("secure-boot-module-unsigned", _EFI_VARIABLE.format(0) + _UNTRUSTED),
    "untrusted-and-the-card-works": (
        "secure-boot-module-unsigned",
        _EFI_VARIABLE.format(1) + _UNTRUSTED + "$ nvidia-smi -L\n" + _LISTED,
    ),
    "error-in-a-list-of-a-real-machine": ("vm-passthrough-misconfigured", _PNP_LIST.format("Error")),
    "well-in-a-guests-list": ("vm-passthrough-misconfigured", _BOARD_OF_QEMU + _PNP_LIST.format("OK   ")),
    "akmods-hints-and-the-card-works": ("kernel-module-not-built", _HINT + "$ nvidia-smi -L\n" + _LISTED),
}
