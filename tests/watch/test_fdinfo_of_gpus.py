"""What processes have of GPUs, by their open files."""

from hypothesis import given
from hypothesis import strategies as st

from rigup.watch.fdinfo import EngineUse, parse

AMD = """pos:\t0
flags:\t02100002
drm-driver:\tamdgpu
drm-client-id:\t42
drm-pdev:\t0000:03:00.0
pasid:\t32771
drm-memory-vram:\t204800 KiB
drm-memory-gtt: \t2048 KiB
drm-memory-cpu: \t0 KiB
amd-memory-visible-vram:\t1024 KiB
drm-engine-gfx:\t1000000000 ns
drm-engine-compute:\t500 ns
drm-engine-enc_1:\t0 ns
"""
XE = """drm-driver:\txe
drm-client-id:\t7
drm-pdev:\t0000:00:02.0
drm-total-system:\t0
drm-resident-system:\t4 MiB
drm-resident-vram0:\t64 MiB
drm-total-vram0:\t128 MiB
drm-cycles-rcs:\t{busy}
drm-total-cycles-rcs:\t{whole}
drm-cycles-vcs:\t10
drm-total-cycles-vcs:\t{whole}
drm-engine-capacity-vcs:\t2
"""
I915 = """drm-driver: i915
drm-pdev: 0000:00:02.0
drm-client-id: 9
drm-engine-render: {busy} ns
drm-engine-video: 0 ns
drm-engine-capacity-video: 2
drm-total-local0: 1 MiB
drm-resident-local0: 512 KiB
"""
OLD = """pdev:\t0000:0a:00.0
pasid:\t32772
vram mem:\t1200 kB
gtt mem:\t100 kB
gfx0:\t3.50%
dma1:\t99.00%
"""


def test_amd() -> None:
    client = parse(AMD)
    assert client is not None
    assert (client.driver, client.pci_address, client.id) == ("amdgpu", "0000:03:00.0", "42")
    assert client.memory == {"vram": 204800 * 1024, "gtt": 2048 * 1024, "visible_vram": 1024 * 1024}
    assert client.busy == {"gfx": 10**9, "compute": 500, "enc_1": 0}


def test_amd_of_kernels_before_5_19() -> None:
    client = parse(OLD)
    assert client is not None
    assert client.memory == {"vram": 1200 * 1024, "gtt": 100 * 1024}
    assert EngineUse().shares(client, 1.0) == {"gpu": 0.035, "copy": 0.99}


def test_resident_memory_is_what_is_held_and_total_where_nothing_else_is_told() -> None:
    client = parse(XE.format(busy=1, whole=2))
    assert client is not None
    assert client.memory == {"vram": 64 * 1024**2, "gtt": 4 * 1024**2}
    only_total = parse("drm-driver: i915\ndrm-total-local0: 1 MiB\n")
    assert only_total is not None
    assert only_total.memory == {"vram": 1024**2}


def test_shares_of_time_from_the_second_reading_on() -> None:
    use = EngineUse()
    first, later = parse(I915.format(busy=10**9)), parse(I915.format(busy=15 * 10**8))
    assert first is not None
    assert later is not None
    assert use.shares(first, 10.0) == {}
    use.next()
    assert use.shares(later, 11.0)["gpu"] == 0.5


def test_cycles_against_all_cycles() -> None:
    use = EngineUse()
    first, later = parse(XE.format(busy=100, whole=1000)), parse(XE.format(busy=350, whole=2000))
    assert first is not None
    assert later is not None
    assert use.shares(first, 10.0) == {}
    use.next()
    assert use.shares(later, 10.1)["gpu"] == 0.25


def test_a_counter_that_goes_back_keeps_its_larger_value() -> None:
    use = EngineUse()
    for busy, now in ((2 * 10**9, 1.0), (10**9, 2.0)):
        client = parse(I915.format(busy=busy))
        assert client is not None
        shares = use.shares(client, now)
        use.next()
    assert shares["gpu"] == 0


def test_no_gpus_file_is_none() -> None:
    assert parse("pos:\t0\nflags:\t0100000\nmnt_id:\t15\n") is None
    assert parse("") is None


@given(st.text(max_size=2000))
def test_any_text_is_read(text: str) -> None:
    client = parse("drm-driver: x\n" + text)
    assert client is not None
    EngineUse().shares(client, 1.0)
    parse(text)
