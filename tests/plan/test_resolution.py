"""What goes into an environment is resolved once, as one set: by uv and by pip, with indexes of our own on loopback."""

import hashlib
import http.server
import io
import socket
import sys
import tarfile
import threading
from functools import partial

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer_data import plan_of as answer
from rigup.plan.environments.resolver import found_uv
from rigup.plan.packages import ALONE, groups
from rigup.plan.render import rendered
from rigup.plan.resolution import other_python, resolve, sizes
from rigup.plan.resolution import question as question_module
from rigup.plan.resolution.by_uv import project
from rigup.plan.resolution.question import Question, platform, question
from rigup.plan.resolution.stand_ins import stand_in
from rigup.stack.frameworks.addons import build_of
from rigup.stack.profile import read_profile
from rigup.stack.site import Sources
from rigup.version import __version__
from tiny_environments import Parts, make_wheel

pytestmark = pytest.mark.packages

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
BEFORE = f"3.{sys.version_info.minor - 1}"
OLDER = f"cp{BEFORE}-none-any".replace(".", "")
MACHINE = f"RTX 3060, driver 560.35, ubuntu 24.04, python {PYTHON}"
# name, version, what it needs; torch's own index has the builds with a local part
DEFAULT = (
    ("torch", "2.9.1", ()),
    ("torch", "99.0", ()),
    ("torchvision", "0.24.1", ("torch==2.9.1",)),
    ("torchvision", "99.0", ("torch==99.0",)),
    ("pictures", "1.0", ("torch", "torchvision")),
    ("plain", "1.0", ("needed",)),
    ("needed", "3.0", ()),
    ("needed", "2.0", ()),
    ("aged", "1.0", ("torch<2.9",)),
    ("torch", "2.8.0", ()),
    ("builder", "0.3.1.dev5", ()),
    ("early", "0.1", ()),
    ("deepspeed", "0.2", ()),
    ("transformers", "4.40", ()),
    ("transformers", "5.2", ()),
    ("carrier", "1.0", ("transformers",)),
    ("torch", "2.3.1", ()),
    ("setuptools", "80.0", ()),
    ("wheel", "0.45", ()),
    ("packaging", "26.0", ()),
    ("ninja", "1.13", ()),
    ("unripe", "0.66b2", ()),
    ("tracing", "1.0", ("unripe==0.66b2", "builder")),
    ("triton", "3.5.1", ()),
    ("triton", "99.0", ()),
    ("kernels", "1.0", ("triton",)),
)
OF_TORCH = (
    ("torch", "2.9.1+cu126", ("needed<3",)),
    ("torchvision", "0.24.1+cu126", ("torch==2.9.1",)),
    ("torch", "2.8.0+cu126", ()),
    ("torch", "2.3.1+cu121", ()),
)


SOURCES = (
    ("builder", "1.0"),
    ("early", "2.0"),
    ("deepspeed", "0.19"),
    ("causal-conv1d", "1.5"),
    ("causal-conv1d", "1.6"),
    ("elder", "1.0"),
    ("bare", "1.0"),
    ("unripe", "0.66b2"),
)  # releases without a wheel
BACKEND = """
import pathlib
def prepare_metadata_for_build_wheel(folder, config_settings=None):
    name = "NAME-VERSION.dist-info"
    path = pathlib.Path(folder, name)
    path.mkdir()
    path.joinpath("METADATA").write_text("Metadata-Version: 2.1\\nName: NAME\\nVersion: VERSION\\n")
    path.joinpath("WHEEL").write_text("Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    return name
def build_wheel(folder, config_settings=None, metadata_directory=None):
    raise RuntimeError("nothing is built to be asked what it needs")
"""


