"""`rigup pull` from a hub on loopback: whole, broken off, wrong, full disk, two at once, stopped, killed, hostile."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "cli"))
import hub_server
import model_stores as stores
import msgspec
import pytest
from click.testing import CliRunner
from hostile import seen_on_terminals

from rigup import schemas
from rigup.cli import main
from rigup.cli import run as whole
from rigup.llm.hub import fetch
from rigup.llm.hub.wanted import is_safe

MODEL, OTHER = stores.gguf(1, layers=8), stores.gguf(2, layers=8)
BIG = stores.gguf(3, layers=60) + bytes(3 << 20)
TOKEN = "hf_notARealOne"
REPO = "some/tiny-GGUF"
NAME = "tiny-Q8_0.gguf"


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in [
        name
        for name in os.environ
        if name.startswith(("HF_", "HUGGING", "OLLAMA", "LLAMA_CACHE", "XDG_CACHE")) or name.lower().endswith("_proxy")
    ]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    monkeypatch.setattr(fetch, "WAITS", (0.01,) * 4)
    return tmp_path


@pytest.fixture
def hub(home, monkeypatch):
    with hub_server.hub() as made:
        made.repos[REPO] = {NAME: MODEL, "README.md": b"# tiny\n"}
        monkeypatch.setenv("HF_ENDPOINT", made.url)
        monkeypatch.setenv("RIGUP_OLLAMA_REGISTRY", made.url)
        yield made


def run(*words):
    return CliRunner().invoke(main, ["pull", *words], standalone_mode=False)


def pull(*words):
    done = run(*words, "--json")
    assert done.exception is None, (done.exception, done.output)
    (kind,) = schemas.types_of("pull")
    return msgspec.convert(json.loads(done.output), kind)


def fault(*words):
    done = run(*words)
    assert done.exception is not None, done.output
    return str(done.exception)


def cache(home):
    return home / ".cache/huggingface/hub"


def blob(home, content=MODEL, repo=REPO):
    return cache(home) / ("models--" + repo.replace("/", "--")) / "blobs" / stores.digest(content)


def loads(hub):
    """Requests for large files whole, or from some place on."""
    return [
        headers.get("Range")
        for command, path, headers, port in hub.seen
        if command == "GET" and port == hub.content.server_port and not (headers.get("Range") or "").split("-")[-1].isdigit()
    ]


# -- what comes, and where ---------------------------------------------------------------------------


def test_a_model_comes_into_the_cache_as_the_library_keeps_it(home, hub):
    told = pull(f"{REPO}:Q8_0")
    assert (told.verdict, told.name, told.fits, told.quantisation) == ("pulled", f"{REPO}/{NAME}", True, "F16")
    path = Path(told.path)
    assert path.read_bytes() == MODEL
    assert path == cache(home) / "models--some--tiny-GGUF/snapshots" / hub_server.COMMIT / NAME
    assert path.is_symlink()
    assert (cache(home) / "models--some--tiny-GGUF/refs/main").read_text() == hub_server.COMMIT
    from huggingface_hub import scan_cache_dir, try_to_load_from_cache

    assert try_to_load_from_cache(REPO, NAME, cache_dir=cache(home)) == str(path)
    assert scan_cache_dir(cache(home)).warnings == []
    assert pull(REPO).verdict == "there"


@pytest.mark.parametrize(
    "word",
    [
        REPO,
        f"{REPO}:q8_0",
        f"{REPO}/{NAME}",
        f"hf.co/{REPO}",
        f"hf://{REPO}/{NAME}",
        f"https://huggingface.co/{REPO}",
        f"https://huggingface.co/{REPO}/blob/main/{NAME}",
        f"https://huggingface.co/{REPO}/resolve/main/{NAME}?download=true",
        f"https://hf.co/{REPO}/tree/main",
    ],
)
def test_all_ways_to_name_a_model_mean_the_same_file(home, hub, word):
    assert pull(word, "--dry-run").name == f"{REPO}/{NAME}"
    assert not cache(home).exists()


def test_parts_come_together_with_what_sees_pictures(home, hub):
    keys, tensors = stores.ggufs.llama(width=64, layers=8, heads=2, shared=1, inner=128, words=256, length=32)
    head, size = stores.ggufs.header(keys, tensors[:9])
    other, more = stores.ggufs.header({"split.no": 1}, tensors[9:])
    files = {
        "b/x-Q4_K_M-00001-of-00002.gguf": head + bytes(size),
        "b/x-Q4_K_M-00002-of-00002.gguf": other + bytes(more),
        "mmproj-x-F16.gguf": b"m" * 20_000,
        "mmproj-x-Q8_0.gguf": b"m" * 15_000,
        "x-Q2_K.gguf": MODEL,
    }
    hub.repos["a/b"] = files
    told = pull("a/b")
    assert sorted(one.name for one in told.files) == sorted(list(files)[:3])
    from rigup.fit.judge import of_file

    assert of_file(Path(told.path)).file_bytes == sum(map(len, list(files.values())[:2]))


def test_of_safetensors_all_comes_but_the_same_weights_in_other_forms(home, hub):
    weights = len(b"{}").to_bytes(8, "little") + b"{}" + bytes(20_000)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "intermediate_size": 128,
        "vocab_size": 256,
    }
    hub.repos["a/b"] = {
        "config.json": json.dumps(config).encode(),
        "model.safetensors": weights,
        "tokenizer.json": b"{}",
        "pytorch_model.bin": bytes(30_000),
        "onnx/model.onnx": bytes(30_000),
        ".gitattributes": b"x",
        "checkpoint-5/model.safetensors": bytes(30_000),
    }
    told = pull("a/b")
    assert {one.name for one in told.files} == {"config.json", "model.safetensors", "tokenizer.json"}
    assert (Path(told.path) / "model.safetensors").read_bytes() == weights


def test_a_tag_of_ollama_comes_into_ollamas_store_in_its_form(home, hub):
    hub.tag("tiny:1b", MODEL, template=b"{{ .Prompt }}", license=b"free")
    told = pull("tiny:1b")
    assert (told.verdict, told.source) == ("pulled", "ollama")
    assert Path(told.path).read_bytes() == MODEL
    from rigup.llm.hub.on_disk import on_disk

    (entry,) = on_disk(os.environ).entries
    assert (entry.name, entry.state, len(entry.files)) == ("tiny:1b", "whole", 4)
    assert pull("tiny:1b").verdict == "there"


def test_a_name_that_means_nothing_loadable_is_refused(home, hub):
    assert "names no model" in fault("qwen3 8b")
    assert "no checksums" in fault("https://example.com/model.gguf")
    assert "no file of the type Q2_K" in fault(f"{REPO}:Q2_K")
    assert "no file other.gguf" in fault(f"{REPO}/other.gguf")
    assert "no branch" in fault(REPO, "--revision", "../x")


# -- what is here already ----------------------------------------------------------------------------


@pytest.mark.parametrize("whose", ["ollama", "lmstudio", "hf"])
def test_what_another_program_has_is_used_from_there(home, hub, whose):
    if whose == "ollama":
        stores.ollama(home / ".ollama/models", "mine:1b", MODEL)
    elif whose == "lmstudio":
        stores.put(home / ".lmstudio/models/x/other-name.gguf", MODEL)
    else:
        stores.hf(cache(home), "other/copy", {"copy.gguf": MODEL})
    told = pull(REPO)
    assert told.verdict == "there"
    assert Path(told.path).read_bytes() == MODEL
    assert loads(hub) == []
    assert pull(REPO, "--no-reuse").verdict == "pulled"


def test_a_file_of_the_same_size_and_other_bytes_is_not_taken_for_it(home, hub):
    stores.put(home / ".lmstudio/models/x/tiny-Q8_0.gguf", stores.gguf(9, layers=8))
    assert pull(REPO).verdict == "pulled"


# -- whether it fits ---------------------------------------------------------------------------------


def _small(monkeypatch, size):
    from rigup.fit.pools import host_pool

    monkeypatch.setattr("rigup.fit.where.pools_on", lambda _where: (host_pool(size, size),))


def test_what_does_not_fit_is_not_loaded_and_the_type_that_does_is_named(home, hub, monkeypatch):
    keys, tensors = stores.ggufs.llama(width=512, layers=8, heads=8, shared=2, inner=1536, words=2048, length=64, context=512)
    head, size = stores.ggufs.header(keys, tensors)
    hub.repos[REPO] = {"x-F16.gguf": head + bytes(size), "x-Q4_K_M.gguf": MODEL, "x-Q8_0.gguf": OTHER}
    _small(monkeypatch, 420 << 20)
    assert pull(f"{REPO}:F16", "--dry-run").fits is True
    from rigup.fit.judge import of_file

    whole = stores.put(home / "x.gguf", head + bytes(size))
    from rigup.fit.judge import requantised_as
    from rigup.fit.pools import host_pool
    from rigup.llm.hub.judging import judgement

    asked = of_file(whole)
    room = next(mib << 20 for mib in range(1, 4000) if judgement(requantised_as(asked, "Q4_K_M"), (host_pool(mib << 20, mib << 20),)).fits)
    _small(monkeypatch, room)
    done = run(f"{REPO}:F16", "--json")
    told = json.loads(done.output)
    assert (done.return_value, told["verdict"]) == (1, "does-not-fit")
    assert [(one["type"], one["fits"]) for one in told["others"] if one["type"] == "Q4_K_M"] == [("Q4_K_M", True)]
    assert not cache(home).exists()
    shown = run(f"{REPO}:F16")
    assert shown.return_value == 1
    assert "Q4_K_M" in shown.output
    assert pull(f"{REPO}:F16", "--yes").path.endswith("x-Q4_K_M.gguf")
    assert pull(f"{REPO}:F16", "--force").path.endswith("x-F16.gguf")


def test_on_a_terminal_the_type_that_fits_is_offered_and_a_no_loads_nothing(home, hub, monkeypatch):
    from rigup.llm.hub import pulling
    from rigup.llm.hub.pulling import Offer, Verdict
    from rigup.llm.hub.wanted import Choice

    hub.repos[REPO] = {"x-F16.gguf": OTHER, "x-Q4_K_M.gguf": MODEL}
    real = pulling.verdict

    def too_large(target, pools, headers):
        told = real(target, pools, headers)
        offer = Offer(Choice("x-Q4_K_M.gguf", "Q4_K_M", len(MODEL)), True, "cpu")
        large = msgspec.structs.replace(told.judgement, fits=False)
        return Verdict(large, "", (offer,)) if target.first == "x-F16.gguf" else told

    monkeypatch.setattr(pulling, "verdict", too_large)
    for typed, loaded in (("n\n", None), ("y\n", MODEL)):
        _status, out, err = seen_on_terminals(monkeypatch, ["pull", f"{REPO}:F16"], typed)
        assert "Load x-Q4_K_M.gguf instead?" in out + err
        assert (blob(home).read_bytes() if blob(home).exists() else None) == loaded
    assert not blob(home, OTHER).exists()


def test_how_far_it_is_at_which_rate_and_how_long_yet(monkeypatch):
    from rigup.cli import pull_report
    from rigup.llm.hub.fetch import Progress

    progress = Progress([])
    clock = iter((100.0, 100.0, 110.0, 110.0))
    monkeypatch.setattr(pull_report.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(pull_report.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    progress.total = 4_000_000_000
    coming = pull_report.Coming(progress, silent=False)
    assert coming.text() == "0 B of 4.0 GB (0 %)"
    progress.more(1_000_000_000)
    coming.shows()
    assert coming.text() == "1.0 GB of 4.0 GB (25 %), 100 MB/s, 30 s left"


def test_a_limit_tells_by_how_much_too_much_has_come(monkeypatch):
    unlimited = fetch.Progress([])
    clock = iter((100.0, 102.0))
    monkeypatch.setattr(fetch.time, "monotonic", lambda: next(clock))
    progress = fetch.Progress([], limit=1_000_000)
    progress.more(5_000_000)
    assert progress.ahead() == 3.0
    unlimited.more(5_000_000)
    assert unlimited.ahead() == 0.0


@pytest.mark.long
@pytest.mark.parametrize(("told", "rate"), [("500kB", 500_000), ("10MB/s", 10_000_000), ("1.5 GB", 1_500_000_000), ("2048", 2048)])
def test_a_rate_is_read_as_people_write_it(home, hub, monkeypatch, told, rate):
    seen = []
    real = fetch.Progress.__init__
    monkeypatch.setattr(fetch.Progress, "__init__", lambda self, pieces, limit=0: (seen.append(limit), real(self, pieces))[1])
    assert pull(REPO, "--limit", told).verdict == "pulled"
    assert seen == [rate]
    assert "no rate" in fault(REPO, "--limit", "much")


# -- breaks ------------------------------------------------------------------------------------------


def test_a_break_in_the_midst_goes_on_from_there(home, hub):
    hub.cuts = [len(MODEL) // 3, len(MODEL) // 3]
    assert Path(pull(REPO).path).read_bytes() == MODEL
    third = len(MODEL) // 3
    assert loads(hub) == [None, f"bytes={third}-", f"bytes={2 * third}-"]


def test_where_nothing_comes_any_more_what_came_stays_and_the_next_goes_on(home, hub):
    hub.cuts = [len(MODEL) // 2, *[0] * 20]
    assert "broke off after" in fault(REPO)
    assert not blob(home).exists()
    assert Path(f"{blob(home)}.incomplete").stat().st_size == len(MODEL) // 2
    hub.cuts = []
    hub.seen.clear()
    told = pull(REPO)
    assert [one.came_before for one in told.files] == [len(MODEL) // 2]
    assert loads(hub) == [f"bytes={len(MODEL) // 2}-"]
    assert Path(told.path).read_bytes() == MODEL


def test_a_connection_on_which_nothing_moves_is_left_for_another(home, hub, monkeypatch):
    monkeypatch.setattr(fetch, "_SECONDS", 0.5)
    go = threading.Event()

    def stall(sent):
        if sent > len(MODEL) // 2 and not go.is_set() and len(loads(hub)) == 1:
            go.wait(30)

    hub.on_way = stall
    told = pull(REPO)
    go.set()
    assert Path(told.path).read_bytes() == MODEL
    first, second = loads(hub)
    assert first is None
    assert int(second.removeprefix("bytes=").rstrip("-")) > 0


def test_what_came_whole_before_the_end_is_only_linked(home, hub):
    stores.put(blob(home), MODEL)
    told = pull(REPO)
    assert told.verdict == "pulled"
    assert told.to_come == 0
    assert loads(hub) == []
    assert Path(told.path).read_bytes() == MODEL


def test_a_host_without_ranges_sends_all_again(home, hub):
    hub.ranges = False
    hub.cuts = [len(MODEL) // 2]
    assert Path(pull(REPO).path).read_bytes() == MODEL


def test_a_host_that_is_busy_is_asked_again(home, hub):
    hub.busy = 3
    assert Path(pull(f"{REPO}/{NAME}").path).read_bytes() == MODEL


def test_a_wrong_checksum_leaves_nothing_that_looks_good(home, hub):
    hub.given = lambda content: content[:-4] + b"evil" if content == MODEL else content
    assert "checksum" in fault(REPO)
    folder = cache(home) / "models--some--tiny-GGUF"
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_what_had_come_before_and_was_spoilt_comes_anew(home, hub):
    spoilt = stores.put(Path(f"{blob(home)}.incomplete"), b"\0" * 5000)
    assert Path(pull(REPO).path).read_bytes() == MODEL
    assert not spoilt.exists()
    assert loads(hub) == ["bytes=5000-", None]


def test_small_files_are_checked_by_what_git_calls_them(home, hub):
    hub.given = lambda content: b"# evil\n" if content == b"# tiny\n" else content
    assert "checksum" in fault(f"{REPO}/README.md")


def test_a_hub_that_tells_two_checksums_is_not_believed(home, hub):
    small = b"# tiny\n"
    seen = []
    right = stores.git_blob(small)

    class Lies(dict):
        def __contains__(self, content):
            return content == small and bool(seen)

        def __getitem__(self, _content):
            return "0" * 40

    hub.lied = Lies()
    hub.on_way = lambda _sent: None
    told = hub.told_digest
    hub.told_digest = lambda content: (told(content), seen.append(1))[0] if content == small else told(content)
    assert right
    assert "two checksums" in fault(f"{REPO}/README.md")


def test_two_pulls_at_once_load_it_once(home, hub):
    begun, go = threading.Event(), threading.Event()

    def wait(_sent):
        begun.set()
        go.wait(20)

    hub.on_way = wait
    first = _child(home, REPO)
    assert begun.wait(30)
    second = _child(home, REPO)
    while True:  # it tells that it waits
        line = second.stderr.readline()
        assert line
        if b"waiting for it" in line:
            break
    go.set()
    for one in (first, second):
        _out, _err = one.communicate(timeout=60)
        assert one.returncode == 0, _err
    assert loads(hub) == [None]
    assert blob(home).read_bytes() == MODEL


def _child(home, *words):
    argv = [sys.executable, "-m", "rigup", "pull", *words]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopped_or_killed_it_goes_on_the_next_time(home, hub, how):
    hub.repos[REPO] = {NAME: BIG}
    half, go = threading.Event(), threading.Event()

    def wait(sent):
        if sent > len(BIG) // 2:
            half.set()
            go.wait(20)

    hub.on_way = wait
    child = _child(home, REPO)
    assert half.wait(60)
    partial = Path(f"{blob(home, BIG)}.incomplete")
    while not partial.exists() or not partial.stat().st_size:
        time.sleep(0.01)
    child.send_signal(how)
    go.set() if how == signal.SIGKILL else None
    _out, err = child.communicate(timeout=60)
    go.set()
    assert child.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}[how]
    assert b"Traceback" not in err
    assert how == signal.SIGKILL or b"goes on from there" in b" ".join(err.split())
    came = partial.stat().st_size
    assert 0 < came < len(BIG)
    assert not blob(home, BIG).exists()
    hub.on_way = lambda _sent: None
    hub.seen.clear()
    told = pull(REPO)
    assert told.files[0].came_before == came
    assert loads(hub) == [f"bytes={came}-"]
    assert Path(told.path).read_bytes() == BIG


# -- disks -------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path):
    """A disk of its own of twelve mebibytes."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(place)], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def test_what_has_no_room_is_refused_before_a_byte(home, hub, small_disk, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(small_disk))
    assert "are free" in fault(REPO)
    assert loads(hub) == []


