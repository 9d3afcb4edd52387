"""A capture plays again: the same facts, looks and findings, after the same redaction. Nothing private is in it."""

import gzip
import json
import os
import stat
import tarfile

import pytest

from answer_data import answer
from packs import machine_folder, machine_names
from rigup.diagnosis.answer import Diagnosis
from rigup.diagnosis.judge import judged
from rigup.machine.archive import unpacked
from rigup.machine.capture import recorded, redacted, write
from rigup.machine.look import look
from rigup.machine.redaction import Redactor
from rigup.machine.sources import close_sources, open_source
from rigup.machine.tree import Tree

_EXCERPT = 150  # characters from which on a quoted line may be cut, and elsewhere than before


@pytest.fixture(autouse=True)
def nothing_left():
    yield
    close_sources()


def told(facts):
    return json.loads(json.dumps(answer(Diagnosis(facts, *judged(facts))), default=str))


def looks(facts, redactor=None):
    text = redactor.text if redactor else str
    return {(seen.kind.__name__, text(str(seen.place)), text(seen.source), seen.coverage, text(seen.trouble)) for seen in facts.looks}


def alike(one, two):
    """Equal, but for where long lines were cut: what stands in a name's place may be longer."""
    if isinstance(one, str) and isinstance(two, str) and min(len(one), len(two)) >= _EXCERPT:
        return one[: _EXCERPT // 2] == two[: _EXCERPT // 2]
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(alike(one[key], two[key]) for key in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(alike, one, two))
    return one == two


def assert_plays_again(path, archive):
    facts, kept = recorded(path)
    close_sources()
    redactor = Redactor()
    write(str(archive), redacted(kept, redactor), redactor.counts)
    again = look(open_source(str(archive)))
    live, replayed = json.loads(json.dumps(redactor.data(told(facts)))), told(again)
    for part in live:
        assert alike(live[part], replayed[part]), (part, live[part], replayed[part])
    assert looks(facts, redactor) == looks(again)


def test_this_machine_plays_again(tmp_path):
    assert_plays_again(None, tmp_path / "a.tar.gz")


@pytest.mark.long
@pytest.mark.parametrize("name", machine_names())
def test_each_of_our_machines_plays_again(name, tmp_path):
    assert_plays_again(str(machine_folder(name)), tmp_path / "a.tar.gz")


TREES = ["hwloc/*", "ghw-snapshots/*", "drm-sysfs/procfs-card0", "kfd/mi210-8x-xgmi-pcie", "kfd/mi308-32.tar.xz", "infiniband/procfs"]


@pytest.mark.slow
@pytest.mark.machines
@pytest.mark.parametrize("pattern", TREES)
def test_every_whole_tree_that_somebody_copied_plays_again(pattern, shared, tmp_path):
    found = sorted((shared / "machines").glob(pattern))
    assert found
    for number, path in enumerate(found):
        assert_plays_again(str(path), tmp_path / f"{number}.tar.gz")


@pytest.mark.slow
@pytest.mark.machines
def test_reports_of_known_machines_play_again(shared, tmp_path):
    rows = json.loads((shared / "machines/EXPECTED.json").read_text())
    assert rows
    for number, row in enumerate(rows[::7]):  # of every kind some
        assert_plays_again(str(shared / "machines" / row["path"]), tmp_path / f"{number}.tar.gz")


# -- what is in it ---------------------------------------------------------------------------------------
SECRETS = {
    "token": "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",
    "password": "Zp9!zeno",
    "person": "zeno",
    "box": "eleatic-box",
    "serial": "1320221012345",
    "uuid": "5c1a0fd2-4b7e-1e39-9a60-88f2d7c4e513",
    "mac": "3c:ec:ef:12:34:56",
    "address": "52.140.88.201",
    "mail": "zeno.elea@stoa.net",
    "variable": "lentils with onions",
    "odd": "Zk3jQ9vT2mLp8RbXy4WcN7dF1gHs6A",
    "key": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
}


@pytest.fixture
def planted(tmp_path):
    """A machine with private things in files, names, links, commands, variables, account and another place."""
    root = tmp_path / "machine"
    for folder in ("dev", "etc/systemd/system", "proc/sys/kernel", "home/zeno/.venv/bin", "sys/class/net", "places/docker-zeno/etc"):
        (root / folder).mkdir(parents=True)
    (root / "proc/sys/kernel/hostname").write_text(SECRETS["box"] + "\n")
    (root / "proc/version").write_text("Linux version 6.8.0-45-generic (x@y) (gcc) #45 SMP\n")
    (root / "etc/os-release").write_text("ID=ubuntu\nVERSION_ID=24.04\n")
    (root / "etc/group").write_text("video:x:44:zeno\nrender:x:109:\nzeno:x:1000:\n")
    unit = f'[Service]\nUser=zeno\nEnvironment="HF_TOKEN={SECRETS["token"]}" "DISH={SECRETS["variable"]}"\nExecStart=/home/zeno/x\n'
    (root / "etc/systemd/system/ollama.service").write_text(unit)
    (root / "home/zeno/.bashrc").write_text(
        f"export DB_PASSWORD='{SECRETS['password']}'\n# {SECRETS['odd']} {SECRETS['mail']}\n"
        f"-----BEGIN PRIVATE KEY-----\n{SECRETS['key']}\n-----END PRIVATE KEY-----\n"
    )
    (root / "home/zeno/.venv/pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.12.3\n")
    os.symlink("/home/zeno/.venv", root / "home/zeno/venv")
    smi = f"GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-{SECRETS['uuid']})\n"
    log = f"[1.0] usb 1-1: SerialNumber: {SECRETS['serial']}\n[2.0] eth0: {SECRETS['mac']} inet {SECRETS['address']}\n"
    said = [
        {"argv": ["nvidia-smi", "-L"], "exit": 0, "stdout": smi},
        {"argv": ["dmesg"], "exit": 0, "stdout": log},
        {"argv": ["ssh", "zeno@" + SECRETS["box"], "hf", "--token", SECRETS["token"]], "exit": 0, "stdout": "x"},
    ]
    (root / "commands.json").write_text(json.dumps(said))
    (root / "nodes.json").write_text(
        json.dumps(
            {
                "/dev/kfd": {
                    "type": "char",
                    "mode": "0660",
                    "owner": "root",
                    "group": "render",
                    "major": 235,
                    "minor": 0,
                    "acl": ["user:zeno:rw"],
                }
            }
        )
    )
    environment = {
        "PATH": "/home/zeno/bin:/usr/bin",
        "HF_TOKEN": SECRETS["token"],
        "DISH": SECRETS["variable"],
        "http_proxy": f"http://zeno:{SECRETS['password']}@proxy.stoa.net:3128",
        "HSA_XNACK": "1",
    }
    who = {"user": "zeno", "uid": 1000, "gid": 1000, "groups": ["zeno", "video"], "environment": environment}
    (root / "who.json").write_text(json.dumps(who))
    (root / "places/docker-zeno/etc/os-release").write_text("ID=debian\nVERSION_ID=12\n")
    return root


@pytest.fixture
def archive(planted, tmp_path):
    _facts, kept = recorded(str(planted))
    redactor = Redactor()
    write(str(tmp_path / "a.tar.gz"), redacted(kept, redactor), redactor.counts)
    return tmp_path / "a.tar.gz"


@pytest.mark.parametrize("thing", SECRETS)
def test_nothing_planted_gets_into_an_archive(thing, archive):
    everything = gzip.decompress(archive.read_bytes()).lower()
    assert SECRETS[thing].lower().encode() not in everything


def test_what_readers_need_is_in_it(archive):
    tree = Tree(unpacked(str(archive)))
    assert "HSA_XNACK=1" in tree.variables().body
    assert "NVIDIA A100-SXM4-40GB" in tree.run(("nvidia-smi", "-L")).body
    assert tree.listing("/dev/kfd").body == "crw-rw----+ 1 root render 0 /dev/kfd"
    assert {"major": 235, "minor": 0}.items() <= tree.nodes["/dev/kfd"].items()
    assert tree.account().body.count("user1") == 2


def test_the_same_person_is_the_same_in_files_names_and_the_account(archive):
    tree = Tree(unpacked(str(archive)))
    assert tree.find("/home/*") == ["/home/user1"]
    assert "User=user1" in tree.read("/etc/systemd/system/ollama.service").body
    assert tree.read("/etc/group").body == "video:x:44:user1\nrender:x:109:\nuser1:x:1000:\n"


def test_other_places_of_the_machine_are_kept_apart(archive):
    sources = open_source(str(archive))
    assert [source.place.world.partition(":")[0] for source in sources] == ["host", "container"]
    assert [source.host.read("/etc/os-release").body.partition("\n")[0] for source in sources] == ["ID=ubuntu", "ID=debian"]


def inside(archive):
    with tarfile.open(archive) as packed:
        members = [member for member in packed if "capture.json" not in member.name]
        return {m.name: (m.linkname, packed.extractfile(m).read() if m.isreg() else None) for m in members}


def test_a_capture_can_be_captured_again_and_stays_itself(archive, tmp_path):
    _facts, kept = recorded(str(archive))
    redactor = Redactor()
    write(str(tmp_path / "b.tar.gz"), redacted(kept, redactor), redactor.counts)
    one, two = inside(archive), inside(tmp_path / "b.tar.gz")
    assert one.keys() == two.keys()
    assert {name for name in one if one[name] != two[name]} == set()


def test_reports_are_packed_as_texts(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/node01-zeno.txt").write_text("zeno@eleatic-box:~$ nvidia-smi\nHF_TOKEN=" + SECRETS["token"] + "\n")
    (tmp_path / "in/wide.txt").write_bytes(("password: " + SECRETS["password"]).encode("utf-16"))
    _facts, kept = recorded(str(tmp_path / "in"))
    redactor = Redactor()
    write(str(tmp_path / "a.tar.gz"), redacted(kept, redactor), redactor.counts)
    (source,) = open_source(str(tmp_path / "a.tar.gz"))
    assert sorted(text.source for text in source.texts) == ["node01-user1.txt", "wide.txt"]
    assert not any(secret in text.body for text in source.texts for secret in SECRETS.values())


def test_an_archive_names_nobody_and_is_its_owners_alone(archive):
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    with tarfile.open(archive) as packed:
        assert {(member.uname, member.gname, member.uid, member.mtime) for member in packed} == {("", "", 0, 0)}
    assert archive.read_bytes()[3] == 0  # no file name in the head


def test_nothing_is_replaced_unless_it_is_asked_for(archive, tmp_path):
    _facts, kept = recorded(str(machine_folder("macbook")))
    before = archive.read_bytes()
    with pytest.raises(FileExistsError):
        write(str(archive), kept, {})
    assert archive.read_bytes() == before
    write(str(archive), kept, {}, replace=True)
    assert archive.read_bytes() != before
    assert not [name for name in os.listdir(archive.parent) if name.startswith(".rigup-")]


# -- answers that are no texts ---------------------------------------------------------------------------
class Awkward:
    """A host with everything that is not simply there."""

    def find(self, pattern):
        return [path for path in ("/x/locked", "/x/there") if pattern in (path, "/x/*")]

    def read(self, path, limit=0):
        from rigup.machine.host import Answer

        return {
            "/x/there": Answer("body"),
            "/x/locked": Answer(None, "refused", "Permission denied"),
            "/x/gone": Answer(None, "absent"),
        }.get(path, Answer(None, "unseen"))

    def link(self, path):
        return self.read(path)._replace(body=None, state="absent")

    def run(self, argv, seconds=5.0):
        from rigup.machine.host import Answer

        return {
            "late": Answer(None, "refused", "no answer in 5.0 s", 124),
            "none": Answer(None, "absent", exit=127),
            "bad": Answer("oh\n", exit=9),
        }.get(argv[0], Answer(None, "unseen"))

    def listing(self, pattern):
        from rigup.machine.host import Answer

        modes = {"/x/there": "-rwsr-x--- 1 ada users 0 /x/there", "/x/locked": "drwx------ 1 root root 0 /x/locked"}
        return Answer(modes[pattern]) if pattern in modes else Answer(None, "absent" if pattern == "/x/gone*" else "unseen")

    def variables(self):
        from rigup.machine.host import Answer

        return Answer("A=1\nB=two\nlines\n=odd\nA=again")

    def account(self):
        from rigup.machine.host import Answer

        return Answer("uid=1000(ada) gid=1000(ada) groups=1000(ada),44(video) context=x")

    def recorded(self):
        return []


QUESTIONS = [
    lambda host: host.find("/x/*"),
    lambda host: host.read("/x/there"),
    lambda host: host.read("/x/locked"),
    lambda host: host.read("/x/gone"),
    lambda host: host.read("/x/never"),
    lambda host: host.listing("/x/there"),
    lambda host: host.listing("/x/locked"),
    lambda host: host.listing("/x/gone*"),
    lambda host: host.run(("late", "-q")),
    lambda host: host.run(("none",)),
    lambda host: host.run(("bad",)),
    lambda host: host.run(("never",)),
    lambda host: host.variables(),
    lambda host: host.account(),
]


def test_absences_refusals_time_outs_and_exit_statuses_play_again(tmp_path):
    from rigup.machine.recorder import Recorder

    recorder = Recorder(Awkward())
    live = [ask(recorder) for ask in QUESTIONS]
    recorder.kept.write(str(tmp_path / "tree"))
    tree = Tree(str(tmp_path / "tree"))
    assert [ask(tree) for ask in QUESTIONS] == live


def test_a_file_that_is_taken_out_of_a_capture_is_absent_then(planted, tmp_path):
    from rigup.machine.recorder import Recorder

    recorder = Recorder(Tree(str(planted)))
    recorder.read("/etc/os-release")
    recorder.kept.write(str(tmp_path / "tree"))
    os.unlink(tmp_path / "tree/etc/os-release")
    assert Tree(str(tmp_path / "tree")).read("/etc/os-release").state == "absent"
    assert Tree(str(tmp_path / "tree")).read("/etc/never-asked").state == "unseen"
