"""The table of what is private by its form: every row matches its own example, and nothing near it."""

import re

import pytest

from each import over
from rigup.diagnosis.loading import load_all
from rigup.diagnosis.rule import RULES, rules_of_table
from rigup.knowledge.secrets import is_kept, is_secret, tokens, words


@over(tokens(), lambda row: row.kind)
def test_a_token_is_known_by_its_form_and_its_neighbour_is_none(row):
    assert re.compile(row.regex).fullmatch(row.example)
    assert any(0 <= row.example.find(literal) <= row.back for literal in row.literals)
    assert not re.compile(row.regex).match(row.near_miss)
    assert row.source.startswith("https://")


@pytest.mark.parametrize(
    "name",
    [
        "HF_TOKEN",
        "DB_PASSWORD",
        "apiKey",
        "wifi.psk",
        "MY_KEY",
        "aws_secret_access_key",
        "AWS_ACCESS_KEY_ID",
        "session-cookie",
        "refresh_token",
        "client_secret",
        "GITHUB_PAT",
        "TOKEN_2",
        "secret_value",
    ],
)
def test_names_of_secrets_are_known(name):
    assert is_secret(name)
    assert not is_kept(name)


@pytest.mark.parametrize(
    "name",
    [
        "max_tokens",
        "key",
        "num_key_value_heads",
        "TOKENIZERS_PARALLELISM",
        "SSH_AUTH_SOCK",
        "HF_TOKEN_PATH",
        "KEYBOARD",
        "PATH",
        "PWD",
        "LD_LIBRARY_PATH",
        "eos_token_id",
        "monkey",
        "compass",
    ],
)
def test_names_that_only_sound_so_are_none(name):
    assert not is_secret(name)


def named_in_rules():
    load_all()
    for rule in (*RULES, *rules_of_table()):
        for need in rule.needs.values():
            if getattr(need.kind, "__name__", "") == "Variable":
                for field, wanted in need.fields:
                    if field == "name":
                        yield from [wanted] if isinstance(wanted, str) else wanted


def test_every_variable_that_a_rule_asks_for_is_kept():
    names = set(named_in_rules())
    assert "LD_LIBRARY_PATH" in names
    assert [name for name in names if not is_kept(name)] == []


def test_lists_do_not_contradict_each_other():
    assert not {name for name in words("kept variable") if not name.endswith("*") and is_secret(name)}