def test_a_disk_that_fills_up_meanwhile_is_told_and_it_goes_on_later(home, hub, small_disk, monkeypatch):
    monkeypatch.setattr("rigup.llm.hub.pulling._ROOM", 0)
    hub.repos[REPO] = {NAME: BIG}
    assert len(BIG) < 12 << 20
    monkeypatch.setenv("HF_HOME", str(small_disk))
    filler = small_disk / "filler"

    def fill(_sent):
        if not filler.exists():
            with open(filler, "wb") as file:
                try:
                    while file.write(bytes(1 << 16)):
                        file.flush()
                        if small_disk.stat().st_dev and os.statvfs(small_disk).f_bavail < 500:
                            return
                except OSError:
                    return

    hub.on_way = fill
    said = fault(REPO)
    assert "is full" in said
    folder = small_disk / "hub/models--some--tiny-GGUF"
    partial = folder / "blobs" / f"{stores.digest(BIG)}.incomplete"
    came = partial.stat().st_size
    assert 0 < came < len(BIG)
    assert not (folder / "snapshots").exists()
    filler.unlink()
    hub.on_way = lambda _sent: None
    told = pull(REPO)
    assert told.files[0].came_before == came
    assert Path(told.path).read_bytes() == BIG


# -- strangers ---------------------------------------------------------------------------------------


