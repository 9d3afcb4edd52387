"""A run that came to a good end got over what its log called failed; a program that ended with an error did not."""

import pytest

from answer_data import diagnose

LOG = "worker: could not open /opt/site/plugins.d: no such directory, going on without\n"
SLURM = "$ sacct -j 771 --format=JobID,State,ExitCode,Elapsed\n771           COMPLETED      0:0   01:12:40\n"
KERAS = "Epoch 2/2\n938/938 ━━━━━━━━━━━━━━━━━━━━ 4s 4ms/step - accuracy: 0.9711 - loss: 0.0951\n"
TRAINER = "{'train_runtime': 412.7, 'train_samples_per_second': 24.2, 'train_steps_per_second': 1.51, 'train_loss': 0.4127, 'epoch': 2.0}\n"
SERVED = 'INFO:     127.0.0.1:41220 - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
SPOKEN = "[00:00.000 --> 00:03.600]  The second lamp is on.\n[00:03.600 --> 00:07.120]  Please switch it off.\n"
ENDS = {"slurm": SLURM, "keras": KERAS, "transformers": TRAINER, "server": SERVED, "whisper": SPOKEN}


def verdict(text, tmp_path):
    file = tmp_path / "paste.txt"
    file.write_text(text, encoding="utf-8")
    return diagnose(str(file))


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_what_a_log_calls_failed_before_a_good_end_was_got_over(end, tmp_path):
    answer = verdict("$ python run.py\n" + LOG + end, tmp_path)
    assert answer["verdict"] == "healthy"
    assert any(message["works"] for message in answer["harmless"])


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_without_the_end_nobody_knows_whether_it_was(end, tmp_path):
    assert verdict("$ python run.py\n" + LOG, tmp_path)["verdict"] == "unknown"


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_what_fails_behind_a_good_end_counts(end, tmp_path):
    assert verdict("$ python run.py\n" + end + "$ python run.py --again\n" + LOG, tmp_path)["verdict"] != "healthy"


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_program_that_ended_with_an_error_is_not_made_good_by_another_that_ended_well(end, tmp_path):
    stop = 'Traceback (most recent call last):\n  File "run.py", line 3, in <module>\nsite.PluginError: no plug-in\n'
    assert verdict("$ python run.py\n" + stop + "$ python other.py\n" + end, tmp_path)["verdict"] != "healthy"


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_somebody_who_says_what_goes_ill_is_not_told_that_all_is_well(end, tmp_path):
    assert verdict("It runs, but it is very slow and hangs for minutes.\n\n$ python run.py\n" + end, tmp_path)["verdict"] != "healthy"


def test_a_loss_that_is_no_number_is_no_good_end(tmp_path):
    assert not any(message["works"] for message in verdict(KERAS.replace("0.0951", "nan"), tmp_path).get("harmless", []))


def test_a_list_of_the_processor_for_comparison_is_no_missing_provider(tmp_path):
    listed = "> python bench.py dml\n['DmlExecutionProvider', 'CPUExecutionProvider']\nmean 6.1 ms\n"
    alone = "> pip list\nonnxruntime-directml    1.20.1\n> python bench.py cpu\n['CPUExecutionProvider']\nmean 51.0 ms\n"
    causes = {finding["cause"] for finding in verdict(listed + alone, tmp_path)["findings"]}
    assert "directml-module-missing" not in causes
    assert "directml-module-missing" in {finding["cause"] for finding in verdict(alone, tmp_path)["findings"]}


def test_a_torch_for_the_processor_is_right_where_somebody_says_that_there_is_no_card(tmp_path):
    shown = '$ python -c "import torch; print(torch.__version__, torch.cuda.is_available())"\n2.8.0+cpu False\n'
    assert verdict("My laptop has no graphics card, only the CPU.\n\n" + shown, tmp_path)["findings"] == []
    assert verdict(shown, tmp_path)["findings"][0]["cause"] == "cpu-only-torch"


def test_what_is_left_of_a_failed_command_of_modprobe_names_no_cause_of_its_own(tmp_path):
    left = "module nvidia: retcode 1\nmodprobe: ERROR: could not insert 'nvidia': Invalid argument\n"
    failed = (
        "modprobe: ERROR: ../libkmod/libkmod-module.c:1047 command_do() Error running install command 'modprobe -i nvidia-current ' for "
    )
    assert verdict(f"$ sudo modprobe nvidia\n{failed}{left}", tmp_path)["findings"] == []
    built = verdict("$ sudo modprobe nvidia\nmodprobe: ERROR: could not insert 'nvidia': Exec format error\n", tmp_path)["findings"]
    assert built[0]["cause"] == "kernel-module-not-built"