def make_source(folder, name, version):
    """A source archive that builds itself, without anything from an index."""
    texts = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n',
        "own.py": BACKEND.replace("NAME", name).replace("VERSION", version),
    }
    with tarfile.open(folder / f"{name}-{version}.tar.gz", "w:gz") as tar:
        for title, text in texts.items():
            member = tarfile.TarInfo(f"{name}-{version}/{title}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_said):
        """Say nothing."""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """Two indexes on loopback: torch's own under /cu126, and the default one under /simple."""
    root = tmp_path_factory.mktemp("www")
    for index, rows in (("simple", DEFAULT), ("cu126", OF_TORCH)):
        for name, version, needs in rows:
            make_wheel(root / index / name, name, version, requires=needs)
    make_wheel(root / "simple" / "elder", "elder", "1.0", tag=OLDER)
    for name, version in SOURCES:
        (root / "simple" / name).mkdir(exist_ok=True)
        make_source(root / "simple" / name, name, version)
    for page in root.glob("*/*"):
        links = (
            f'<a href="{one.name.replace("+", "%2B")}#sha256={hashlib.sha256(one.read_bytes()).hexdigest()}">{one.name}</a>'
            for one in page.glob("*-*")
        )
        (page / "index.html").write_text("\n".join(links))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(root)))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def asked(chosen, served, monkeypatch):
    """A choice for wishes whose torch lies at an index of our own, with what a resolver makes of it."""
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", resolve.OFF):
        monkeypatch.delenv(name, raising=False)
    site = read_profile(MACHINE).but(sources=Sources(index=served + "/simple"))
    bound = served + "/cu126"

    def made(*wishes, index=bound, here=True, python=""):
        choice = chosen("", *wishes, site=site, python=python)
        return resolve.resolved(_at(choice, index), here=here)

    def _again(wish, one_site):
        return _at(chosen("", *wish.packages, site=one_site, python=wish.python), bound)

    for module in (resolve, other_python):
        monkeypatch.setattr(module, "choose", _again)
    return made


def _at(choice, index):
    chosen = tuple(
        msgspec.structs.replace(one, build=msgspec.structs.replace(one.build, index=index if one.build.index else ""))
        for one in choice.chosen
    )
    return msgspec.structs.replace(choice, chosen=chosen)


@pytest.fixture(params=["uv", "pip"])
def resolver(request, monkeypatch):
    """Either resolver."""
    if request.param == "uv" and not found_uv():
        pytest.skip("uv is not installed")
    if request.param == "pip":
        monkeypatch.setattr(resolve, "found_uv", lambda: "")
    return request.param


def versions(choice) -> dict[str, str]:
    return {one.name: one.version for one in choice.resolution.packages}


@pytest.mark.usefixtures("resolver")
def test_what_is_asked_for_beside_never_replaces_the_chosen_torch(asked):
    found = asked("torch==2.9.1+cu126", "pictures")
    assert versions(found) == {"torch": "2.9.1+cu126", "torchvision": "0.24.1+cu126", "pictures": "1.0", "needed": "2.0"}
    assert found.resolution.whole


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize(
    ("wish", "name", "version"),
    [
        ("builder", "builder", "1.0"),  # its one wheel is a preview, and the release is there as source
        ("builder==0.3.1.dev5", "builder", "0.3.1.dev5"),  # the preview was asked for
        ("deepspeed", "deepspeed", "0.19"),  # the tables say that its releases are source alone
        ("deepspeed<0.3", "deepspeed", "0.2"),
        ("early", "early", "0.1"),  # of what the tables do not know a release with a wheel is taken
    ],
)
def test_a_release_without_a_wheel_is_taken_before_a_preview_and_where_the_tables_know_it(asked, wish, name, version):
    assert versions(asked("torch==2.9.1+cu126", wish))[name] == version


@pytest.mark.usefixtures("resolver")
def test_the_wheel_of_a_package_that_has_previews_alone_is_taken_and_no_other_python_for_it(asked):
    found = asked("torch==2.9.1+cu126", "tracing")
    assert {one.name: (one.version, one.built) for one in found.resolution.packages if one.name in ("unripe", "builder")} == {
        "unripe": ("0.66b2", False),
        "builder": ("1.0", True),
    }
    assert found.python == PYTHON


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize(
    ("wishes", "version"),
    [
        (("torch==2.3.1", "transformers"), "4.40"),
        (("torch==2.3.1", "carrier"), "4.40"),  # it comes along
        (("torch==2.9.1+cu126", "carrier"), "5.2"),
    ],
)
def test_what_is_too_new_for_the_framework_is_not_taken_though_its_metadata_does_not_say_so(asked, wishes, version):
    assert versions(asked(*wishes))["transformers"] == version


