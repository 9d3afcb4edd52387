"""For which CUDA a framework's package was built, and what came after a toolkit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.knowledge.framework_cuda import came_after, cuda_of_package, jax_extra, named_alike
from rigup.knowledge.lifecycle import wants_atomics


@pytest.mark.parametrize(
    ("name", "version", "cuda"),
    [
        ("tensorflow-gpu", "1.14.0", "10.0"),
        ("tensorflow-gpu", "2.4.1", "11.0"),
        ("tensorflow", "2.15.0", "12.2"),
        ("tensorflow", "1.14.0", None),  # the plain package had no CUDA then
        ("mxnet-cu102", "1.7.0", "10.2"),
        ("mxnet-cu92mkl", "1.3.0", "9.2"),
        ("cupy-cuda12x", "13.0.0", "12.0"),
        ("jaxlib", "0.3.25+cuda11.cudnn82", "11.0"),
        ("jaxlib", "0.4.30", None),
        ("paddlepaddle-gpu", "2.4.1.post117", "11.7"),
        ("cudf-cu12", "24.4.1", "12.0"),
        ("onnxruntime-gpu", "1.19.2", "12.0"),
        ("numpy", "1.26.4", None),
    ],
)
def test_a_packages_cuda(name, version, cuda):
    assert cuda_of_package(name, version) == cuda


@pytest.mark.parametrize(
    ("isa", "cuda", "after"),
    [("sm_86", "10.0", True), ("sm_75", "10.0", False), ("sm_75", "9.0", True), ("sm_86", "11.8", False), ("sm_86", "", False)],
)
def test_a_chip_that_came_after_a_toolkit(isa, cuda, after):
    assert came_after(isa, cuda) is after


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_name_is_answered(name, version):
    assert cuda_of_package(name, version) is None or "." in str(cuda_of_package(name, version))


def test_libraries_of_cuda_are_named_by_the_minor_release_up_to_ten_and_by_the_major_since():
    assert not named_alike("10.1", "10.2")
    assert named_alike("10.1", "10.1.243")
    assert named_alike("11.2", "11.8")
    assert not named_alike("11.8", "12.1")


def test_jax_is_asked_for_with_what_the_driver_carries():
    assert jax_extra("") == jax_extra("535.183.01") == "jax[cuda12]"
    assert jax_extra("590.12") == "jax[cuda13]"


def test_chips_of_one_generation_want_atomics():
    assert wants_atomics("gfx803")
    assert not any(map(wants_atomics, ("gfx701", "gfx900", "gfx1030", "", "None")))
