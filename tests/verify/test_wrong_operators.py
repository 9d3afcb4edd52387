"""Operators that are wrong in one type, one direction or one class of shapes: each is named, and its neighbours are not."""

import broken
import pytest

from answer_data import verified
from rigup.machine.store import Facts
from rigup.verify.child import Limits
from rigup.verify.observe import observe

pytestmark = pytest.mark.torch
PATIENT = Limits(start=300, check=300)
KERNELS = [
    ("gelu_backward", "-real", "a[1].dtype == torch.float16"),
    ("tanh_backward", "-real", "True"),
    ("_softmax", "real * 1.01", "a[0].shape[-1] > 512 and a[0].dtype == torch.float32"),
    ("_log_softmax_backward_data", "real * 2", "a[0].dtype == torch.float64"),
    ("native_layer_norm", "(real[0] + 0.5, real[1], real[2])", "a[0].shape[-1] % 2 and a[0].dtype == torch.bfloat16"),
    ("max_pool2d_with_indices", "(real[0] * 0.5, real[1])", "a[0].dtype == torch.float32"),
    ("embedding_dense_backward", "real * 0", "True"),
    ("sort.stable", "(real[0], torch.flip(real[1], [-1]))", "a[0].dtype == torch.float32"),
    ("bmm", "torch.flip(real, [0])", "a[0].shape[0] > 1 and a[0].dtype == torch.float64"),
    ("cumsum", "real + 1", "a[0].shape[0] > 1000"),
]
NAMED = [
    ("activations", "gelu backward in float16"),
    ("activations", "tanhshrink backward"),
    ("softmax", "softmax of long rows forward in float32"),
    ("softmax", "log_softmax over dimension 0 backward in float64"),
    ("normalization", "layer_norm of rows of 33 forward in bfloat16"),
    ("pooling", "max_pool2d (2, 2, 0) of 3 channels forward in float32"),
    ("embedding", "embedding of 6 backward in float32"),
    ("sorting", "argsort of rows of 17 forward in float32"),
    ("products", "bmm forward in float64"),
    ("reductions", "cumsum of a long row forward in float32"),
]
RIGHT = [
    ("activations", "gelu backward in float32"),
    ("softmax", "softmax of long rows forward in float64"),
    ("pooling", "avg_pool2d"),
    ("products", "mm forward"),
]


def seen(torch_python, folder, body, *only, devices=()):
    """What the probe found under a changed torch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", "")
        for name, value in broken.build(folder, body).items():
            patch.setenv(name, value)
        return verified(
            observe(torch_python, list(devices), False, PATIENT, only=only, frameworks=("torch",), more=broken.UNHURRIED),
            {},
            Facts(),
            False,
            list(devices),
        )


def checks(answer, device="cpu"):
    """torch's checks of a device by name: NumPy beside it has some of the same names."""
    every = [check for each in answer["devices"] for check in each["checks"] if check["framework"] == "torch"]
    return {check["name"]: check for check in every if check["device"] == device}


@pytest.fixture(scope="module")
def wrong(torch_python, tmp_path_factory):
    """A torch with all of these at once: each shows in a check of its own."""
    body = "\n    ".join(broken.kernel(*kernel).strip() for kernel in KERNELS)
    names = dict.fromkeys(check for check, _name in NAMED)
    return checks(seen(torch_python, tmp_path_factory.mktemp("wrong"), body, *names))


@pytest.mark.parametrize(("check", "name"), NAMED)
def test_a_wrong_kernel_is_named_with_type_and_direction(wrong, check, name):
    assert wrong[check]["passed"] is False
    assert any(name_.startswith(name) for name_ in wrong[check]["measured"]["failed"])
    assert wrong[check]["because"].startswith("Wrong results: ")


@pytest.mark.parametrize(("check", "name"), RIGHT)
def test_its_neighbours_are_not_accused(wrong, check, name):
    assert not any(name_.startswith(name) for name_ in wrong[check]["measured"]["failed"])


PATCHED = {
    "a mask that is ignored": (
        (
            "real_attention = torch.nn.functional.scaled_dot_product_attention; torch.nn.functional.scaled_dot_product_attention = "
            "lambda q, k, v, is_causal=False, **more: real_attention(q, k, v, **more)"
        ),
        "attention",
        "causal attention forward",
    ),
    "a convolution that gives zeros": (
        "real_conv2d = torch.nn.functional.conv2d; torch.nn.functional.conv2d = lambda *a, **k: real_conv2d(*a, **k) * 0",
        "convolution",
        "conv2d by",
    ),
    "an optimizer without its decay": (
        (
            "import torch.optim; real_AdamW = torch.optim.AdamW; "
            "torch.optim.AdamW = lambda *a, weight_decay=0, **k: real_AdamW(*a, weight_decay=0, **k)"
        ),
        "optimizers",
        "AdamW forward",
    ),
    "a dropout of another rate": (
        (
            "real_dropout = torch.nn.functional.dropout; torch.nn.functional.dropout = "
            "lambda x, p=0.5, training=True, inplace=False: real_dropout(x, p / 2, training)"
        ),
        "dropout",
        "the share that is kept",
    ),
}


@pytest.fixture(scope="module")
def replaced(torch_python, tmp_path_factory):
    """A torch with all of these functions replaced: each shows in a check of its own."""
    body = "\n    ".join(body for body, _check, _words in PATCHED.values())
    names = [check for _body, check, _words in PATCHED.values()]
    return checks(seen(torch_python, tmp_path_factory.mktemp("replaced"), body, *names))


@pytest.mark.parametrize("name", PATCHED)
def test_a_function_that_was_replaced_is_named(replaced, name):
    _body, check, words = PATCHED[name]
    assert replaced[check]["passed"] is False
    assert words in replaced[check]["because"]


@pytest.mark.parametrize(
    "changes",
    [
        {"torch.Tensor.copy_ = lambda self, *a, **k: self": "copy_ of 1 float64", "torch.Tensor.fill_ = lambda self, *a: self": "fill_ of"},
        {"torch.clone = lambda x, **k: x": "clone, which is the same memory"},
    ],
    ids=["written", "cloned"],
)
def test_a_copy_that_does_nothing_is_called_a_copy(changes, torch_python, tmp_path):
    found = checks(seen(torch_python, tmp_path, "; ".join(changes), "copies"))["copies"]
    assert found["passed"] is False
    assert [words for words in changes.values() if words not in str(found["measured"]["wrong"])] == []
    assert "copy" in found["because"]


def test_what_an_environment_sets_for_its_programs_is_no_fault(torch_python, tmp_path):
    body = (
        "torch.set_default_dtype(torch.float64); torch.use_deterministic_algorithms(True); "
        "torch.set_num_threads(1); torch.set_grad_enabled(False); torch.set_flush_denormal(True)"
    )
    answer = seen(torch_python, tmp_path, body)
    assert answer["verdict"] == "verified"


def test_a_device_that_the_processor_stands_in_for_is_not_verified(torch_python, tmp_path):
    answer = seen(torch_python, tmp_path, broken.ELSEWHERE, "evidence", devices=["elsewhere:0"])
    assert answer["verdict"] != "verified"
    found = checks(answer, "elsewhere:0")["evidence"]
    assert "same_bits" in found["measured"]["against"]
    assert found.get("passed") is not True
