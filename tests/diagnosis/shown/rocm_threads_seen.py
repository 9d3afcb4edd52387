"""What ROCm's threads show: each rule where it speaks, and beside it where it has to be silent."""

_FENCE = "[ 3721.4] kfd: qcm fence wait loop timeout expired\n[ 3721.4] kfd: unmapping queues failed.\n"
_NUMBER = "$ rocminfo\nhsa api call failure at line 900, file: /home/jenkins/rocminfo.cc. Call returned 4104\n"
_OUT = "hsa api call failure at: /src/rocminfo/rocminfo.cc:1142\nCall returned HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.\n"
_CPU = "Model name:          {}\n"
_SANDY, _FX = "Intel(R) Core(TM) i5-2500K CPU @ 3.30GHz", "AMD FX(tm)-6300 Six-Core Processor"
_WESTMERE, _IVY = "Intel(R) Xeon(R) CPU           X5670  @ 2.93GHz", "Intel(R) Xeon(R) CPU E3-1230 V2 @ 3.30GHz"
_HASWELL, _BROADWELL = "Intel(R) Core(TM) i5-4590 CPU @ 3.30GHz", "Intel(R) Xeon(R) CPU E5-2678 v3 @ 2.50GHz"
_POLARIS = "03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Ellesmere [Radeon RX 470/480/570/570X/580/580X/590] (rev e7)\n"
_VEGA = "03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Vega 10 XL/XT [Radeon RX Vega 56/64] (rev c3)\n"
_GROUPS = "$ groups\nada adm cdrom sudo dip plugdev\n"
_SAME = "Error! Module version {0} for {1}\nis not newer than what is already found in kernel {2} ({0}).\nYou may override by specifying --force.\n"
_ADDED = "[    2.9] kfd kfd: amdgpu: added device 1002:67df\n"
_REFUSED = 'ROCk module is loaded\nUnable to open /dev/kfd read-write: Permission denied\n{} is not member of "{}" group, the default DRM access group. Users must be a member of the "{}" group or another DRM access group in order for ROCm applications to run successfully.\n'
_INNER = "$ docker run -it --device=/dev/kfd --device=/dev/dri rocm/dev-ubuntu-18.04\nrocm-user@5d1f00aa2b13:~"
_ROOT = "$ sudo rocminfo\n=====================\nHSA System Attributes\n=====================\nRuntime Version:         1.1\n"
_ENGINE = 'docker: Error response from daemon: error gathering device information while adding custom device "/dev/kfd": no such file or directory.\n'
_SMI = "ada@box:~$ rocm-smi\nERROR:root:Driver not initialized (amdgpu not found in modules)\n"
_ATHUB = "amdgpu 0000:63:00.0: amdgpu: uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!\n{}: GPU reset begin!\n"
_IGNORED = "Ignoring visible gpu device (device: 0, name: {0}, pci bus id: 0000:01:00.0) with AMDGPU ISA {1}. The minimum required AMDGPU ISA is gfx803.\n"
_DSO = "W tensorflow/stream_executor/platform/default/dso_loader.cc:{0}] Could not load dynamic library '{1}'; dlerror: {1}: cannot open shared object file: No such file or directory\n"
_HOOK = "==> Unable to install module {} for kernel 6.9.3-arch1-1: Missing kernel headers.\n"

