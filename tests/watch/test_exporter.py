"""Series for Prometheus: names, labels, 503, tokens; and a real Prometheus that scrapes them."""

import json
import shutil
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager

import pytest
from watch_samples import gpu, process, sample

from rigup.watch import board
from rigup.watch.exporter import Exporter, Server
from rigup.watch.exposition import FAMILIES, Exposition

FULL = gpu(
    uuid="GPU-1",
    isa="sm_86",
    driver={"name": "nvidia", "version": "550"},
    throttle=["temperature"],
    energy=5.5,
    power={"draw": 100.0, "limit": 200},
    clock={"graphics": 1e9},
    fan={"rpm": 900, "speed": 0.5},
    pcie={"width": 8, "width_max": 16, "speed": 8e9, "speed_max": 16e9, "rx": 1.5, "tx": 2, "replays": 0},
    links=[{"kind": "nvlink", "index": 0, "rx": 5, "tx": 6, "up": True}],
    errors={"ecc_corrected": 0, "ecc_uncorrected": 2, "xid": [{"code": 79, "time": 5.0}]},
)


def lines(text: str) -> dict[str, float]:
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if not line.startswith("#")}


def test_a_sample_as_series() -> None:
    found = lines(Exposition().text(sample(gpus=[FULL], processes=[process()])))
    assert (
        found[
            'rigup_gpu_info{gpu="0000:00:00.0",index="0",uuid="GPU-1",vendor="amd",name="Card",isa="sm_86",driver="nvidia",driver_version="550"}'
        ]
        == 1
    )
    assert found['rigup_gpu_utilization_ratio{gpu="0000:00:00.0",engine="gpu"}'] == 0.5
    assert found['rigup_gpu_throttled{gpu="0000:00:00.0",reason="temperature"}'] == 1
    assert found['rigup_gpu_throttled{gpu="0000:00:00.0",reason="power"}'] == 0
    assert found['rigup_gpu_xid_errors_total{gpu="0000:00:00.0",xid="79"}'] == 1
    assert found['rigup_gpu_user_memory_bytes{gpu="0000:00:00.0",user="ada",job="77"}'] == 2**30
    assert not any("process" in name for name in found)
    assert {name.partition("{")[0] for name in found} >= set(FAMILIES) - {
        "rigup_gpu_state",
        "rigup_gpu_process_memory_bytes",
        "rigup_watch_read_errors_total",
        "rigup_gpu_memory_reserved_bytes",
    }


def test_what_is_not_known_has_no_series_and_a_lost_gpu_only_says_so() -> None:
    found = lines(Exposition().text(sample(gpus=[gpu(state="lost", because="gone")])))
    assert found['rigup_gpu_state{gpu="0000:00:00.0",state="lost"}'] == 1
    assert found['rigup_gpu_up{gpu="0000:00:00.0"}'] == 0
    assert not any(name.startswith(("rigup_gpu_power", "rigup_gpu_util")) for name in found)


def test_time_slowed_down_and_xids_are_counted_over_samples() -> None:
    exposition = Exposition()
    for number in range(3):
        text = exposition.text(sample(interval=2.0 if number else None, gpus=[FULL]))
    found = lines(text)
    assert found['rigup_gpu_throttled_seconds_total{gpu="0000:00:00.0",reason="temperature"}'] == 4
    assert found['rigup_gpu_xid_errors_total{gpu="0000:00:00.0",xid="79"}'] == 1


def test_words_cannot_make_a_line() -> None:
    nasty = process(command='a"} 1\nfake_metric 5 \\', user="x\ny")
    text = Exposition(per_process=True).text(sample(processes=[nasty]))
    assert not any(line.startswith("fake") for line in text.splitlines())
    assert 'user="x\\ny"' in text


@contextmanager
def serving(make, token: str = "", interval: float = 60.0):
    exporter = Exporter(make, interval)
    server = Server(exporter, "127.0.0.1", 0, token)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield exporter, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def get(address: str, token: str = "") -> tuple[int, str]:
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_before_the_first_sample_and_after_an_old_one_the_answer_is_503() -> None:
    with serving(lambda: sample(gpus=[FULL])) as (exporter, address):
        assert get(address + "/metrics")[0] == get(address + "/-/ready")[0] == 503
        exporter.take()
        assert get(address + "/metrics")[0] == get(address + "/-/ready")[0] == get(address + "/")[0] == 200
        exporter._page = exporter._page._replace(at=time.monotonic() - 1000)
        assert get(address + "/metrics") == (503, "the last sample is 1000 s old\n")
        assert get(address + "/other")[0] == 404