def test_what_is_not_there_or_not_for_everybody_is_told(home, hub, monkeypatch):
    assert "no repository" in fault("no/body")
    hub.gated = TOKEN
    assert "accept its terms" in fault(REPO)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    hub.seen.clear()
    assert pull(REPO).verdict == "pulled"
    shown = {port: "Authorization" in headers or "authorization" in headers for _c, _p, headers, port in hub.seen}
    assert shown == {hub.front.server_port: True, hub.content.server_port: False}


def test_a_token_is_neither_printed_nor_shown_to_a_mirror(home, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert TOKEN not in fault(REPO)
    monkeypatch.setattr("rigup.knowledge.mirrors.mirrored", lambda name, kind: hub.url if (name, kind) == ("hf-mirror", "hub") else "")
    assert pull(REPO, "--mirror", "hf-mirror").verdict == "pulled"
    assert not any("authorization" in {name.lower() for name in headers} for _c, _p, headers, _port in hub.seen)
    assert "There is no mirror" in fault(REPO, "--mirror", "nobody")


def test_nobody_is_asked_or_told_more_than_the_model_needs(home, hub):
    pull(f"{REPO}/{NAME}")
    paths = {path for _command, path, _headers, port in hub.seen if port == hub.front.server_port}
    assert paths == {f"/api/models/{REPO}/revision/main", f"/{REPO}/resolve/{hub_server.COMMIT}/{NAME}"}
    told = {value for _c, _p, headers, _port in hub.seen for name, value in headers.items() if name.lower() == "user-agent"}
    assert all(one.startswith("rigup") and "torch" not in one and "agent" not in one for one in told), told


def test_where_nobody_answers_the_mirror_is_named(home, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    said = fault(REPO)
    assert "does not answer" in said
    assert "hf-mirror" in said


@pytest.mark.parametrize("name", ["../../../evil", "/etc/evil", "a/../../evil", "..\\evil", "a//evil", "evil\x1b[2J"])
def test_names_that_lead_out_of_the_folder_are_refused(home, hub, name):
    hub.repos["a/b"] = {"config.json": b'{"model_type": "llama"}', "model.safetensors": b"x" * 20_000, name + ".json": b"{}"}
    assert "leads out of its folder" in fault("a/b", "--force")
    assert list(home.rglob("*evil*")) == []
    hub.repos["a/b"] = {name + "-Q4_K_M.gguf": MODEL}
    assert "leads out of its folder" in fault("a/b", "--force")
    assert list(home.rglob("*evil*")) == []


def test_safe_names_are_those_that_every_system_takes():
    assert all(map(is_safe, ("a", "a/b.gguf", "Q4_K_M/x-00001-of-00002.gguf", "ü.gguf")))
    assert not any(map(is_safe, ("", ".", "a/..", "a./b", "c:d", "a\nb", "x" * 300, "/".join("a" * 2000))))


def _repo(siblings, sha=hub_server.COMMIT):
    return json.dumps({"id": "a/b", "sha": sha, "siblings": siblings})


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, "<html>Log in to the hotel's network</html>"),
        (200, "[]"),
        (200, "null"),
        (200, "{}"),
        (200, "[" * 100_000),
        (200, _repo([], 7)),
        (200, _repo([], "../../x")),
        (200, _repo(5)),
        (200, _repo([3, None, {}])),
        (200, _repo([{"rfilename": 3, "size": -1, "blobId": []}])),
        (200, _repo([{"rfilename": "x.gguf", "size": "9", "lfs": {"sha256": "../x", "size": 9}}])),
        (500, ""),
        (429, ""),
        (403, ""),
        (404, ""),
        (418, "{"),
    ],
)
def test_whatever_a_hub_answers_ends_in_a_sentence(home, hub, capsys, status, body):
    hub.api = (status, body.encode())
    assert whole(["pull", "a/b"]) in (1, 2)
    told = capsys.readouterr().err
    assert "rigup itself has a fault" not in told
    assert told.strip()
    assert not cache(home).exists()