def test_a_wheel_that_is_named_by_its_address_is_asked_for_by_its_name_too(chosen):
    wanted = question(chosen("Jetson Nano, jetpack 4.6, arch aarch64, ubuntu 18.04, python 3.6")).wanted
    assert wanted[0].startswith("torch @ https://developer.download.nvidia.com/")
    assert all("@" not in word for word in question(chosen(MACHINE)).wanted)


def test_where_nobody_answers_at_torchs_index_no_other_triton_comes_than_torch_takes(asked):
    found = asked("torch==2.9.1+cu126", "kernels", index="http://127.0.0.1:9/cu126")
    assert versions(found)["triton"] == "3.5.1"


@pytest.mark.skipif(not found_uv(), reason="uv is not installed")
def test_the_nearest_python_is_taken_for_which_everything_has_a_wheel(asked):
    choice = asked("torch==2.9.1+cu126", "elder")
    assert choice.python == BEFORE
    assert not any(one.built for one in choice.resolution.packages)
    (change,) = (one for one in choice.changes if one.change == "python")
    assert "elder 1.0" in change.why
    assert asked("torch==2.9.1+cu126", "bare").python == PYTHON  # no Python has a wheel of it


@pytest.mark.skipif(not found_uv(), reason="uv is not installed")
def test_a_python_that_the_wish_names_stays_though_something_is_built_for_it(asked):
    assert asked("torch==2.9.1+cu126", "elder", python=PYTHON).python == PYTHON


@pytest.mark.usefixtures("resolver")
def test_what_is_built_there_is_of_the_newest_release_that_the_index_has(asked):
    choice = asked("torch==2.9.1+cu126", "causal-conv1d")
    assert versions(choice)["causal-conv1d"] == "1.6"
    assert groups(choice)[-1].wanted == ("causal-conv1d==1.6",)
    assert all("causal-conv1d" not in word for group in groups(choice)[:-1] for word in group.wanted)
    assert versions(asked("torch==2.9.1+cu126", "causal-conv1d<1.6"))["causal-conv1d"] == "1.5"


@pytest.mark.usefixtures("resolver")
def test_a_release_of_what_is_built_there_that_no_index_has_is_refused(asked):
    choice = asked("torch==2.9.1+cu126", "causal-conv1d>=7")
    assert "causal-conv1d" in choice.resolution.refused
    assert not choice.possible


def test_what_lies_compiled_in_a_folder_is_of_the_release_there(asked):
    choice = asked("torch==2.8.0+cu126", "torch-scatter")
    told = build_of("torch-scatter")
    assert told is not None
    assert versions(choice)["torch-scatter"] == told.folder_release
    assert "torch-scatter" not in versions(asked("torch==2.8.0+cu126", "torch-scatter<2"))


def test_what_a_build_needs_is_of_the_cuda_of_its_torch(chosen):
    def needed(*wishes):
        return [word for group in groups(chosen(MACHINE, *wishes)) for word in group.wanted]

    assert "transformer-engine-cu12" in needed("torch==2.9.1+cu126", "transformer-engine")
    assert "transformer-engine-cu13" in needed("torch==2.9.1+cu130", "transformer-engine")


def test_the_folder_of_what_is_built_there_is_not_asked_of_the_rest(chosen):
    assert question(chosen(MACHINE, "torch==2.6.0", "torch-scatter")).find_links == ()
    assert question(chosen("RX 7900 XTX, ubuntu 24.04, python 3.12", "tensorflow-rocm")).find_links != ()


@pytest.mark.usefixtures("resolver")
def test_companions_that_come_along_stand_among_the_packages(asked):
    told = answer(asked("torch==2.9.1+cu126", "pictures"))
    assert told["packages"]["torchvision"] == "0.24.1+cu126"
    assert "torchaudio" not in told["packages"]


@pytest.mark.usefixtures("resolver")
def test_every_package_is_installed_by_its_exact_version_from_where_it_belongs(asked, served):
    told = groups(asked("torch==2.9.1+cu126", "pictures"))
    assert [(group.wanted, group.only, group.flags) for group in told] == [
        (("torch==2.9.1+cu126", "torchvision==0.24.1+cu126"), served + "/cu126", (ALONE,)),
        (("pictures==1.0", "needed==2.0"), served + "/simple", (ALONE,)),
    ]
    assert all(url != served + "/simple" for group in told[:1] for _option, url in group.places)


