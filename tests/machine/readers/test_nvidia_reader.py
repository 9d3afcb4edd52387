"""NVIDIA's files: the module's cards, the libraries of a world, toolkits."""

from rigup.machine.inventory import accelerators
from rigup.machine.kinds import Driver, DriverLibrary, Gpu, ModuleParameter, PathLibrary, Toolkit

CARD = "/proc/driver/nvidia/gpus/0000:01:00.0/"
INFORMATION = """Model: 		 NVIDIA GeForce RTX 3090
IRQ:   		 185
GPU UUID: 	 GPU-11111111-2222-3333-4444-555555555555
Video BIOS: 	 94.02.42.00.a9
Bus Type: 	 PCIe
Bus Location: 	 0000:01:00.0
Device Minor: 	 0
GPU Excluded:	 No
"""
UBUNTU = "/usr/lib/x86_64-linux-gnu/"


def test_a_card_as_its_module_tells_it(tree, pasted):
    for facts in (tree({CARD + "information": INFORMATION}), pasted(INFORMATION)):
        (card,) = facts.of(Gpu)
        assert (card.name, card.pci_address, card.uuid) == (
            "NVIDIA GeForce RTX 3090",
            "0000:01:00.0",
            "GPU-11111111-2222-3333-4444-555555555555",
        )
        assert (card.isa, card.vendor) == ("sm_86", "nvidia")


def test_a_folder_alone_tells_that_there_is_a_card(tree):
    facts = tree({f"/proc/driver/nvidia/gpus/000{n}:01:00.0/numa_status": "Node: 1\n" for n in (4, 6)})
    assert [(card["vendor"], card["pci_address"]) for card in accelerators(facts)] == [
        ("nvidia", "0004:01:00.0"),
        ("nvidia", "0006:01:00.0"),
    ]


def test_a_masked_uuid_and_an_unknown_model_tell_nothing(pasted):
    facts = pasted(
        INFORMATION.replace("GPU-11111111-2222-3333-4444-555555555555", "GPU-00000000-0000-0000-0000-000000000000").replace(
            "NVIDIA GeForce RTX 3090", "Unknown"
        )
    )
    (card,) = facts.of(Gpu)
    assert not card.knows("uuid")
    assert not card.knows("name")


def test_the_library_is_of_the_driver_that_its_link_names(tree):
    facts = tree(
        {
            UBUNTU + "libcuda.so.550.90.07": "",
            UBUNTU + "libcuda.so.1": "-> libcuda.so.550.90.07",
            UBUNTU + "libcuda.so": "-> libcuda.so.1",
            UBUNTU + "libnvidia-ml.so.550.107.02": "",
            "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024\n",
        }
    )
    assert {library.soname: library.get("version") for library in facts.of(DriverLibrary)} == {
        "libcuda.so.1": "550.90.07",
        "libnvidia-ml.so.1": "550.107.02",
    }
    assert [driver.version for driver in facts.of(Driver)] == ["550.90.07"]


def test_windows_own_library_has_no_version_and_stands_beside_the_distributions(tree):
    facts = tree(
        {"/usr/lib/wsl/lib/libcuda.so.1": "", UBUNTU + "libcuda.so.1": "-> libcuda.so.535.183.01", UBUNTU + "libcuda.so.535.183.01": ""}
    )
    found = {library.path: library.get("version") for library in facts.of(DriverLibrary)}
    assert found == {"/usr/lib/wsl/lib/libcuda.so.1": None, UBUNTU + "libcuda.so.1": "535.183.01"}


def test_stubs_and_compatibility_libraries_are_no_drivers(tree):
    facts = tree(
        {
            "/usr/local/cuda-12.4/lib64/stubs/libcuda.so": "",
            "/usr/local/cuda-12.4/compat/libcuda.so.1": "-> libcuda.so.550.54.15",
            "/usr/local/cuda-12.4/compat/libcuda.so.550.54.15": "",
        }
    )
    assert facts.of(DriverLibrary) == []
    assert {(library.path.rsplit("/", 2)[1], library.stub, library.compat) for library in facts.of(PathLibrary)} == {
        ("stubs", True, False),
        ("compat", False, True),
    }


def test_toolkits_old_and_new(tree):
    facts = tree(
        {
            "/usr/local/cuda-12.4/version.json": '{\n   "cuda" : {\n      "name" : "CUDA SDK",\n      "version" : "12.4.1"\n   },\n   "cuda_cudart" : {}\n}\n',
            "/usr/local/cuda-10.2/version.txt": "CUDA Version 10.2.89\n",
        }
    )
    assert {(kit.path, kit.version) for kit in facts.of(Toolkit)} == {
        ("/usr/local/cuda-12.4", "12.4.1"),
        ("/usr/local/cuda-10.2", "10.2.89"),
    }


def test_parameters_of_the_module(tree):
    facts = tree({"/proc/driver/nvidia/params": "ResmanDebugLevel: 4294967295\nEnableGpuFirmware: 18\nDeviceFileMode: 438\n"})
    assert {p.name: p.running for p in facts.of(ModuleParameter)} == {"NVreg_EnableGpuFirmware": "18", "NVreg_DeviceFileMode": "438"}


def test_a_jetson_has_its_gpu_on_no_bus(tree):
    facts = tree(
        {
            "/proc/device-tree/model": "NVIDIA Jetson AGX Orin Developer Kit\0",
            "/etc/nv_tegra_release": "# R35 (release), REVISION: 4.1, GCID: 1, BOARD: t186ref\n",
        }
    )
    (card,) = accelerators(facts)
    assert (card["vendor"], card["isa"], card["integrated"]) == ("nvidia", "sm_87", True)
    assert [kit.version for kit in facts.of(Toolkit)] == ["35.4.1"]