@pytest.mark.parametrize("away", ["ftp://127.0.0.1/x", "http://[::1", "http://127.0.0.1:9/x", "file:///etc/passwd", "//", "x" * 9000])
def test_wherever_a_hub_leads_ends_in_a_sentence(home, hub, capsys, away):
    hub.away = away
    assert whole(["pull", REPO, "--force"]) == 1
    told = capsys.readouterr().err
    assert "rigup itself has a fault" not in told
    assert told.strip()
    assert not blob(home).exists()


def test_a_cache_that_cannot_be_written_is_told(home, hub, monkeypatch):
    stores.put(home / "file", b"in the way")
    monkeypatch.setenv("HF_HOME", str(home / "file"))
    assert "cannot be written" in fault(REPO)


def test_several_files_that_are_stopped_together_all_go_on(home, hub):
    parts = {f"x-{number}.safetensors": stores.gguf(number, layers=60) for number in range(6)}
    hub.repos["a/b"] = {"config.json": b'{"model_type": "llama"}', **parts}
    size = len(parts["x-0.safetensors"])
    half, go = threading.Event(), threading.Event()

    def wait(sent):
        if sent > 3 * size // 2:
            half.set()
            go.wait(20)

    hub.on_way = wait
    child = _child(home, "a/b", "--force")
    assert half.wait(60)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    go.set()
    assert child.returncode == 130
    came = sum(path.stat().st_size for path in cache(home).rglob("blobs/*"))
    assert 0 < came < 6 * size
    hub.on_way, hub.sent = lambda _sent: None, 0
    told = pull("a/b")
    assert sum(one.came_before for one in told.files) >= came - 100
    assert hub.sent <= 6 * size - came + 1000 + 6 * 65536
    assert [(Path(told.path) / name).read_bytes() == content for name, content in parts.items()] == [True] * 6


