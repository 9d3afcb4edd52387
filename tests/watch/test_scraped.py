"""Expositions read again."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from watch_samples import gpu, sample

from rigup.schemas.watch import Watch
from rigup.watch.exposition import Exposition
from rigup.watch.scrape import NoAnswer, Series, address_of, sample_of, series_of

DCGM = """\
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1",modelName="NVIDIA A100",Hostname="a"} 45
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-1",modelName="NVIDIA A100"} 1024
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-1",modelName="NVIDIA A100"} 3072
DCGM_FI_DEV_MEMORY_TEMP{gpu="0",UUID="GPU-1",modelName="NVIDIA A100"} 9223372036854775794
"""


def test_what_our_exporter_says_comes_back() -> None:
    whole = sample(
        gpus=[
            gpu(0, name='A "b" \\ c', uuid="GPU-1", throttle=["power", "temperature"], clock={"graphics": 1.5e9}),
            gpu(1, state="lost", because="x"),
        ]
    )
    back = sample_of(Exposition().text(whole), 5.0)
    first, second = back.gpus
    assert (first.name, first.uuid, first.utilisation.gpu, first.power.draw) == ('A "b" \\ c', "GPU-1", 0.5, 100.0)
    assert (first.memory.vram.used, first.memory.vram.total) == (2**30, 8 * 2**30)
    assert (first.throttle, first.clock.graphics, first.temperature.edge) == (["power", "temperature"], 1.5e9, 50.5)
    assert (second.state, second.pci_address) == ("lost", "0000:01:00.0")


def test_dcgm_in_base_units_and_its_blanks_left_out() -> None:
    (card,) = sample_of(DCGM, 5.0).gpus
    assert (card.name, card.utilisation.gpu) == ("NVIDIA A100", 0.45)
    assert (card.memory.vram.used, card.memory.vram.total) == (2**30, 4 * 2**30)
    assert "memory" not in str(card.temperature) or "UNSET" in str(card.temperature.memory)


def test_a_node_without_gpus_is_none_and_another_program_is_no_answer() -> None:
    assert sample_of('rigup_watch_build_info{version="1"} 1\n', 0.0).gpus == []
    with pytest.raises(NoAnswer):
        sample_of("node_load1 3\n", 0.0)


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            [
                *DCGM.splitlines(),
                'rigup_gpu_power_watts{gpu="a"} 1e999',
                'rigup_gpu_memory_used_bytes{gpu="a",kind="vram"} -1',
                'rigup_gpu_info{gpu="a",vendor="\\',
                "{}",
                "a 1",
                'rigup_gpu_memory_used_bytes{gpu="a",kind="used"} 1',
                'rigup_gpu_utilization_ratio{gpu="a",engine="source"} 1',
                'rigup_gpu_state{gpu="a",state="x"} 1',
            ]
        )
    ).map("\n".join)
)
def test_any_text_is_a_sample_or_no_answer(text) -> None:
    with contextlib.suppress(NoAnswer):
        assert isinstance(sample_of(text, 0.0), Watch)


LABELS = st.dictionaries(
    st.from_regex(r"[a-z_]{1,9}", fullmatch=True),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zl", "Zp", "Cs"]), max_size=20),
    max_size=4,
)


@given(LABELS, st.floats(allow_nan=False, allow_infinity=False))
def test_a_series_comes_back(labels, value) -> None:
    words = ",".join(f'{name}="{word.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34))}"' for name, word in labels.items())
    assert list(series_of(f"name{{{words}}} {value!r}")) == [Series("name", labels, value)]


def test_addresses() -> None:
    for word, address in (
        ("a", "http://a:9836/metrics"),
        ("a:1", "http://a:1/metrics"),
        ("http://a:1/x", "http://a:1/x"),
        ("https://a", "https://a/metrics"),
        ("[::1]", "http://[::1]:9836/metrics"),
    ):
        assert address_of(word) == address