ROW = "   536870912     134217728     float     sum      -1   5811.2   92.39   92.39      0   5809.8   92.41   92.41      0\n"
FINITE = "$ python -c \"import torch; a=torch.rand(64,64,device='xpu'); print(torch.__version__, (a@a).isfinite().all().item())\"\n"
QUERY = "index, temperature.gpu, power.draw [W], utilization.gpu [%]\n"
TABLE = "| N/A   {degrees}C    P{state}             {watts}W /  115W |    6871MiB /   8188MiB |     {load}%      Default |\n"
SMI = "0    71.0c           {watts}W  2371Mhz  1249Mhz  44.31%  auto  303.0W   78%   {load}%\n"
DUMP = "Timestamp, DeviceId, GPU Utilization (%), GPU Power (W)\n19:20:31.000,    0, {load}, 141.20\n"
PODS = "NAME             READY   STATUS      RESTARTS   AGE\n"
SESSION = "session providers: ['{name}ExecutionProvider', 'CPUExecutionProvider']\nbatch 8: {ms} ms\n"
MEASURED = {
    "checked collectives": (
        ROW + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 92.41\n",
        ROW + "# Out of bounds values : 8 FAILED\n# Avg bus bandwidth    : 92.41\n",
    ),
    "collectives that nobody checked": (
        ROW + "# Out of bounds values : 0 OK\n",
        ROW.replace("0\n", "N/A\n") + "# Out of bounds values : 0 OK\n",
    ),
    "a rate": ("xpu:0 bf16 matmul: 3.1 ms, 44.3 TFLOP/s, isfinite=True\n", "xpu:0 bf16 matmul: 3.1 ms, 44.3 TFLOP/s, isfinite=False\n"),
    "a rate of none": ("cuda:1 fp16 44.3 TFLOP/s\n", "cuda:1 fp16 0.0 TFLOP/s\n"),
    "a time": ("dml : mean 6.1 ms  p95 6.6 ms\n", "dml : mean nan ms  p95 nan ms\n"),
    "a time of the processor": ("200 runs: mean 12.1 ms  p50 11.8 ms\n", "200 runs: mean 0.0 ms  p50 0.0 ms\n"),
    "a finite result": (FINITE + "2.8.0+xpu True\n", FINITE + "2.8.0+xpu False\n"),
    "a session": (SESSION.format(name="CUDA", ms=3.1), SESSION.format(name="CUDA", ms="3.1 (failed)").replace("3.1 (", "(")),
    "load of nvidia's": (QUERY + "0, 66, 351.20 W, 98 %\n", QUERY + "0, 36, 21.20 W, 0 %\n"),
    "load in nvidia's table": (
        TABLE.format(degrees=69, state=0, watts=97, load=98),
        TABLE.format(degrees=39, state=8, watts=11, load=" 0"),
    ),
    "load of amd's": (SMI.format(watts="289.0", load=100), SMI.format(watts="11.0", load=0)),
    "load of intel's": (DUMP.format(load=97.81), DUMP.format(load="0.00")),
    "a pod": (
        PODS + "cuda-vectoradd   0/1     Completed   0          3m10s\n",
        PODS + "cuda-vectoradd   0/1     Error       0          3m10s\n",
    ),
}


@pytest.mark.parametrize(("good", "bad"), MEASURED.values(), ids=MEASURED)
def test_what_was_measured_is_named_as_seen_to_work_and_what_is_nought_or_no_number_is_not(good, bad, tmp_path):
    assert any(message["works"] for message in verdict(good, tmp_path)["harmless"])
    assert not any(message["works"] for message in verdict(bad, tmp_path).get("harmless", []))


def test_a_pod_that_is_done_does_not_make_good_one_that_crashes(tmp_path):
    done = "nvidia-cuda-validator-8fz2m     0/1     Completed          0             41m\n"
    crashes = "nvidia-dcgm-exporter-kq7bb      0/1     CrashLoopBackOff   12 (2m ago)   41m\n"
    assert verdict(PODS + done, tmp_path)["verdict"] == "healthy"
    assert verdict(PODS + done + crashes, tmp_path)["verdict"] != "healthy"
    assert verdict(PODS + crashes + done, tmp_path)["verdict"] != "healthy"