def test_a_link_in_place_of_the_partial_file_is_not_followed(home, hub):
    mine = stores.put(home / "mine", b"precious")
    partial = Path(f"{blob(home)}.incomplete")
    partial.parent.mkdir(parents=True)
    partial.symlink_to(mine)
    assert "cannot be written" in fault(REPO)
    assert mine.read_bytes() == b"precious"


def test_without_the_library_it_is_said_what_to_install(home, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert "pip install 'rigup[llm]'" in fault(REPO)


@pytest.mark.parametrize("word", [REPO, "tiny:1b"])
def test_what_is_being_loaded_is_not_removed(home, hub, word):
    hub.tag("tiny:1b", MODEL)
    half, go = threading.Event(), threading.Event()

    def wait(_sent):
        half.set()
        go.wait(20)

    hub.on_way = wait
    child = _child(home, word)
    assert half.wait(60)
    partial = Path(f"{blob(home)}.incomplete")
    if word == "tiny:1b":
        partial = home / f".ollama/models/blobs/sha256-{stores.digest(MODEL)}-partial"
    while not partial.exists():
        time.sleep(0.01)
    done = CliRunner().invoke(main, ["models", "remove", str(partial), "--yes"], standalone_mode=False)
    go.set()
    assert "being loaded" in str(done.exception)
    child.communicate(timeout=60)
    assert child.returncode == 0
