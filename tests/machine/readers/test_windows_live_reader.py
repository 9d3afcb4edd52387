"""A live Windows: CIM as one answer, the registry without it, libraries in their places."""

import json

import pytest

from rigup.machine.inventory import accelerators
from rigup.machine.kinds import Distribution, Driver, DriverLibrary, Gpu, Memory, Platform, SystemPackage, Toolkit
from rigup.machine.readers.windows_live import cim_objects

GIB = 2**30
KEY = r"HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
PNP = r"PCI\VEN_10DE&DEV_2684&SUBSYS_889D1043&REV_A1\4&2283F625&0&0019"


def cim(**parts):
    controllers = [
        {
            "Name": "NVIDIA GeForce RTX 4090\0",
            "PNPDeviceID": PNP,
            "DriverVersion": "32.0.15.6094",
            "ConfigManagerErrorCode": 0,
            "qwMemorySize": 24 * GIB - 2**20,
        },
        {
            "Name": "Microsoft Basic Render Driver",
            "PNPDeviceID": r"ROOT\BASICRENDER\0000",
            "DriverVersion": "10.0.22621.1",
            "qwMemorySize": None,
        },
    ]
    system = {
        "Caption": "Майкрософт Windows 11 Pro",
        "Version": "10.0.22631",
        "TotalVisibleMemorySize": 33350000,
        "FreePhysicalMemory": 20000000,
        "TotalVirtualMemorySize": 35447152,
        "FreeVirtualMemory": 18000000,
    }
    told = {"Win32_VideoController": controllers, "Win32_OperatingSystem": system, **parts}
    return json.dumps(told, ensure_ascii=False)


def test_one_answer_tells_cards_system_and_memory(pasted):
    facts = pasted(
        cim(Win32_Processor={"Name": "AMD Ryzen 9 7950X 16-Core Processor ", "Architecture": 9, "NumberOfLogicalProcessors": 32})
    )
    (card,) = accelerators(facts)
    assert (card["name"], card["isa"], card["pci_id"], card["memory"]) == (
        "NVIDIA GeForce RTX 4090",
        "sm_89",
        "10de:2684",
        {"vram": 24 * GIB - 2**20},
    )
    assert [driver.version for driver in facts.of(Driver)] == ["560.94"]
    (memory,), (platform,), (distribution,) = facts.of(Memory), facts.of(Platform), facts.of(Distribution)
    assert (memory.total, memory.commit_limit, memory.commit_free) == (33350000 * 1024, 35447152 * 1024, 18000000 * 1024)
    assert (platform.system, platform.version, platform.architecture) == ("windows", "10.0.22631", "x86_64")
    assert (distribution.id, distribution.version) == ("windows", "11")


@pytest.mark.parametrize("value", [[0, 0, 0, 0, 6, 0, 0, 0], 24 * GIB])
def test_memory_is_a_number_or_its_bytes(pasted, value):
    told = json.dumps({"Name": "NVIDIA GeForce RTX 4090", "PNPDeviceID": PNP, "qwMemorySize": value})
    assert pasted(told).of(Gpu)[0].vram == 24 * GIB


@pytest.mark.parametrize("value", [None, -1, True, "much", [1, 2], [999] * 8, 4293918720.0, 2**60])
def test_memory_that_is_none_is_not_said(pasted, value):
    told = json.dumps({"Name": "NVIDIA GeForce RTX 4090", "PNPDeviceID": PNP, "qwMemorySize": value})
    assert not pasted(told).of(Gpu)[0].knows("vram")


def test_equal_cards_stay_two(pasted):
    one = {
        "Name": "AMD Radeon RX 7900 XTX",
        "PNPDeviceID": r"PCI\VEN_1002&DEV_744C&SUBSYS_0E3B1002&REV_C8\6&1",
        "DriverVersion": "32.0.21025.1024",
    }
    two = {**one, "PNPDeviceID": one["PNPDeviceID"].replace("6&1", "6&2")}
    assert len(accelerators(pasted(json.dumps([one, two])))) == 2


