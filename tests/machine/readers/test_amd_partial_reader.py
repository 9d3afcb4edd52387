"""Parts of answers about AMD's nodes, groups and variables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.kinds import Account, DeviceNode, Gpu, ModuleParameter, Variable
from rigup.machine.readers import amd_partial
from rigup.machine.texts import Text

_READERS = (
    amd_partial.asked_nodes,
    amd_partial.group_names_by_id,
    amd_partial.shown_environment,
    amd_partial.line_of_a_unit,
    amd_partial.limits_of_mapped_memory,
    amd_partial.names_in_a_list,
    amd_partial.names_alone,
)
_PIECES = st.sampled_from(
    [
        "  File: /dev/kfd\n",
        "Access: (0660/crw-rw----)  Uid: (    0/    root)   Gid: (  993/  render)\n",
        "stat -c '%A %U:%G' /dev/kfd\n",
        "crw-rw---- root:render\n",
        "660 root render\n",
        "$ id -nG\n",
        "ada video render\n",
        "systemctl show ollama -p Environment\n",
        "Environment=",
        "HSA_OVERRIDE_GFX_VERSION=10.3.0",
        "\n",
        "[Service]\n",
        "$ cat /sys/module/ttm/parameters/pages_limit\n",
        "29360128\n",
        "/etc/modprobe.d/ttm.conf:options ttm pages_limit=1\n",
        "['AMD Radeon(TM) Graphics', 'AMD Radeon RX 7900 XT']",
        "  Marketing Name:          AMD Radeon RX 7900 XTX\n",
        "\0",
        "é",
        "'",
        '"',
    ]
)


def told(reader, body, kind):
    facts = reader(Text("said.txt", body))
    return [{name: reading.value for name, reading in fact.fields.items()} for fact in facts if isinstance(fact, kind)]


@given(st.lists(_PIECES | st.text(max_size=8), max_size=40).map("".join))
def test_readers_take_any_text(body):
    for reader in _READERS:
        assert len(list(reader(Text("said.txt", body)))) <= len(body) + 1


@pytest.mark.parametrize(
    "body",
    [
        "  File: /dev/kfd\n  Size: 0  \tBlocks: 0\nDevice: 5h/5d\tInode: 9  Links: 1\nAccess: (0660/crw-rw----)  Uid: (    0/    root)   Gid: (  993/  render)\n",
        "$ stat -c '%A %U:%G' /dev/kfd\ncrw-rw---- root:render\n",
        "$ stat --format='%a %U %G' /dev/kfd\n660 root render\n",
    ],
)
def test_a_node_that_stat_tells(body):
    (node,) = told(amd_partial.asked_nodes, body, DeviceNode)
    assert node == {"path": "/dev/kfd", "mode": "crw-rw----", "owner": "root", "group": "render"}


def test_another_file_is_no_node():
    assert not told(amd_partial.asked_nodes, "$ stat -c '%A %U:%G' /etc/passwd\n-rw-r--r-- root:root\n", DeviceNode)


def test_groups_by_their_names():
    assert told(amd_partial.group_names_by_id, "$ id -nG ada\nada video render\n", Account) == [
        {"groups": ["ada", "video", "render"], "user": "ada"}
    ]


def test_what_a_unit_gives_its_service():
    shown = "$ systemctl show ollama -p Environment\nEnvironment=PATH=/usr/bin {}\n"
    (found,) = told(amd_partial.shown_environment, shown.format("HSA_OVERRIDE_GFX_VERSION=10.3.0"), Variable)
    assert found["value"] == "10.3.0"
    (none,) = told(amd_partial.shown_environment, shown.format("OLLAMA_HOST=0.0.0.0"), Variable)
    assert none["value"] is None


def test_a_line_of_a_unit_without_its_head():
    body = 'Environment="HSA_OVERRIDE_GFX_VERSION=11.0.0"\n'
    assert told(amd_partial.line_of_a_unit, body, Variable) == [{"name": "HSA_OVERRIDE_GFX_VERSION", "value": "11.0.0"}]
    assert not told(amd_partial.line_of_a_unit, "[Service]\n" + body, Variable)


def test_limits_that_run_and_that_are_written():
    running = told(amd_partial.limits_of_mapped_memory, "$ cat /sys/module/ttm/parameters/pages_limit\n27648000\n", ModuleParameter)
    written = told(amd_partial.limits_of_mapped_memory, "/etc/modprobe.d/ttm.conf:options ttm pages_limit=29360128\n", ModuleParameter)
    assert [one["name"] for one in running + written] == ["pages_limit", "pages_limit"]
    assert (str(running[0]["running"]), str(written[0]["configured"])) == ("27648000", "29360128")


def test_names_in_a_list_and_alone():
    pair = told(amd_partial.names_in_a_list, "['AMD Radeon(TM) Graphics', 'AMD Radeon RX 7900 XT']\n", Gpu)
    assert [one["runtime_index"] for one in pair] == [0, 1]
    assert pair[0]["integrated"] is True
    (card,) = told(amd_partial.names_alone, "  Marketing Name:          AMD Radeon RX 7900 XTX\n", Gpu)
    assert card["seen_by"] == "rocminfo"
