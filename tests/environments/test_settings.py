"""Defaults of a site and a person: the person's go over the site's, and what is not understood stops everything."""

import contextlib
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.plan.environments import settings
from rigup.plan.environments.settings import Settings, SettingsError
from rigup.stack.profile import read_profile
from rigup.stack.site import Sources


def files(tmp_path, site="", person=""):
    for name, text in (("site", site), ("person", person)):
        (tmp_path / name).write_text(text)
    return tmp_path / "site", tmp_path / "person"


def test_the_persons_go_over_the_sites_entry_by_entry(tmp_path):
    told = settings.read(
        files(
            tmp_path,
            'prefix = "/opt/rigup"\nmirror = "tuna"\n[images]\ntorch = "a.example/torch:1"\nvllm = "a.example/vllm:1"\n',
            'mirror = "ustc"\n[images]\ntorch = "b.example/torch:2"\n',
        )
    )
    assert (told.prefix, told.mirror) == ("/opt/rigup", "ustc")
    assert told.images == {"torch": "b.example/torch:2", "vllm": "a.example/vllm:1"}


def test_without_files_nothing_is_said(tmp_path):
    assert settings.read((tmp_path / "none", tmp_path / "site" / "none")) == Settings()


def test_the_files_are_those_of_the_site_and_of_the_person(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert [str(path) for path in settings.places()] == ["/etc/rigup/config.toml", f"{tmp_path}/rigup/config.toml"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('prefx = "/opt"', "'prefx'.*knows: prefix"),
        ("prefix = 3", "prefix"),
        ('prefix = "here"', "prefix to 'here'"),
        ('index = "--trusted-host=x"', "index"),
        ('index = "https://a b"', "index"),
        ('proxy = "proxy:3128"', "proxy"),
        ('mirror = "-x"', "mirror"),
        ('partition = "gpu"', "'partition'"),
        ('images = "x"', "images"),
        ('[images]\ntorch = "-v /:/host"', r"images\.torch"),
        ("[images]\ntorch = 3", "images"),
        ("prefix = ", "no TOML"),
        ('[prefix]\na = "b"', "prefix"),
        ("\0", "no TOML"),
        ('"' + "a" * 300 + '" = 1', "aaaa"),
    ],
)
def test_what_is_not_understood_is_named_with_its_file(tmp_path, text, named):
    with pytest.raises(SettingsError, match=named) as raised:
        settings.read(files(tmp_path, text))
    assert str(tmp_path / "site") in str(raised.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "site").mkdir()
    with pytest.raises(SettingsError, match="site"):
        settings.read((tmp_path / "site",))


@given(st.text(max_size=200))
def test_no_text_makes_it_fail_otherwise(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with contextlib.suppress(SettingsError):
        settings.read((path,))


def test_the_persons_own_tools_go_over_the_defaults():
    site = read_profile("no gpu, debian 12, python 3.11")
    told = Settings(index="https://mirror.example/simple", proxy="http://proxy.example:3128")
    assert settings.with_settings(site, told).sources == Sources(index=told.index, proxy=told.proxy)
    own = site.but(sources=Sources(index="https://own.example/simple", find_links=("/wheels",)))
    assert settings.with_settings(own, told).sources == Sources(
        index="https://own.example/simple", proxy=told.proxy, find_links=("/wheels",)
    )


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_an_environment_of_all_can_be_used_by_all_and_changed_by_its_owner_alone(tmp_path):
    env = tmp_path / "env"
    (env / "bin").mkdir(parents=True)
    for path, mode in ((env / "bin" / "python", 0o770), (env / "data", 0o660), (env / "bin", 0o770), (env, 0o2770)):
        if not path.exists():
            path.write_text("x")
        os.chmod(path, mode)
    (env / "out").symlink_to("/etc/passwd")
    before = os.stat("/etc/passwd").st_mode
    assert settings.read_only_for_others(env) == 4
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (env, env / "bin", env / "bin" / "python", env / "data")}
    assert modes == {"env": 0o755, "bin": 0o755, "python": 0o755, "data": 0o644}
    assert os.stat("/etc/passwd").st_mode == before
    assert settings.read_only_for_others(env) == 0


def test_what_lies_in_the_shared_folder_is_told_by_where_links_lead(tmp_path):
    (tmp_path / "shared" / "env").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "shared" / "env")
    told = Settings(prefix=str(tmp_path / "shared"))
    assert settings.is_shared(tmp_path / "link", told)
    assert not settings.is_shared(tmp_path / "shared-2", told)
    assert not settings.is_shared(tmp_path / "shared" / "env", Settings())
