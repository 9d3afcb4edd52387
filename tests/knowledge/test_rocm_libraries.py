"""Which of ROCm's libraries tell a release by their number, and which do not."""

import pytest

from rigup.knowledge.rocm_libraries import keeps_its_number


@pytest.mark.parametrize("soname", ["librocsolver.so.0", "libMIOpen.so.1", "librocm_sysdeps_drm.so.2"])
def test_one_that_has_always_had_its_number(soname):
    assert keeps_its_number(soname)


@pytest.mark.parametrize("soname", ["libamdhip64.so.6", "libhipblas.so.2", "libcudart.so.12", ""])
def test_one_whose_number_changes_or_is_not_rocms(soname):
    assert not keeps_its_number(soname)
