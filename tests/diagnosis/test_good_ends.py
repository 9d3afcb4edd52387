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