SPEAKS = {
    "fence-sandy": ("pcie-atomics-missing", _CPU.format(_SANDY) + _FENCE),
    "fence-fx": ("pcie-atomics-missing", "CPU: AMD FX-8120, GPU: R9 Nano\n" + _FENCE + _OUT),
    "number-westmere": ("pcie-atomics-missing", _CPU.format(_WESTMERE) + _POLARIS + _NUMBER),
    "out-ivy": ("pcie-atomics-missing", _CPU.format(_IVY) + _POLARIS + _OUT),
    "fence-ivy-in-one-word": ("pcie-atomics-missing", "CPU: Xeon E3-1245V2\n" + _FENCE),
    "fence-alone": ("gpu-hardware-init-failure", _FENCE),
    "same-version": ("kernel-module-not-built", _SAME.format("5.18.13", "amdgpu.ko", "5.19.0-46-generic")),
    "same-version-packed": ("kernel-module-not-built", _SAME.format("6.12.12", "amdttm.ko.zst", "6.8.0-60-generic")),
    "root-in-a-build": ("container-render-group-mismatch", "STEP 6/9: RUN rocminfo\n" + _REFUSED.format("root", "render", "render")),
    "root-of-a-namespace": ("container-render-group-mismatch", _REFUSED.format("root", "video", "video")),
    "number-inside": ("container-render-group-mismatch", _INNER + _NUMBER + "rocm-user@5d1f00aa2b13:~" + _ROOT),
    "out-inside": ("container-render-group-mismatch", _INNER + "$ rocminfo\n" + _OUT + "rocm-user@5d1f00aa2b13:~" + _ROOT),
    "number-outside": ("render-group-missing", _NUMBER + _ROOT),
    "engine-and-host": ("amdgpu-not-loaded", _SMI + "ada@box:~$ docker run --device=/dev/kfd rocm/pytorch\n" + _ENGINE),
    "engine-and-rocminfo": ("amdgpu-not-loaded", _ENGINE + "$ /opt/rocm/bin/rocminfo\nROCk module is NOT loaded, possibly no GPU devices\n"),
    "athub": ("gpu-memory-ecc-error", _ATHUB.format("amdgpu 0000:63:00.0: amdgpu")),
    "athub-numbered": ("gpu-memory-ecc-error", "[13850.9] amdgpu 0000:1c:00.0: {1}uncorrectable hardware error(ERREVENT_ATHUB_INTERRUPT) detected!\n"),
    "hawaii": ("binary-arch-missing", _IGNORED.format("Device 67b1", "gfx701")),
    "carrizo": ("binary-arch-missing", "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1605] " + _IGNORED.format("AMD FX-9800P Radeon R7", "gfx801")),
    "opens-none": ("rocm-abi-mismatch", _DSO.format(55, "librocrand.so") + _DSO.format(55, "libMIOpen.so")),
    "opens-none-numbered": ("rocm-abi-mismatch", _DSO.format(64, "libhipsparse.so.0")),
    "hook-of-a-dotted-name": ("kernel-module-not-built", _HOOK.format("amdgpu-3.8/30")),
}  # fmt: skip

SILENT = {
    "fence-haswell": ("pcie-atomics-missing", _CPU.format(_HASWELL) + _FENCE),
    "fence-of-a-later-xeon": ("pcie-atomics-missing", "CPU: Xeon E3-1245V5\n" + _FENCE),
    "fence-of-vega": ("pcie-atomics-missing", _CPU.format(_SANDY) + _VEGA + _FENCE),
    "number-of-vega": ("pcie-atomics-missing", _CPU.format(_FX) + _VEGA + _NUMBER),
    "number-broadwell": ("pcie-atomics-missing", _CPU.format(_BROADWELL) + _POLARIS + _NUMBER),
    "no-member": ("pcie-atomics-missing", _CPU.format(_SANDY) + _POLARIS + _GROUPS + _NUMBER),
    "served": ("pcie-atomics-missing", _CPU.format(_SANDY) + _POLARIS + _ADDED + _OUT),
    "same-version-of-another": ("kernel-module-not-built", _SAME.format("8.053.00", "r8168.ko", "5.19.0-46-generic")),
    "same-version-and-served": ("kernel-module-not-built", _SAME.format("5.18.13", "amdgpu.ko", "5.19.0-46-generic") + _ADDED),
    "plain-account": ("container-render-group-mismatch", _REFUSED.format("ada", "render", "render")),
    "root-and-render-group": ("render-group-missing", _REFUSED.format("root", "render", "render")),
    "number-outside-alone": ("container-render-group-mismatch", _NUMBER + _ROOT),
    "engine-alone": ("amdgpu-not-loaded", _ENGINE),
    "corrected": ("gpu-memory-ecc-error", "amdgpu 0000:63:00.0: amdgpu: 3 correctable hardware errors detected in umc block\n"),
    "athub-told-of": ("gpu-memory-ecc-error", "RAS: interrupt ERREVENT_ATHUB_INTERRUPT enabled\n"),
    "minimum-alone": ("binary-arch-missing", "The minimum required AMDGPU ISA is gfx803.\n"),
    "opens-none-of-cuda": ("rocm-abi-mismatch", _DSO.format(55, "libcudart.so.11.0")),
    "opened": ("rocm-abi-mismatch", "I tensorflow/stream_executor/platform/default/dso_loader.cc:48] Successfully opened dynamic library librocrand.so\n"),
    "hook-of-another": ("kernel-module-not-built", _HOOK.format("vboxhost/7.0.20")),
}  # fmt: skip
