"""What is set in files that are known is taken out of them; what is not, a person is told to unset."""

import pytest

from answer_data import diagnosed
from rigup.machine.sources import open_source

_CARDS = {
    "/sys/class/kfd/kfd/topology/nodes/1/properties": "simd_count 192\ngfx_target_version 110000\nlocation_id 768\ndomain 0\ndevice_id 29772\nvendor_id 4098\n",
    "/sys/class/kfd/kfd/topology/nodes/1/gpu_id": "4711\n",
}


@pytest.fixture
def steps(tmp_path):
    """The first fix of a cause on a machine of such files, as kinds of steps with their files."""

    def made(files, cause="wrong-hsa-override"):
        for path, body in {**_CARDS, **files}.items():
            file = tmp_path / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body)
        (finding,) = [one for one in diagnosed(open_source(str(tmp_path)))["findings"] if one["cause"] == cause]
        fixes = [[(step["kind"], step["params"].get("file"), step["root"]) for step in fix["steps"]] for fix in finding["fixes"]]
        return fixes, finding

    return made


def test_each_file_that_sets_it_is_named_and_the_systems_need_root(steps):
    fixes, finding = steps(
        {"/home/ada/.bashrc": "export HSA_OVERRIDE_GFX_VERSION=gfx-1\n", "/etc/environment": "HSA_OVERRIDE_GFX_VERSION=gfx-1\n"}
    )
    assert fixes[0] == [
        ("take-out-variable-as-root", "/etc/environment", True),
        ("take-out-variable", "/home/ada/.bashrc", False),
        ("log-in-again", None, False),
    ]
    assert fixes[1] == [("unset-variable", None, False)]
    assert finding["fixes"][0]["steps"][1]["writes"] == ["/home/ada/.bashrc"]


def test_where_no_file_is_known_a_person_is_told(tmp_path):
    (tmp_path / "env.txt").write_text("PATH=/usr/bin:/bin\nHOME=/home/ada\nHSA_OVERRIDE_GFX_VERSION=gfx-1\n")
    found = diagnosed(open_source(str(tmp_path)))["findings"]
    kinds = [step["kind"] for one in found if one["cause"] == "wrong-hsa-override" for fix in one["fixes"] for step in fix["steps"]]
    assert kinds == ["unset-variable"]


@pytest.mark.parametrize("name", ["a\nb", "-rc"])
def test_a_file_of_an_odd_name_makes_no_command(steps, name):
    fixes, _finding = steps({f"/etc/profile.d/{name}.sh": "export HSA_OVERRIDE_GFX_VERSION=gfx-1\n"})
    assert all("\n" not in str(file) for fix in fixes for _kind, file, _root in fix)


_INTERFACES = "lo               UNKNOWN        127.0.0.1/8\nenp65s0f0np0     UP             10.20.0.11/24\n"
_FAILED = "node-a:3187:3187 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found\n"


def _kinds(tmp_path, text):
    (tmp_path / "said.txt").write_text(text)
    found = diagnosed(open_source(str(tmp_path / "said.txt")))["findings"]
    return [step["kind"] for one in found if one["cause"] == "multinode-wrong-interface" for fix in one["fixes"] for step in fix["steps"]]


def test_what_a_script_sets_at_each_start_is_changed_in_the_script(tmp_path):
    shown = "user@node-a:~$ grep export launch.sh\nexport NCCL_SOCKET_IFNAME=eth0\nuser@node-a:~$ ip -br addr\n" + _INTERFACES
    assert _kinds(tmp_path, shown + "user@node-a:~$ ./launch.sh\n" + _FAILED)[:2] == ["set-in-script-on-nodes", "take-out-of-script"]


def test_what_a_shell_sets_is_set_in_the_shell(tmp_path):
    shown = "user@node-a:~$ env | grep NCCL\nNCCL_SOCKET_IFNAME=eth0\nuser@node-a:~$ ip -br addr\n" + _INTERFACES
    assert _kinds(tmp_path, shown + "user@node-a:~$ python train.py\n" + _FAILED)[0] == "set-variable-on-nodes"
