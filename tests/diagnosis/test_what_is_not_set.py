"""Variables that somebody looked for and did not find: an emptiness that is known."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answer_data import diagnose


@pytest.fixture
def variables(tmp_path):
    """Names and values of the variables that a text tells of."""

    def told(body):
        (tmp_path / "paste.txt").write_text(body, "utf-8")
        return {row["name"]: row["value"] for row in diagnose(str(tmp_path))["machine"].get("variables") or ()}

    return told


def test_an_echo_in_quotes_is_answered_with_an_empty_line(variables):
    assert variables('$ echo "$HSA_OVERRIDE_GFX_VERSION"\n\n$ uname -r\n6.8.0\n') == {"HSA_OVERRIDE_GFX_VERSION": None}


def test_what_a_list_of_variables_lacks_is_not_set(variables):
    found = variables("ada@gpu:~$ env | grep -E 'HIP|ROCR'\nada@gpu:~$ uname -r\n6.8.0\n")
    assert found == {"HIP_VISIBLE_DEVICES": None, "ROCR_VISIBLE_DEVICES": None}


def test_what_is_listed_keeps_its_value(variables):
    found = variables("$ env | grep VISIBLE\nCUDA_VISIBLE_DEVICES=1\n$ uname -r\n")
    assert found["CUDA_VISIBLE_DEVICES"] == "1"
    assert found["HIP_VISIBLE_DEVICES"] is None


@pytest.mark.parametrize(
    "body",
    ["$ env | grep CUDA", "$ env | grep CUDA\nsomething else was here\n", "$ env | grep -v CUDA\n$ ls\n", "$ env | grep '^CUDA$'\n$ ls\n"],
)
def test_a_question_without_a_plain_answer_tells_nothing(variables, body):
    assert not variables(body)


@pytest.mark.long
@given(st.text(alphabet="env |grepCUDA_-iv'\"$\\\n=#1", max_size=120))
@settings(max_examples=60, deadline=None)
def test_any_text_is_read_without_an_error(tmp_path_factory, body):
    folder = tmp_path_factory.mktemp("any")
    (folder / "paste.txt").write_text("$ env | grep " + body, "utf-8")
    diagnose(str(folder))


def test_what_a_script_sets_is_read_with_the_script(tmp_path):
    body = "$ grep -E 'export|srun' ft.sbatch\nexport NCCL_SOCKET_IFNAME=eth0\nsrun python ft.py\n$ export NCCL_DEBUG=INFO\n"
    (tmp_path / "paste.txt").write_text(body, "utf-8")
    rows = diagnose(str(tmp_path))["machine"]["variables"]
    assert {row["name"]: row.get("file") for row in rows} == {"NCCL_SOCKET_IFNAME": "ft.sbatch", "NCCL_DEBUG": None}