@pytest.mark.usefixtures("resolver")
def test_a_name_that_no_index_has_is_refused(asked):
    found = asked("torch==2.9.1+cu126", "no-such-package-of-anybody")
    assert not found.possible
    assert "no-such-package-of-anybody" in found.resolution.refused
    assert answer(found)["verdict"] == "impossible"


@pytest.mark.usefixtures("resolver")
def test_a_release_that_the_rest_of_the_wish_wants_is_taken_where_the_wish_leaves_it_open(asked):
    found = asked("torch>=2.8,<2.9.2", "aged")
    assert versions(found) == {"torch": found.packages["torch"], "aged": "1.0"}
    assert found.packages["torch"].partition("+")[0] == "2.8.0"


@pytest.mark.usefixtures("resolver")
def test_a_release_that_the_wish_names_stays_and_what_contradicts_it_is_said(asked):
    found = asked("torch==2.9.1+cu126", "aged")
    assert not found.possible
    assert "aged" in found.resolution.refused


@pytest.mark.skipif(not found_uv(), reason="uv is not installed")
def test_where_nobody_answers_at_torchs_index_the_rest_is_resolved_and_the_plan_says_what_is_not(asked):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # nobody listens there
        dead = f"http://127.0.0.1:{held.getsockname()[1]}/cu126"
        found = asked("torch==2.9.1+cu126", "plain", index=dead)
    assert versions(found) == {"torch": "2.9.1+cu126", "plain": "1.0", "needed": "3.0"}
    assert not found.resolution.whole
    assert dead in found.resolution.because[0]
    assert "torch==2.9.1+cu126" in groups(found)[-1].wanted, "nothing that comes later may replace it"


def test_every_form_says_what_is_not_resolved(asked):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{held.getsockname()[1]}/cu126"
        found = asked("torch==2.9.1+cu126", "plain", index=dead)
    (because,) = found.resolution.because
    for form in ("script", "dockerfile", "conda", "pyproject", "poetry"):
        assert f"# {because}" in rendered(found, form).split("\n")
    assert rendered(found, "script").startswith("#!/bin/sh\n")
    assert f"%help\n    {because}\n" in rendered(found, "apptainer")


def test_what_lies_where_nobody_answers_is_not_called_impossible(asked, monkeypatch):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{held.getsockname()[1]}/makers"
        monkeypatch.setattr(question_module, "_further", lambda _group, _site: (dead,))
        found = asked("torch==2.9.1+cu126", "runtime-of-the-makers")
        whole = asked("torch==2.9.1+cu126", "plain")
    assert found.possible
    assert dead in found.resolution.because[0]
    assert whole.resolution.whole


def test_without_a_network_nothing_is_asked_and_the_plan_says_so(chosen):
    found = resolve.resolved(chosen(MACHINE + ", no network", "torch", "timm"), here=True, variables={})
    assert not found.resolution.packages
    assert "there is no network" in found.resolution.because[0]
    assert [word for group in groups(found)[1:] for word in group.wanted] == ["timm", f"torch=={found.packages['torch']}"]


def test_the_answer_holds_the_whole_set_and_names_versions_of_what_was_left_open(asked):
    told = answer(asked("torch==2.9.1+cu126", "plain"))
    assert told["packages"]["plain"] == "1.0"
    assert told["resolution"]["whole"]
    assert {one["name"] for one in told["resolution"]["packages"]} == {"torch", "plain", "needed"}
    assert all(one["url"] and one["sha256"] for one in told["resolution"]["packages"])


@pytest.mark.parametrize("form", ["script", "dockerfile", "pyproject", "poetry", "conda", "apptainer"])
def test_every_form_carries_what_was_resolved(asked, form):
    text = rendered(asked("torch==2.9.1+cu126", "plain"), form)
    assert all(word in text for word in ("2.9.1+cu126", "needed", "2.0"))


