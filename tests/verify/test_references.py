"""What the probe expects is reckoned in plain Python: values known from elsewhere, and gradients by differences."""

import math
import subprocess
import sys

import pytest

from rigup.verify.child import PROBE


@pytest.fixture(scope="module", autouse=True)
def probe():
    """The probe's folder, as its own process has it on its path."""
    folder = str(PROBE if PROBE.is_dir() else PROBE.parent)
    sys.path.insert(0, folder)
    yield
    sys.path.remove(folder)


ACTIVATIONS = [
    "relu",
    "gelu",
    "gelu_by_tanh",
    "silu",
    "mish",
    "elu",
    "selu",
    "leaky_relu",
    "hardswish",
    "hardsigmoid",
    "softsign",
    "logsigmoid",
]


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("at", [-4.2, -0.7, 0.3, 2.1])
def test_the_tape_gives_the_slope_of_each_activation(name, at):
    import rigup_probe_reference as reference
    import rigup_probe_tape as tape

    function = getattr(reference, name)
    traced = tape.Traced(at)
    tape.differentiate([function(traced)], [1.0])
    wanted = (function(at + 1e-6) - function(at - 1e-6)) / 2e-6
    assert traced.gradient == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "normal", "root_mean_square"])
def test_the_tape_gives_the_slopes_of_rows(name):
    import rigup_probe_reference as reference
    import rigup_probe_tape as tape

    values, weights = [0.5, -1.25, 2.0], [1.0, -2.0, 0.5]
    function = getattr(reference, name)
    traced = [tape.Traced(value) for value in values]
    tape.differentiate(function(traced), weights)
    for at in range(3):
        up, down = ([value + (step if at == place else 0) for place, value in enumerate(values)] for step in (1e-6, -1e-6))
        wanted = sum(w * (a - b) for w, a, b in zip(weights, function(up), function(down), strict=True)) / 2e-6
        assert traced[at].gradient == pytest.approx(wanted, abs=1e-8)


def test_known_values():
    import rigup_probe_reference as reference
    import rigup_probe_reference_networks as networks
    from rigup_probe_grid import Grid

    assert reference.gelu(1.0) == pytest.approx(0.8413447460685429)
    assert reference.softmax([1000.0, 1000.0]) == [0.5, 0.5]
    assert networks.matmul(Grid((2, 2), [1, 2, 3, 4]), Grid((2, 1), [5, 6])).flat == [17, 39]
    row = networks.convolution(stride=2, padding=1)(Grid((1, 1, 4), [1, 2, 3, 4]), Grid((1, 1, 3), [1, 10, 100]))
    assert row.flat == [210, 432]
    wide = networks.transposed_convolution(stride=2)(Grid((1, 1, 2), [1, 2]), Grid((1, 1, 2), [3, 5]))
    assert wide.flat == [3, 5, 6, 10]


def test_a_causal_query_sees_what_came_before_it_alone():
    import rigup_probe_reference_networks as networks
    from rigup_probe_grid import Grid

    query, value = Grid((1, 1, 2, 1), [0.0, 0.0]), Grid((1, 1, 2, 1), [1.0, 3.0])
    assert networks.attention()(query, query, value).flat == [2.0, 2.0]
    assert networks.attention(causal=True)(query, query, value).flat == [1.0, 2.0]


def test_the_lstm_of_nothing_stays_at_nothing():
    import rigup_probe_reference_networks as networks
    from rigup_probe_grid import Grid

    zeros = [Grid((4, 1), [0.0] * 4), Grid((4, 1), [0.0] * 4), Grid((4,), [0.0] * 4), Grid((4,), [0.0, 0.0, 9.0, 9.0])]
    first = networks.recurrent(networks.lstm_cell, 4, 2)(Grid((1, 1, 1), [1.0]), *zeros).flat[0]
    cell = 0.5 * math.tanh(9.0)
    assert first == pytest.approx(math.tanh(cell) / (1 + math.exp(-9.0)))


def test_a_wrong_number_where_zeros_are_wanted_is_an_error_and_no_fault_of_the_probe(torch_python):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import types; m = types.ModuleType('rigup_probe'); "
        "m.Skip = type('Skip', (Exception,), {}); sys.modules['rigup_probe'] = m; "
        "from rigup_probe_torch_cases import deviation as off; "
        "print(off([0.5, 0.0], [0.0, 0.0]), off([0.0], [0.0]), off([math.nan], [0.0]), off([math.inf], [-math.inf]), "
        "off([math.nan], [math.nan]), off([math.inf], [math.inf]), off([3.0], [2.0]))"
    )
    folder = str(PROBE if PROBE.is_dir() else PROBE.parent)
    done = subprocess.run([torch_python, "-W", "ignore", "-c", "import math; " + code, folder], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.5", "0.0", "inf", "inf", "0.0", "0.0", "0.5"]


def test_no_two_cases_of_a_table_have_one_name(torch_python):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import types; m = types.ModuleType('rigup_probe'); "
        "m.Skip = type('Skip', (Exception,), {}); sys.modules['rigup_probe'] = m; "
        "from rigup_probe_torch_tables import TABLES; "
        "names = [case.name for table in TABLES.values() for case in table()]; "
        "print(sorted({one for one in names if names.count(one) > 1}))"
    )
    folder = str(PROBE if PROBE.is_dir() else PROBE.parent)
    done = subprocess.run([torch_python, "-W", "ignore", "-c", code, folder], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "tanh", "atan", "sigmoid"])
def test_the_tape_differentiates_complex_numbers(name):
    import rigup_probe_tape as tape

    function, at = getattr(tape, name), 0.5 + 0.75j
    traced = tape.Traced(at)
    tape.differentiate([function(traced) * (2 - 1j)], [1.5])
    slope = (function(at + 1e-6) - function(at - 1e-6)) / 2e-6 * (2 - 1j)
    # of a real sum of the parts, as torch tells it: the conjugate of the derivative
    assert traced.gradient == pytest.approx(1.5 * slope.conjugate(), abs=1e-7)
