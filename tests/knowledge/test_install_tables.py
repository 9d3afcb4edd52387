"""How drivers, toolkits, ROCm and their surroundings are installed: every row can be used, and says where it is from."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.knowledge import cuda_toolkits, driver_recipes, gtt, mirrors, package_sizes, rocm_install, surroundings, tables
from rigup.knowledge.holes import filled

DISTRIBUTIONS = tables.table("distro_drivers")["distro"]
PROVIDERS = {row["id"]: row for row in tables.table("distro_drivers")["provider"]}
RECIPES = tables.table("distro_drivers")["recipe"]
HOLES = {"branch", "kernel", "line", "repo_dir", "arch_dir", "debian_arch", "machine", "file", "releasever"}
BY_HAND = {"wsl2", "windows", "runfile", "amazon-linux-2"}


def commands_of(row):
    return [argv for value in row.values() if isinstance(value, list) for argv in value if isinstance(argv, list)]


@pytest.mark.parametrize("row", RECIPES, ids=lambda row: f"{row['provider']}-{row['use']}-{row['module']}-{row['first']}")
def test_a_recipe_belongs_to_a_provider_and_can_be_filled(row):
    assert row["provider"] in PROVIDERS
    assert row["use"] in ("desktop", "server", "any")
    assert row["module"] in ("open", "closed", "any")
    assert row["commands"] or row["lines"]
    filled(row["commands"], dict.fromkeys(HOLES, "x"))


@pytest.mark.parametrize("name", sorted(set(PROVIDERS) - BY_HAND))
def test_every_provider_has_a_recipe_a_name_and_commands_that_can_be_filled(name):
    row = PROVIDERS[name]
    assert row["name"]
    assert any(recipe["provider"] == name for recipe in RECIPES)
    for field in ("repo_setup", "hold", "unhold", "purge", "initramfs"):
        assert "{" not in str(filled(row.get(field, []), dict.fromkeys(HOLES, "x"))).replace("{$", "")


@pytest.mark.parametrize("row", DISTRIBUTIONS, ids=lambda row: row["id"])
def test_every_distribution_offers_some_branch_of_some_provider(row):
    if set(row["providers"]) <= BY_HAND:
        return
    at = driver_recipes.system(row["ids"][0], row["releases"][0] if row["releases"] else "")
    assert at is not None
    assert at.id == row["id"]
    branches = [one["branch"] for one in tables.table("distro_drivers")["driver_branch"]]
    offered = [b for b in branches for module in ("open", "closed") if driver_recipes.recipe(at, b, module, "desktop")]
    assert offered


def test_no_command_asks_a_person_or_runs_what_the_network_gives():
    """A pipe from the network into a shell, and package managers that wait for an answer."""
    for name in ("distro_drivers", "surroundings", "cuda_toolkits", "rocm_releases"):
        for array, rows in tables.table(name).items():
            for row in rows if isinstance(rows, list) else ():
                for argv in commands_of(row):
                    text = " ".join(argv)
                    assert not re.search(r"(?:curl|wget)[^|]*\| *(?:ba|da)?sh", text), (name, array, argv)
                    if argv[:2] in (["apt-get", "install"], ["dnf", "install"], ["apt-get", "purge"]):
                        assert "-y" in argv, (name, array, argv)


def test_nobody_installs_cuda_for_a_toolkit():
    """`cuda` and `cuda-X-Y` bring a driver along."""
    for row in tables.table("cuda_toolkits")["system_toolkit"]:
        words = [word for argv in row["install"] for word in argv]
        assert [word for word in words if word.startswith("cuda")] == ["cuda-toolkit-{x}-{y}"]


@pytest.mark.parametrize(
    ("distribution", "release", "branch", "module", "use", "provider"),
    [
        ("ubuntu", "24.04", "580", "open", "desktop", "ubuntu-archive"),
        ("ubuntu", "20.04", "580", "open", "server", "nvidia-repo-ubuntu-to-580"),
        ("debian", "12", "535", "closed", "server", "debian-archive"),
        ("debian", "13", "580", "open", "server", "nvidia-repo-debian"),
        ("rocky", "9.4", "580", "open", "server", "nvidia-repo-el8-el9"),
        ("rhel", "10.1", "595", "open", "server", "nvidia-repo-el10"),
        ("fedora", "44", "580", "closed", "desktop", "rpmfusion"),
        ("opensuse-leap", "15.6", "580", "open", "desktop", "opensuse-nvidia-repo"),
        ("sles", "15.7", "580", "open", "server", "nvidia-repo-suse"),
        ("linuxmint", "22.1", "580", "open", "desktop", "ubuntu-archive"),
        ("bazzite", "42", "580", "closed", "desktop", "bazzite-ublue"),
        ("nixos", "25.05", "580", "open", "desktop", "nixos"),
    ],
)
def test_a_branch_comes_from_who_has_it(distribution, release, branch, module, use, provider):
    at = driver_recipes.system(distribution, release)
    found = driver_recipes.recipe(at, branch, module, use)
    assert found is not None
    assert found.provider == provider


def test_a_closed_module_of_a_branch_that_has_none_is_not_offered():
    at = driver_recipes.system("ubuntu", "24.04")
    assert driver_recipes.recipe(at, "615", "closed", "desktop") is None
    assert driver_recipes.recipe(at, "615", "open", "desktop") is not None


def test_an_archive_that_has_only_the_server_line_says_so():
    assert driver_recipes.line(driver_recipes.system("ubuntu", "26.04"), "580") == "-server"
    assert driver_recipes.line(driver_recipes.system("ubuntu", "24.04"), "580") == ""


def test_an_unknown_release_is_taken_as_the_nearest_older_one():
    assert driver_recipes.system("fedora", "99").id == "fedora-44"
    assert driver_recipes.system("gentoo", "") is None


def test_the_fabric_manager_is_of_the_drivers_branch():
    commands = driver_recipes.fabric_manager("ubuntu-archive", "580")
    assert any("nvidia-fabricmanager-{branch}" in argv for argv in commands)
    assert driver_recipes.fabric_manager("arch-extra", "580") == []


@given(st.lists(st.text(max_size=30), max_size=6), st.dictionaries(st.sampled_from(sorted(HOLES)), st.text(max_size=20)))
def test_filling_never_changes_how_many_words_there_are(words, values):
    commands = [[word for word in words if "{" not in word], ["apt-get", "{branch|x}", "{kernel|generic}"]]
    told = filled(commands, values)
    assert [len(argv) for argv in told] == [len(argv) for argv in commands]


def test_a_hole_without_a_value_is_an_error_and_a_shells_text_is_left_alone():
    with pytest.raises(KeyError):
        filled([["a", "{branch}"]], {})
    assert filled([["sh", "-c", "echo {branch} $1", "sh", "{branch}"]], {"branch": "580"})[0][2] == "echo {branch} $1"


@pytest.mark.parametrize(
    ("version", "usecase", "distribution", "release", "word"),
    [
        ("6.4", "rocm", "ubuntu", "24.04", "amdgpu-install/6.4.3/ubuntu/noble/amdgpu-install_6.4.60403-1_all.deb"),
        ("7.2", "rocm", "ubuntu", "22.04", "amdgpu-install/7.2.4/ubuntu/jammy/amdgpu-install_7.2.4.70204-1_all.deb"),
        ("6.1.1", "rocm", "rhel", "9.4", "amdgpu-install/6.1.1/rhel/9.4/amdgpu-install-6.1.60101-1.el9.noarch.rpm"),
        ("6.4.0", "rocm", "ol", "9.5", "amdgpu-install/6.4/el/9.5/amdgpu-install-6.4.60400-1.el9.noarch.rpm"),
        ("10.0", "dkms", "ubuntu", "24.04", "amdgpu-install/31.50/ubuntu/noble/amdgpu-install_31.50.315000-1_all.deb"),
        ("10.1", "rocm", "ubuntu", "26.04", "https://stable.repo.amd.com/rocm/gpg/packages.gpg"),
    ],
)
def test_a_release_of_rocm_comes_by_its_own_file(version, usecase, distribution, release, word):
    found = rocm_install.installation(version, usecase, distribution, release)
    assert any(word in told for argv in found.setup for told in argv), found.setup


def test_what_amd_has_no_packages_for_is_not_offered():
    assert rocm_install.installation("7.2", "rocm", "ubuntu", "26.04") is None
    assert rocm_install.installation("6.0", "rocm", "fedora", "44") is None
    assert rocm_install.installation("", "rocm", "ubuntu", "24.04") is None


def test_inside_wsl_rocm_has_its_own_use_case():
    assert rocm_install.installation("6.4", "wsl", "ubuntu", "24.04").install[0][2] == "--usecase=wsl,rocm"
    assert "amdrocm-wsl" in rocm_install.installation("10.1", "wsl", "ubuntu", "24.04").install[0]


def test_a_toolkit_comes_from_where_it_is():
    found = cuda_toolkits.system_toolkit("12.4", "ubuntu", "22.04", "x86_64")
    assert found.install == (("apt-get", "install", "-y", "cuda-toolkit-12-4"),)
    assert any("ubuntu2204/x86_64" in word for word in found.setup[0])
    assert any("ubuntu2204/sbsa" in w for w in cuda_toolkits.system_toolkit("12.4", "ubuntu", "22.04", "aarch64").setup[0])
    wsl = cuda_toolkits.system_toolkit("12.4", "ubuntu", "22.04", "x86_64", wsl=True)
    assert any("wsl-ubuntu" in word for word in wsl.setup[0])
    assert cuda_toolkits.system_toolkit("12.4", "debian", "13", "x86_64") is None  # begins later there
    assert cuda_toolkits.system_toolkit("12.4", "arch", "", "x86_64") is None


def test_conda_takes_the_label_of_a_release_or_conda_forge():
    assert cuda_toolkits.conda_toolkit("12.4") == cuda_toolkits.CondaToolkit(channel="nvidia/label/cuda-12.4.1", packages=("cuda-toolkit",))
    assert cuda_toolkits.conda_toolkit("12.9").packages == ("cuda-toolkit", "cuda-version=12.9")
    assert cuda_toolkits.conda_toolkit("10.2").packages == ("cudatoolkit=10.2",)
    channels = {row["channel"] for row in tables.table("cuda_toolkits")["label"]}
    assert "pytorch" not in channels  # it has ended


def test_the_running_kernel_decides_how_memory_is_raised():
    pages = 24 * 2**30 // 4096
    assert gtt.options(pages, "6.17.0-8-generic") == (("ttm", "pages_limit", "6291456"),)
    assert gtt.options(pages, "6.8.0") == (("amdgpu", "gttsize", "24576"), ("ttm", "pages_limit", "6291456"))
    assert gtt.options(pages, "6.17.0", own_driver=True) == (("amdttm", "pages_limit", "6291456"),)
    assert gtt.options(pages, "") == (("ttm", "pages_limit", "6291456"),)


def test_a_mirror_is_known_by_its_operator_and_has_only_what_was_seen_there():
    assert {"TUNA", "Aliyun", "hf-mirror"} <= set(mirrors.mirror_names())
    assert mirrors.mirrored("aliyun", "pytorch", "cu126") == "https://mirrors.aliyun.com/pytorch-wheels/cu126"
    assert mirrors.mirrored("aliyun", "pytorch", "rocm6.4") == ""
    assert mirrors.mirrored("HF-Mirror", "hub") == "https://hf-mirror.com"
    assert mirrors.mirrored("nobody", "pypi") == ""


@pytest.mark.parametrize("program", ["docker", "systemd", "apt", "dnf", "conda", "pip"])
def test_each_program_is_told_its_proxy_in_its_own_way(program):
    row = surroundings.proxy(program)
    values = {"proxy": "http://proxy.example:3128", "python": "python"}
    told = filled(row.commands, values)
    assert any("proxy.example" in word for argv in told for word in argv)
    assert filled(row.undo, values)


def test_what_reads_the_variables_needs_no_row():
    assert surroundings.proxy("uv") is None


def test_engines_and_toolkits_of_containers():
    assert surroundings.engine_package("docker", "ubuntu") == "docker.io"
    assert surroundings.engine_package("podman", "fedora") == "podman"
    assert surroundings.engine_package("docker", "nosuch") == ""
    assert surroundings.container_toolkit("debian").commands[-1][-1] == "nvidia-container-toolkit"
    assert surroundings.container_toolkit("nosuch") is None


def test_a_build_weighs_what_it_weighs_or_about_what_its_neighbour_does():
    exact = package_sizes.weight("torch", "2.7.1+cu126", "cu126")
    assert exact.exact
    assert 2e9 < exact.download < 4e9 < exact.disk
    near = package_sizes.weight("torch", "2.8.0", "cu128")
    assert not near.exact
    assert near.download > 2e9
    assert package_sizes.weight("torch", "2.9.1", "cpu").download < 1e9
    assert package_sizes.weight("nosuch", "1.0") is None
