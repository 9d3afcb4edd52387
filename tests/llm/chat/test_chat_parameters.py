"""Parameters: ranges, names at each kind of endpoint, and what a person is told of them."""

import json

import pytest

from each import each
from rigup.cli import run
from rigup.llm.chat.parameters import KINDS, SYSTEM, ParameterError, named, parameters, request_of, value_of

WISHED = [
    "temperature",
    "top-k",
    "top-p",
    "min-p",
    "typical",
    "repeat-penalty",
    "presence-penalty",
    "frequency-penalty",
    "dry",
    "mirostat",
    "seed",
    "stop",
    "grammar",
    "json-schema",
    "reasoning",
    "system",
    "chat-template",
    "max-tokens",
]


def test_all_that_people_set_is_there():
    assert set(WISHED) <= {one.name for one in parameters()}


def test_each_row_is_whole_and_its_usual_value_is_one_that_it_takes():
    def check(row):
        assert row.effect.endswith(".")
        assert set(row.names) <= set(KINDS)
        assert row.names
        if row.usual:
            value_of(row, row.usual)

    each(parameters(), check, name=lambda row: row.name)


def test_ends_of_each_range_are_taken_and_what_lies_beyond_is_refused():
    def check(row):
        if row.least is None:
            return
        for value in (row.least, row.most):
            value_of(row, f"{value:.10g}")
        for value in (row.least - 1, row.most + 1, "nan", "inf", "a lot", ""):
            with pytest.raises(ParameterError, match=row.name):
                value_of(row, str(value))

    each(parameters(), check, name=lambda row: row.name)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("temperature", " 0.5 ", 0.5),
        ("top_k", "40", 40),
        ("seed", "-1", -1),
        ("mirostat", "2", 2),
        ("reasoning", "Off", False),
        ("stop", "User:|\\n\\n", ["User:", "\n\n"]),
        ("json-schema", '{"type": "object"}', {"type": "object"}),
        ("grammar", "root ::= [0-9]+", "root ::= [0-9]+"),
    ],
)
def test_values_as_people_write_them(name, text, value):
    assert value_of(named(name), text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("top-k", "1.5"),
        ("mirostat", "3"),
        ("reasoning", "perhaps"),
        ("stop", ""),
        ("stop", "|"),
        ("stop", "a|" * 40),
        ("json-schema", "{"),
        ("json-schema", "[1]"),
        ("json-schema", "[" * 100_000),
        ("grammar", " "),
        ("grammar", "@/no/such/file"),
        ("seed", "9" * 5000),
    ],
)
def test_what_is_no_value_is_refused(name, text):
    with pytest.raises(ParameterError):
        value_of(named(name), text)


def test_files_are_read_and_too_large_ones_are_not(tmp_path):
    (tmp_path / "schema.json").write_text('{"type": "string"}')
    assert value_of(named("json-schema"), f"@{tmp_path}/schema.json") == {"type": "string"}
    (tmp_path / "large").write_bytes(b" " * 1_000_001)
    with pytest.raises(ParameterError, match="larger"):
        value_of(named("grammar"), f"@{tmp_path}/large")


def test_a_name_that_is_none_is_told_with_near_ones():
    with pytest.raises(ParameterError, match=r"temperatur.*temperature"):
        named("temperatur")


def test_each_endpoint_is_sent_its_own_names_and_nothing_that_it_does_not_take():
    settings = {"temperature": 0.5, "top-k": 3, "repeat-penalty": 1.1, "reasoning": False, "dry": 0.8, SYSTEM: "x", "max-tokens": 9}
    assert request_of(settings, "llama") == (
        {
            "temperature": 0.5,
            "top_k": 3,
            "repeat_penalty": 1.1,
            "chat_template_kwargs": {"enable_thinking": False},
            "dry_multiplier": 0.8,
            "max_tokens": 9,
        },
        [],
    )
    body, left = request_of(settings, "openai")
    assert (body, left) == (
        {"temperature": 0.5, "reasoning_effort": "none", "max_completion_tokens": 9},
        ["top-k", "repeat-penalty", "dry"],
    )
    body, left = request_of(settings, "vllm")
    assert (body["repetition_penalty"], left) == (1.1, ["dry"])


def test_a_schema_and_a_grammar_stand_where_each_server_looks_for_them():
    schema = {"type": "object"}
    body, _left = request_of({"json-schema": schema, "grammar": "g"}, "vllm")
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert body["structured_outputs"] == {"grammar": "g"}


def test_help_tells_each_with_range_and_effect(capsys):
    assert run(["chat", "--help-parameters"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for one in parameters():
        assert one.name in told
        assert one.effect in told


def test_the_same_as_data(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["rigup", "chat", "--help-parameters", "--json"])
    assert run(["chat", "--help-parameters", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema"] == "rigup.chat-parameters/1"
    assert [one["name"] for one in told["parameters"]] == [one.name for one in parameters()]
