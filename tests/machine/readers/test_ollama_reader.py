"""What ollama's server says of its environment and its devices."""

import pytest

from rigup.machine.kinds import Gpu, Variable

START = 'time=2025-01-02T10:00:00Z level=INFO source=routes.go:9 msg="server config" env="map[HSA_OVERRIDE_GFX_VERSION:{} OLLAMA_DEBUG:false]"\n'
OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"


def values(facts):
    return [fact.get("value") for fact in facts.of(Variable) if fact.name == OVERRIDE]


def journal(*starts):
    return "".join(f"Jan 02 10:0{n}:00 box ollama[{n}]: " + START.format(one) for n, one in enumerate(starts))


@pytest.mark.parametrize(("starts", "last"), [(("", "10.3.0"), "10.3.0"), (("10.3.0", ""), None), (("11.0.0",), "11.0.0")])
def test_of_the_starts_in_a_journal_the_last_is_in_force(pasted, starts, last):
    assert values(pasted(journal(*starts))) == [last]


def test_starts_in_a_terminal_are_all_read(pasted):
    assert "10.3.0" in values(pasted(START.format("10.3.0") + "^C\n" + START.format("10.3.0")))


def test_a_device_of_vulkan_has_no_compute_capability_and_no_id_of_the_drivers(pasted):
    line = 'msg="inference compute" id=00000000-0a00-0000-0000-000000000000 library=Vulkan compute=0.0 name=Vulkan0 description="NVIDIA GeForce RTX 4070" total="12.0 GiB" available="11.1 GiB"\n'
    [card] = pasted(line).of(Gpu)
    assert card.name == "NVIDIA GeForce RTX 4070"
    assert card.get("isa") in (None, "sm_89")
    assert not card.knows("uuid")


def test_a_list_is_a_value_whole(pasted):
    line = START.format("").replace("OLLAMA_DEBUG:false", "OLLAMA_ORIGINS:[http://a https://b] OLLAMA_HOST:http://c")
    told = {fact.name: fact.get("value") for fact in pasted(line).of(Variable)}
    assert (told["OLLAMA_ORIGINS"], told["OLLAMA_HOST"]) == ("[http://a https://b]", "http://c")