def test_the_visual_c_runtime_of_the_registry(pasted):
    facts = pasted(cim(VCRuntime={"Installed": 1, "Major": 14, "Minor": 38, "Bld": 33135}))
    assert [(one.name, one.version) for one in facts.of(SystemPackage)] == [("vc-runtime", "14.38.33135")]


def test_a_visual_c_runtime_that_the_registry_does_not_have(pasted):
    facts = pasted(cim(VCRuntime=None))
    assert [(one.name, one.state) for one in facts.of(SystemPackage)] == [("vc-runtime", "absent")]


def test_the_answer_is_read_on_a_machine_with_powershell(tree):
    argv = list(next(given.argv for given in _reader().inputs))
    facts = tree(
        {"/Windows/System32/WindowsPowerShell/v1.0/powershell.exe": ""}, commands=[{"argv": argv, "exit": 0, "stdout": cim(), "stderr": ""}]
    )
    assert [gpu.pci_id for gpu in facts.of(Gpu)] == ["10de:2684"]


def _reader():
    from rigup.machine.reader import READERS

    return READERS[cim_objects.__name__]


REGISTRY = f"""
{KEY}
    Class    REG_SZ    Display

{KEY}\\0000
    InfPath    REG_SZ    oem12.inf
    ProviderName    REG_SZ    Advanced Micro Devices, Inc.
    DriverVersion    REG_SZ    31.0.24027.1012
    MatchingDeviceId    REG_SZ    PCI\\VEN_1002&DEV_744C&REV_C8
    DriverDesc    REG_SZ    AMD Radeon RX 7900 XTX\\0
    HardwareInformation.qwMemorySize    REG_QWORD    0x5ff000000

{KEY}\\0000\\UMD
    Main3D    REG_SZ    1

{KEY}\\0001
    MatchingDeviceId    REG_SZ    pci\\ven_8086&dev_a780
    DriverVersion    REG_SZ    31.0.101.4502
    HardwareInformation.AdapterString    REG_BINARY    49006E00740065006C00280052002900200055004800440020004700720061007000680069006300730020003700370030000000
    HardwareInformation.MemorySize    REG_BINARY    00000080

{KEY}\\0002
    DriverDesc    REG_SZ    Microsoft Remote Display Adapter
    MatchingDeviceId    REG_SZ    terminput_bus
{KEY}\\Properties
ERROR: Access is denied.
"""


def test_the_registry_tells_cards_where_there_is_nothing_else(pasted):
    amd, intel = sorted(accelerators(pasted(REGISTRY)), key=lambda card: card["vendor"])
    assert (amd["name"], amd["isa"], amd["memory"]) == ("AMD Radeon RX 7900 XTX", "gfx1100", {"vram": 0x5FF000000})
    assert (intel["vendor"], intel["pci_id"]) == ("intel", "8086:a780")
    assert "UHD Graphics 770" in intel["name"]


def test_the_registry_is_asked_only_where_powershell_is_not(tree):
    argv = ["reg", "query", KEY.replace("HKEY_LOCAL_MACHINE", "HKLM"), "/s"]
    commands = [{"argv": argv, "exit": 0, "stdout": REGISTRY, "stderr": ""}]
    assert len(tree({"/Windows/System32/reg.exe": ""}, commands=commands).of(Gpu)) == 2


def test_libraries_and_toolkits_lie_in_their_places(tree):
    facts = tree(
        {
            "/Windows/System32/nvcuda.dll": "",
            "/Windows/System32/DriverStore/FileRepository/nv_dispi.inf_amd64_1/nvml.dll": "",
            "/Windows/System32/vcruntime140_1.dll": "",
            "/Program Files/AMD/ROCm/6.2/bin/x": "",
            "/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.4/x": "",
        }
    )
    assert {library.soname for library in facts.of(DriverLibrary)} == {"nvcuda.dll", "nvml.dll"}
    assert {(kit.name, kit.version) for kit in facts.of(Toolkit)} == {("hip-sdk", "6.2"), ("cuda", "12.4")}
    assert [one.name for one in facts.of(SystemPackage)] == ["vc-runtime"]