# -- the question --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "named"),
    [
        ("RTX 3060, driver 560.35, ubuntu 24.04", "x86_64-manylinux_2_39"),
        ("RTX 3060, driver 560.35, ubuntu 20.04", "x86_64-manylinux_2_31"),
        ("RTX 3060, driver 560.35, centos 7", "x86_64-manylinux_2_17"),
        ("no gpu, alpine 3.22, musl", "x86_64-unknown-linux-musl"),
        ("GH200, driver 580.95.05, ubuntu 24.04, arch aarch64", "aarch64-manylinux_2_39"),
        ("Apple M4, macos 15.6", "aarch64-apple-darwin"),
        ("RTX 3060, driver 560.35, windows 11", "x86_64-pc-windows-msvc"),
    ],
)
def test_the_platform_is_the_machines_own(profile, named):
    assert platform(read_profile(profile)) == named


def test_a_question_binds_each_build_to_its_index(chosen):
    asked = question(chosen(MACHINE, "torch==2.9.1+cu126", "timm"))
    assert asked.bound == {"torch": "https://download.pytorch.org/whl/cu126"}
    assert asked.wanted == ("torch==2.9.1+cu126", "timm")


@given(name=st.text(min_size=1, max_size=30), url=st.text(min_size=1, max_size=60))
def test_no_text_breaks_out_of_its_place_in_a_project(name, url):
    import tomllib

    told = tomllib.loads(project(Question(wanted=("torch",), bound={"torch": url}, index=name, python="3.12"), "3.12"))
    assert told["project"]["dependencies"] == ["torch"]
    assert told["tool"]["uv"]["index"][0]["url"] == url
    assert told["tool"]["uv"]["index"][-1]["url"] == name


def test_what_stands_there_under_an_odd_name_keeps_nothing_from_being_resolved(asked, monkeypatch):
    monkeypatch.setattr(
        question_module, "_installed", lambda _choice: {"plain": "1.0", "-odd": "1", "worn": "not a version", "needed": "2.0"}
    )
    assert versions(asked("plain")) == {"plain": "1.0", "needed": "2.0"}, "what stands there is kept where it fits"


@pytest.mark.parametrize(("name", "version"), [("../torch", "1"), ("torch", "1/../../x"), ("", "1"), ("torch", "1\n2")])
def test_a_stand_in_is_made_of_a_name_and_a_version_alone(tmp_path, name, version):
    with pytest.raises(ValueError, match=r".*"):
        stand_in(tmp_path, name, version)
    assert not [*tmp_path.iterdir()]


# -- sizes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("handler", [Parts, Quiet])
def test_the_size_on_the_disk_is_read_from_the_end_of_a_wheel_where_a_server_gives_parts(tmp_path, handler):
    made = make_wheel(tmp_path, "stone", "1.0", text="#" * 9000)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        found = sizes.size_of(f"http://127.0.0.1:{server.server_port}/{made.name}")
    finally:
        server.shutdown()
        server.server_close()
    whole = made.stat().st_size
    assert found == ((12_288 + 3 * 4096, 12_288, whole) if handler is Parts else None)
    assert sizes.size_of(made.as_uri()) == (12_288 + 3 * 4096, 12_288, 0)


@pytest.mark.parametrize("body", [b"", b"PK\x05\x06", b"no wheel at all" * 100])
def test_what_is_no_wheel_has_no_size(tmp_path, body):
    (tmp_path / "x.whl").write_bytes(body)
    assert sizes.size_of((tmp_path / "x.whl").as_uri()) is None


# -- rigup.torch beside --------------------------------------------------------------------------------


@pytest.mark.usefixtures("resolver")
def test_rigups_own_part_comes_from_its_own_folder_and_is_asked_of_no_index(chosen, served, monkeypatch):
    for name in ("PIP_NO_INDEX", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", resolve.OFF):
        monkeypatch.delenv(name, raising=False)
    site = read_profile(MACHINE).but(sources=Sources(index=served + "/simple"))
    found = resolve.resolved(chosen("", "plain", site=site, with_rigup=True), here=True)
    last = groups(found)[-1]
    assert found.resolution.whole
    assert versions(found) == {"plain": "1.0", "needed": "3.0"}
    assert (last.wanted, last.offline, last.flags) == ((f"rigup-torch=={__version__}",), True, (ALONE,))
    assert answer(found)["packages"]["rigup-torch"] == __version__
