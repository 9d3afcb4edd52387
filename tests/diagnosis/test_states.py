"""What is told of a device beside what is found."""

from answer_data import diagnose

_CARD = "17:00.0 VGA compatible controller: NVIDIA Corporation GV100 [TITAN V] (rev a1)\n"
_STUBS = "$ echo $LD_LIBRARY_PATH\n/opt/cuda/lib64:/opt/cuda/lib64/stubs\n"
_NOUVEAU = (
    "17:00.0 VGA compatible controller: NVIDIA Corporation GV100 [TITAN V] (rev a1)\n\tKernel driver in use: nouveau\n"
)


def _state(tmp_path, body):
    (tmp_path / "shown.txt").write_text(body)
    (device,) = diagnose(str(tmp_path))["machine"]["accelerators"]
    return device["state"], device["because"]


def test_a_card_of_which_nothing_is_told_is_expected_to_work(tmp_path):
    assert _state(tmp_path, _CARD)[0] == "expected"


def test_an_error_that_is_only_possible_puts_it_on_trial(tmp_path):
    state, because = _state(tmp_path, _CARD + _STUBS)
    assert state == "on-trial"
    assert "stub" in because


def test_an_error_that_is_known_says_that_it_will_not_work(tmp_path):
    silent = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n"
    assert _state(tmp_path, _NOUVEAU + silent)[0] == "no"


def test_a_torch_that_found_a_card_is_one_for_it_whatever_it_was_built_for(tmp_path):
    shown = "GPU available           Yes\nGPU 0                   GeForce GTX 1080 Ti (arch=6.1)\nPyTorch                 1.8.0 @/opt/torch\n"
    state, because = _state(tmp_path, "sys.platform            linux\n" + shown)
    assert state == "expected"
    assert "no torch" not in because


def test_what_a_program_asks_of_a_sound_machine_is_no_fault_of_the_card(tmp_path):
    failed = "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 147456, Hardware limit: 101376."
    assert _state(tmp_path, _CARD + failed + "\n")[0] == "expected"


def test_of_an_excerpt_nobody_says_that_there_is_no_torch(tmp_path):
    assert "torch" not in _state(tmp_path, _CARD)[1]