def test_a_sample_that_fails_leaves_the_one_before() -> None:
    answers = iter([sample(gpus=[FULL])])
    with serving(lambda: next(answers)) as (exporter, address):
        exporter.take()
        exporter.take()
        assert get(address + "/metrics")[0] == 200
        assert "StopIteration" in exporter.trouble


def test_a_token_is_asked_for() -> None:
    with serving(sample, token="0123456789abcdef") as (exporter, address):
        exporter.take()
        assert get(address + "/metrics")[0] == 401
        assert get(address + "/metrics", "0123456789abcdee")[0] == 401
        assert get(address + "/metrics", "0123456789abcdef")[0] == 200


def promtool(*words: str, text: str = "") -> None:
    if shutil.which("promtool") is None:
        pytest.skip("no promtool")
    done = subprocess.run(["promtool", *words], input=text, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.prometheus
def test_promtool_finds_nothing_to_say_of_the_series_and_the_rules(tmp_path) -> None:
    promtool("check", "metrics", text=Exposition(per_process=True).text(sample(gpus=[FULL, gpu(1, state="asleep")], processes=[process()])))
    (tmp_path / "alerts.yml").write_text(board.alerts())
    promtool("check", "rules", str(tmp_path / "alerts.yml"))
    (tmp_path / "prometheus.yml").write_text(board.scraping())
    promtool("check", "config", str(tmp_path / "prometheus.yml"))


@pytest.mark.prometheus
def test_alerts_are_raised_and_not_raised(tmp_path) -> None:
    (tmp_path / "alerts.yml").write_text(board.alerts())
    (tmp_path / "test.yml").write_text("""
rule_files: [alerts.yml]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {series: 'rigup_gpu_state{gpu="a", instance="i", state="lost"}', values: '1x60'}
      - {series: 'rigup_gpu_throttled_seconds_total{gpu="a", instance="i", reason="temperature"}', values: '0+30x60'}
      - {series: 'rigup_gpu_throttled_seconds_total{gpu="b", instance="i", reason="power"}', values: '0+60x60'}
      - {series: 'rigup_gpu_pcie_link_width{gpu="a", instance="i"}', values: '4x60'}
      - {series: 'rigup_gpu_pcie_link_width_max{gpu="a", instance="i"}', values: '16x60'}
      - {series: 'rigup_gpu_pcie_link_width{gpu="b", instance="i"}', values: '8x60'}
      - {series: 'rigup_gpu_pcie_link_width_max{gpu="b", instance="i"}', values: '16x60'}
    alert_rule_test:
      - {eval_time: 40m, alertname: GpuLost, exp_alerts: [{exp_labels: {severity: critical, gpu: a, instance: i, state: lost}, exp_annotations: {summary: "GPU a on i answers no more", description: "It fell off the bus, or its driver was unloaded. Run rigup doctor there."}}]}
      - {eval_time: 40m, alertname: GpuThrottled, exp_alerts: [{exp_labels: {severity: warning, gpu: a, instance: i}, exp_annotations: {summary: "GPU a on i is slowed down 50% of the time"}}]}
      - {eval_time: 40m, alertname: GpuLinkNarrow, exp_alerts: [{exp_labels: {severity: warning, gpu: a, instance: i}, exp_annotations: {summary: "The PCIe link of GPU a on i has 4 lanes"}}]}
      - {eval_time: 40m, alertname: GpuUncorrectedMemoryErrors, exp_alerts: []}
""")
    promtool("test", "rules", str(tmp_path / "test.yml"))


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@pytest.mark.prometheus
@pytest.mark.slow
def test_a_real_prometheus_scrapes_and_answers_what_the_board_asks(tmp_path) -> None:
    if shutil.which("prometheus") is None:
        pytest.skip("no prometheus")
    with serving(lambda: sample(gpus=[FULL], processes=[process()])) as (exporter, address):
        exporter.take()
        port, target = free_port(), address.removeprefix("http://")
        (tmp_path / "p.yml").write_text(
            board.scraping(int(target.rpartition(":")[2])).replace("15s", "500ms").replace("localhost", "127.0.0.1")
        )
        words = [
            "prometheus",
            f"--config.file={tmp_path / 'p.yml'}",
            f"--storage.tsdb.path={tmp_path / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as prometheus:
            try:
                found = _asked(port, 'rigup_gpu_utilization_ratio{engine="gpu"}')
                assert found[0]["value"][1] == "0.5"
                assert found[0]["metric"]["gpu"] == "0000:00:00.0"
                assert _asked(port, 'up{job="rigup"}')[0]["value"][1] == "1"
                for query in board.expressions():
                    _asked(port, query, wait=False)
            finally:
                prometheus.terminate()
                prometheus.wait(timeout=30)


def _asked(port: int, query: str, wait: bool = True):
    """What Prometheus answers, as soon as it has something."""
    words = urllib.parse.urlencode({"query": query})
    for _ in range(100):
        try:
            status, body = get(f"http://127.0.0.1:{port}/api/v1/query?{words}")
        except OSError:
            status, body = 0, ""
        if status == 200 and (not wait or json.loads(body)["data"]["result"]):
            return json.loads(body)["data"]["result"]
        assert status in (0, 200, 503), body
        time.sleep(0.2)
    raise AssertionError(query)


def test_the_board_is_of_series_that_there_are() -> None:
    text = board.board()
    assert json.loads(text)["panels"]
    names = {
        word
        for query in board.expressions()
        for word in query.replace("{", " ").replace("(", " ").replace("[", " ").split()
        if word.startswith("rigup_")
    }
    assert names
    assert names <= set(FAMILIES)


def test_dcgm_names_are_added_with_their_units_and_labels() -> None:
    card = gpu(
        0,
        vendor="nvidia",
        uuid="GPU-1",
        name="H100",
        utilisation={"gpu": 0.25},
        memory={"vram": {"total": 2**30, "used": 2**29, "reserved": 2**28}},
        energy=2.5,
        clock={"graphics": 1.41e9},
        errors={"xid": [{"code": 31, "time": 1.0}, {"code": 79, "time": 2.0}]},
    )
    text = Exposition(dcgm_host="node7").text(sample(gpus=[card, gpu(1, state="lost"), gpu(2, utilisation={}, temperature={}, power={})]))
    labels = 'gpu="0",UUID="GPU-1",pci_bus_id="0000:00:00.0",device="nvidia0",modelName="H100",Hostname="node7"'
    for line in (
        "GPU_UTIL{%s} 25",
        "FB_USED{%s} 512",
        "FB_FREE{%s} 256",
        "TOTAL_ENERGY_CONSUMPTION{%s} 2500",
        "SM_CLOCK{%s} 1410",
        "XID_ERRORS{%s} 79",
        "POWER_USAGE{%s} 100",
    ):
        assert "DCGM_FI_DEV_" + line % labels in text, line
    assert "DCGM_FI_DEV_MEMORY_TEMP{" not in text  # nobody told it
    assert not [line for line in text.splitlines() if line.startswith("DCGM") and ('gpu="1"' in line or 'GPU_UTIL{gpu="2"' in line)]
    assert "# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter" in text
    assert "rigup_gpu_up" in text
    assert "DCGM" not in Exposition().text(sample(gpus=[card]))
    assert "Hostname" not in Exposition(dcgm_host="").text(sample(gpus=[card]))


def test_an_exporter_that_has_both_names_is_read_as_one_set_of_gpus() -> None:
    from rigup.watch.scrape import sample_of

    text = Exposition(dcgm_host="node7").text(sample(gpus=[gpu(0), gpu(1)]))
    assert [card.pci_address for card in sample_of(text, 1.0).gpus] == ["0000:00:00.0", "0000:01:00.0"]


@pytest.mark.prometheus
@pytest.mark.skipif(shutil.which("promtool") is None, reason="no promtool")
def test_promtool_finds_no_fault_in_either_set_of_names() -> None:
    text = Exposition(dcgm_host="node7").text(sample(gpus=[gpu(0, energy=1.0, clock={"graphics": 1e9, "memory": 1e9})]))
    own = "".join(line + "\n" for line in text.splitlines() if "DCGM" not in line)
    assert subprocess.run(["promtool", "check", "metrics"], input=own, text=True, capture_output=True, check=False).returncode == 0
    parsed = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, check=False)
    assert "error while linting" not in parsed.stderr
    assert all("DCGM" in line for line in parsed.stderr.splitlines())  # what it says of their style is not ours to mend
