"""What podman told of itself is taken again while nothing changes on which it depends, and never after."""

import json
import os
import time

import pytest
from machine_here import Machine

from rigup.container.engines import asking

INFO = "podman info --format json"
BOOT = "/proc/sys/kernel/random/boot_id"


def told(runtime="crun", rootless=True, remote=False, ids=2):
    host = {
        "ociRuntime": {"name": runtime},
        "security": {"rootless": rootless},
        "serviceIsRemote": remote,
        "idMappings": {"uidmap": [{"size": 1}] * ids},
    }
    return json.dumps({"host": host, "version": {"Version": "5.5.2"}})


@pytest.fixture
def machine(tmp_path):
    machine = Machine(tmp_path / "root", tmp_path / "home", {INFO: told()})
    files = {
        "/usr/bin/podman": "#!",
        BOOT: "a1\n",
        "/proc/self/uid_map": "0 0 4294967295\n",
        "/etc/subuid": "ada:100000:65536\n",
        "/etc/passwd": "ada\n",
        "/usr/share/containers/containers.conf": "",
        "/run/user/1000/libpod/tmp/pause.pid": "77",
        "/proc/77/uid_map": "0 1000 1\n1 100000 65536\n",
        "/usr/local/bin/tool": "",
        "/usr/libexec/podman/netavark": "",
    }
    for path, text in files.items():
        machine.put(path, text)
    return machine


def engine_of(machine):
    """What a `rigup container` that starts now takes podman for, and whether podman was asked."""
    machine.look_anew()
    before = machine.asked.count(INFO)
    engine = next((engine for engine in asking(machine)() if engine.name == "podman"), None)
    return engine, machine.asked.count(INFO) > before


def test_it_is_asked_once(machine):
    first, asked = engine_of(machine)
    assert asked
    assert (first.version, first.oci_runtime, first.rootless, first.more_ids) == ("5.5.2", "crun", True, True)
    assert engine_of(machine) == (first, False)


CHANGES = {
    "another podman": lambda machine: machine.put("/usr/bin/podman", "#?"),
    "a podman that is found first": lambda machine: machine.put("/usr/local/bin/podman", "#!"),
    "a runtime that came": lambda machine: machine.put("/usr/bin/runc", ""),
    "a helper that went": lambda machine: machine.remove("/usr/libexec/podman/netavark"),
    "the distribution's configuration": lambda machine: machine.put("/usr/share/containers/containers.conf", "[engine]"),
    "the administrator's configuration": lambda machine: machine.put("/etc/containers/containers.conf", "[engine]"),
    "a piece of the configuration": lambda machine: machine.put("/etc/containers/containers.conf.d/9.conf", "[engine]"),
    "the account's configuration": lambda machine: machine.put(
        machine.environment["HOME"] + "/.config/containers/containers.conf", "[engine]"
    ),
    "where images lie": lambda machine: machine.put("/etc/containers/storage.conf", "[storage]"),
    "a file that a variable names": lambda machine: machine.environment.update(CONTAINERS_CONF="/opt/own.conf"),
    "the account's numbers": lambda machine: machine.put("/etc/subuid", "ada:200000:65536\n"),
    "the numbers in force": lambda machine: machine.put("/proc/77/uid_map", "0 1000 1\n"),
    "another process holds them": lambda machine: machine.put("/run/user/1000/libpod/tmp/pause.pid", "78"),
    "another name space": lambda machine: machine.put("/proc/self/uid_map", "0 1000 1\n"),
    "the kernel forbids it": lambda machine: machine.put("/proc/sys/user/max_user_namespaces", "0\n"),
    "another boot": lambda machine: machine.put(BOOT, "b2\n"),
    "another account": lambda machine: setattr(machine, "identity", "uid=1001(bob) gid=1001(bob) groups=1001(bob)"),
    "a service elsewhere": lambda machine: machine.environment.update(CONTAINER_HOST="ssh://far/podman.sock"),
    "other places for programs": lambda machine: machine.environment.update(PATH="/usr/bin"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_asked_again_after(machine, change):
    engine_of(machine)
    machine.programs[INFO] = told("runc", ids=1)
    CHANGES[change](machine)
    engine, asked = engine_of(machine)
    assert asked
    assert (engine.oci_runtime, engine.more_ids) == ("runc", False)


def test_a_file_that_a_variable_names_counts_with_what_it_holds(machine):
    machine.environment["CONTAINERS_CONF"] = "/opt/own.conf"
    machine.put("/opt/own.conf", "[engine]")
    engine_of(machine)
    machine.put("/opt/own.conf", "[engine]\nruntime='runc'")
    assert engine_of(machine)[1]


def test_what_does_not_matter_costs_nothing(machine):
    engine_of(machine)
    machine.environment["EDITOR"] = "vi"
    machine.put("/home/ada/notes", "")
    assert not engine_of(machine)[1]


def test_answers_for_several_environments_are_kept_beside_each_other(machine):
    engine_of(machine)
    machine.environment["PATH"] = "/usr/bin"
    engine_of(machine)
    machine.environment["PATH"] = "/usr/local/bin:/usr/bin"
    assert not engine_of(machine)[1]


def kept_file(machine):
    return os.path.join(machine.environment["HOME"], ".cache", "rigup", "podman.json")


def altered(machine, change):
    with open(kept_file(machine)) as file:
        rows = json.load(file)
    for row in rows.values():
        change(row)
    with open(kept_file(machine), "w") as file:
        json.dump(rows, file)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda machine: altered(machine, lambda row: row.update(at=time.time() - 100_000)),
        lambda machine: altered(machine, lambda row: row.update(at=time.time() + 100_000)),
        lambda machine: altered(machine, lambda row: row["engine"].update(rootless="yes")),
        lambda machine: os.chmod(kept_file(machine), 0o666),
        lambda machine: os.truncate(kept_file(machine), 20),
        lambda machine: os.truncate(kept_file(machine), 200_000),
    ],
    ids=["old", "of the future", "of another form", "open to all", "cut", "long"],
)
def test_a_file_that_is_not_to_be_trusted_is_asked_past(machine, spoil):
    engine_of(machine)
    spoil(machine)
    engine, asked = engine_of(machine)
    assert asked
    assert engine.rootless is True


def test_nothing_is_kept_of_a_machine_elsewhere(machine):
    machine.programs[INFO] = told(remote=True)
    assert engine_of(machine)[0].flavour == "podman-machine"
    assert engine_of(machine)[1]


def test_nothing_is_kept_that_changed_while_podman_was_asked(machine):
    def changing():
        machine.put("/etc/subuid", f"ada:{time.monotonic_ns()}:65536\n")
        return told()

    machine.programs[INFO] = changing
    engine_of(machine)
    assert engine_of(machine)[1]


@pytest.mark.parametrize("lacking", [BOOT, "/usr/bin/podman"])
def test_nothing_is_kept_where_its_state_cannot_be_told(machine, lacking):
    machine.remove(lacking)
    engine_of(machine)
    assert engine_of(machine)[1]
    assert not os.path.exists(kept_file(machine))


def test_a_podman_that_does_not_answer_is_none_and_is_asked_again(machine):
    machine.programs[INFO] = "Error: cannot connect"
    assert engine_of(machine) == (None, True)
    assert engine_of(machine) == (None, True)


def test_a_home_that_nobody_may_write_is_only_slower(machine):
    machine.environment["HOME"] = "/proc/none"
    assert engine_of(machine)[0].version == "5.5.2"
    assert engine_of(machine)[1]
