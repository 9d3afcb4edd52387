"""The steps of a plan: each distribution by its own way, nothing where it does not belong, everything in its order."""

import msgspec
import pytest

from answer_data import as_data
from answer_data import plan_of as answer
from rigup.plan import drivers, kernel, rocm, system, toolkit
from rigup.plan.steps import steps as typed
from rigup.stack.candidate import Change
from rigup.stack.profile import read_profile
from rigup.stack.site import Site, Sources
from rigup.stack.wish import Wish

KEYS = {"kind", "id", "params", "title", "because", "commands", "where", "root", "network", "restart", "tag", "state", "undo"}


def steps(choice):
    """A plan's steps as answers have them."""
    return [as_data(step) for step in typed(choice)]


def commands(told):
    return [argv for step in told for argv in step["commands"]]


def kinds(told):
    return [step["kind"] for step in told]


def change(kind, to, have=None):
    return Change(change=kind, have=have, to=to, why="Because.")


def test_a_step_has_the_contracts_shape_whatever_the_machine(machine, chosen):
    for step in steps(chosen(machine)):
        assert set(step) >= KEYS
        assert step["state"] in ("satisfied", "needed", "blocked")
        assert step["where"] in ("here", "host-of-container", "windows-host", "every-node", "by-hand")
        assert all(isinstance(word, str) for argv in step["commands"] for word in argv)
        assert step["undo"] is not None or step["undo_because"]
        assert step["title"][0].islower()
        assert step["state"] != "blocked" or step["because"]


def test_no_hole_of_a_table_is_left_open_and_nothing_is_piped_into_a_shell(machine, chosen):
    for argv in commands(steps(chosen(machine))):
        shell = argv[1] == "-c" if len(argv) > 1 else False
        for place, word in enumerate(argv):
            assert (shell and place == 2) or "{" not in word, argv
        assert "auto" not in " ".join(argv).split()


def test_a_restart_stands_behind_what_wants_it_and_before_the_environment(machine, chosen):
    told = kinds(steps(chosen(machine)))
    if "restart-machine" in told:
        place = told.index("restart-machine")
        assert told.count("restart-machine") == 1
        assert any(kind.startswith("install-driver") for kind in told[:place])
        assert any(kind.startswith("make-environment") for kind in told[place:])


@pytest.mark.parametrize("profile", ["wsl, ubuntu 24.04", "windows 11", "container, ubuntu 24.04"])
def test_no_driver_is_installed_where_the_kernel_is_somebody_elses(profile, chosen):
    told = steps(chosen(f"RTX 4070, driver 450.80, {profile}, python 3.12"))
    words = " ".join(word for argv in commands(told) for word in argv)
    assert not any(name in words for name in ("nvidia-driver", "nvidia-open", "cuda-drivers", "nvidia:"))
    assert any(step["where"] in ("windows-host", "host-of-container") for step in told)


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("RTX 4070, driver none, ubuntu 24.04", ["ubuntu-drivers", "install", "nvidia:580-open"]),
        ("GTX 1080 Ti, driver none, ubuntu 24.04", ["ubuntu-drivers", "install", "nvidia:580"]),
        ("Tesla T4, driver none, ubuntu 24.04", ["ubuntu-drivers", "install", "--gpgpu", "nvidia:580-server-open"]),
        ("RTX 4070, driver none, ubuntu 26.04", ["ubuntu-drivers", "install", "nvidia:580-server-open"]),
        ("RTX 4070, driver none, debian 13", ["apt-get", "install", "-y", "nvidia-driver-pinning-580"]),
        ("RTX 4070, driver none, rocky 9.4", ["dnf", "module", "enable", "-y", "nvidia-driver:580-open"]),
        ("GTX 1080 Ti, driver none, rocky 9.4", ["dnf", "module", "enable", "-y", "nvidia-driver:580-dkms"]),
        ("RTX 4070, driver none, arch", ["pacman", "-Syu", "--needed", "--noconfirm", "nvidia-open", "nvidia-utils"]),
    ],
)
def test_the_driver_comes_as_the_distribution_has_it(profile, words):
    told = [as_data(step) for step in drivers.steps(change("nvidia-driver", "580"), read_profile(profile))]
    assert words in [list(argv) for argv in commands(told)]


def test_an_open_module_is_never_given_to_a_card_that_it_does_not_drive():
    site = read_profile("GTX 1080 Ti + RTX 4070, driver none, ubuntu 24.04")
    assert drivers.module_for(site, "580") == "closed"
    assert drivers.module_for(read_profile("RTX 5090, driver none, ubuntu 24.04"), "580") == "open"
    assert drivers.module_for(read_profile("Tesla K80 + RTX 5090, driver none, ubuntu 24.04"), "470") == "closed"
    assert drivers.module_for(read_profile("RTX 4070, driver 580.95, proprietary module"), "580") == "closed"


def test_a_driver_of_another_provider_goes_first_and_says_so():
    site = read_profile("RTX 4070, driver 535.183, debian 12")
    told = [as_data(step) for step in drivers.steps(change("nvidia-driver", "580", "535.183"), site)]
    assert kinds(told)[0] == "remove-driver"
    assert told[0]["tag"] == "destructive"
    fresh = [as_data(step) for step in drivers.steps(change("nvidia-driver", "580"), read_profile("RTX 4070, driver none, debian 12"))]
    assert "remove-driver" not in kinds(fresh)


def test_an_nvswitch_machine_gets_the_fabric_manager_of_its_branch():
    site = read_profile("8x H100 SXM5 80GB, driver none, ubuntu 22.04").but(nvswitch=True)
    told = [as_data(step) for step in drivers.steps(change("nvidia-driver", "580"), site)]
    assert ["apt-get", "install", "-y", "nvidia-fabricmanager-580", "libnvidia-nscq-580"] in commands(told)
    without = [as_data(step) for step in drivers.steps(change("nvidia-driver", "580"), site.but(nvswitch=False))]
    assert "install-fabric-manager" not in kinds(without)


def test_secure_boot_wants_a_key_only_for_modules_that_are_built_here():
    def told(profile):
        return kinds([as_data(s) for s in drivers.steps(change("nvidia-driver", "580"), read_profile(profile))])

    assert "enrol-driver-key" in told("RTX 4070, driver none, debian 13, secure boot")
    assert "enrol-driver-key" not in told("RTX 4070, driver none, debian 13")
    assert "enrol-driver-key" not in told("RTX 4070, driver none, ubuntu 24.04, secure boot")


def test_systems_that_are_images_go_their_own_way():
    def told(distribution, cards="RTX 4070"):
        site = read_profile(f"{cards}, driver none").but(distribution=distribution)
        return [as_data(step) for step in drivers.steps(change("nvidia-driver", "580"), site)]

    assert all(argv[0] == "rpm-ostree" for argv in commands(told("bazzite")))
    layered = told("silverblue")
    assert kinds(layered) == ["add-package-source", "restart-machine", "install-driver-packages"]
    assert {argv[0] for argv in commands(layered)} == {"rpm-ostree", "systemctl"}
    nixos = told("nixos")
    assert kinds(nixos) == ["write-configuration"]
    assert "hardware.nvidia.open = true" in nixos[0]["title"]
    assert "legacy_580" in told("nixos", "GTX 1080 Ti")[0]["title"]
    assert commands(told("ubuntu-core"))[0][0] == "snap"
    assert "nvidia-drivers-580-open" in commands(told("flatcar"))[0]


def test_what_the_tables_do_not_know_is_said_and_not_guessed():
    site = read_profile("RTX 4070, driver none").but(distribution="gentoo")
    told = [as_data(step) for step in drivers.steps(change("nvidia-driver", "580"), site)]
    assert commands(told) == []
    assert "gentoo" in told[0]["because"]


def test_a_plan_without_root_blocks_what_needs_it(chosen):
    choice = chosen("RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12")
    barred = msgspec.structs.replace(choice, changes=(change("nvidia-driver", "580"),), site=choice.site.but(root=False))
    told = [step for step in steps(barred) if step["root"]]
    assert told
    assert {step["state"] for step in told} == {"blocked"}
    assert all("root" in step["because"] for step in told)


def test_without_a_network_a_folder_of_packages_is_enough(chosen):
    site = read_profile("no gpu, debian 13, python 3.13, no network")
    assert {step["state"] for step in steps(chosen("", site=site)) if step["network"]} == {"blocked"}
    brought = site.but(sources=Sources(find_links=("/srv/wheels",)))
    told = steps(chosen("", site=brought))
    assert {step["state"] for step in told if step["network"]} == {"needed"}
    assert ["--find-links", "/srv/wheels"] in [argv[-2:] for argv in commands(told)]


# -- the environment ---------------------------------------------------------------------------------


def test_a_plan_for_the_planned_state_is_ready(chosen):
    site = read_profile("RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12")
    choice = chosen("", "torch", "torchvision", site=site)
    there = site.but(installed=dict(choice.packages), environment="/srv/env")
    again = answer(chosen("", "torch", "torchvision", site=there))
    assert again["verdict"] == "ready"
    assert again["cost"]["download_bytes"] == again["cost"]["restarts"] == 0
    assert not any(argv[0] == "rm" for step in again["steps"] for argv in step["undo"] or [])


def test_an_environment_of_another_python_is_left_alone(chosen):
    site = read_profile("no gpu, debian 13, python 3.13").but(installed={"numpy": "1.0"}, environment="/srv/env", python="3.6")
    told = steps(chosen("", site=site, python="3.12"))
    made = next(step for step in told if step["kind"].startswith("make-"))
    assert made["params"]["environment"] == "/srv/env-3.12"


def test_a_missing_python_is_brought_by_uv_without_root(chosen):
    choice = chosen("RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.6")
    told = steps(choice)
    made = next(step for step in told if step["kind"] == "make-environment-with-uv")
    assert made["commands"][0][-4:] == ["--seed", "--python", choice.python, ".venv"]
    assert not any(step["root"] for step in told)


def test_conda_makes_the_environment_and_pip_comes_last(chosen):
    choice = chosen("RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12", manager="conda")
    asking = msgspec.structs.replace(choice, changes=(change("toolkit", "CUDA 12.4 and cuDNN 9.1"),))
    told = steps(asking)
    assert kinds(told) == ["make-conda-environment", "install-with-conda", "install-with-conda", "link-folder", "install-into-environment"]
    assert "nvidia/label/cuda-12.4.1" in told[1]["commands"][0]
    assert told[1]["commands"][0].index("nvidia/label/cuda-12.4.1") < told[1]["commands"][0].index("conda-forge")
    assert not any("pytorch" in argv for argv in commands(told))
    assert not any(step["root"] for step in told)


def test_variables_stay_in_the_environment(chosen):
    told = steps(chosen("Radeon 680M, ubuntu 24.04, python 3.12", "torch==2.7.1"))
    variable = next(step for step in told if step["kind"] == "set-environment-variable")
    assert variable["commands"][0][-3:] == [".venv/bin/activate", "HSA_OVERRIDE_GFX_VERSION", "10.3.0"]
    assert variable["undo"]
    conda = steps(chosen("Radeon 680M, ubuntu 24.04, python 3.12", "torch==2.7.1", manager="conda"))
    assert ["conda", "env", "config", "vars", "set", "-p", ".venv", "HSA_OVERRIDE_GFX_VERSION=10.3.0"] in commands(conda)


def test_windows_starts_python_by_its_launcher(chosen):
    told = commands(steps(chosen("RTX 4070, driver 580.95, windows 11, python 3.12")))
    assert told[0] == ["py", "-3.12", "-m", "venv", ".venv"]
    assert told[1][0] == ".venv\\Scripts\\python.exe"


def test_a_persons_own_places_are_kept_and_a_password_is_not_told(chosen):
    sources = Sources(
        index="https://mirror.example/simple", extra_indexes=("https://ada:secret@pypi.example/simple",), find_links=("/srv/my wheels",)
    )
    site = read_profile("RTX 4070, driver 550.54, ubuntu 24.04, python 3.12").but(sources=sources)
    told = commands(steps(chosen("", "torch==2.7.1+cu118", site=site)))
    install = next(argv for argv in told if "install" in argv)
    assert install[install.index("--extra-index-url") :][:2] == ["--extra-index-url", "https://mirror.example/simple"]
    assert "/srv/my wheels" in install
    assert not any("secret" in word for argv in told for word in argv)


# -- toolkits, ROCm, kernels, groups, proxies ----------------------------------------------------------


def test_a_toolkit_leaves_the_driver_alone(chosen):
    choice = chosen("RTX 4070, driver 580.95.05, ubuntu 22.04, python 3.12")
    told = [as_data(step) for step in toolkit.steps(change("toolkit", "CUDA 12.4 and cuDNN 9.1"), choice)]
    assert ["apt-get", "install", "-y", "cuda-toolkit-12-4"] in commands(told)
    assert ["apt-get", "install", "-y", "cudnn9-cuda-12"] in commands(told)
    assert not any("cuda" in argv or "cuda-12-4" in argv for argv in commands(told))


def test_rocm_inside_wsl_has_no_kernel_driver():
    site = read_profile("RX 7900 XTX, wsl, ubuntu 24.04")
    told = [as_data(step) for step in rocm.library_steps(change("rocm", "6.4"), site)]
    assert ["amdgpu-install", "-y", "--usecase=wsl,rocm", "--no-dkms"] in commands(told)
    assert {step["where"] for step in told} == {"here"}
    assert [s.where for s in rocm.driver_steps(change("amdgpu", "6.4"), site)] == ["windows-host"]


def test_amds_own_driver_needs_the_headers_and_a_restart():
    site = read_profile("RX 7900 XTX, ubuntu 24.04, kernel 6.8.0-60-generic")
    told = [as_data(step) for step in rocm.driver_steps(change("amdgpu", "6.4"), site)]
    assert ["apt-get", "install", "-y", "linux-headers-6.8.0-60-generic"] in commands(told)
    assert told[-1]["restart"]


def test_the_memory_of_an_integrated_gpu_is_raised_as_the_kernel_wants_it():
    site = read_profile("Radeon 680M, ubuntu 24.04, kernel 6.17.0-8-generic")
    told = [as_data(step) for step in kernel.parameter_steps(change("kernel-parameter", "ttm.pages_limit=6291456"), site)]
    assert [step["params"] for step in told] == [{"module": "ttm", "name": "pages_limit", "value": "6291456"}]
    assert ["update-initramfs", "-u", "-k", "all"] in commands(told)


def test_an_argument_of_the_kernel_is_one_word_of_known_letters():
    site = read_profile("RX 7900 XTX, ubuntu 24.04")
    told = list(kernel.parameter_steps(change("kernel-parameter", "iommu=pt"), site))
    assert told[0].commands[-1] == ("update-grub",)
    evil = list(kernel.parameter_steps(change("kernel-parameter", 'x="; rm -rf /'), site))
    assert evil[0].commands == ()


def test_groups_count_from_the_next_login_on():
    told = list(kernel.group_steps(change("groups", "render, video"), read_profile("RX 7900 XTX, ubuntu 24.04")))
    assert [step.kind for step in told] == ["join-group-yourself", "join-group-yourself", "log-in-again"]


@pytest.mark.parametrize(("distribution", "program"), [("ubuntu 24.04", "apt"), ("fedora 44", "dnf")])
def test_root_is_told_the_proxy_that_sudo_takes_away(distribution, program, chosen):
    site = read_profile(f"RTX 4070, driver none, {distribution}, python 3.12").but(sources=Sources(proxy="http://proxy.example:3128"))
    told = [step for step in steps(chosen("", site=site)) if step["kind"] == "tell-proxy-as-root"]
    assert [step["params"]["program"] for step in told] == [program]
    assert any("http://proxy.example:3128" in word for argv in told[0]["commands"] for word in argv)


def test_a_proxy_with_a_password_is_told_by_hand(chosen):
    site = read_profile("RTX 4070, driver none, ubuntu 24.04, python 3.12").but(
        sources=Sources(proxy="http://ada:secret@proxy.example:3128")
    )
    told = next(step for step in steps(chosen("", site=site)) if step["kind"] == "tell-proxy-as-root")
    assert told["commands"] == []
    assert "secret" not in str(told)
    assert "proxy.example" in told["title"]


def test_work_in_images_sets_up_the_engine_and_not_an_environment(chosen):
    told = steps(chosen("RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12", manager="docker"))
    assert kinds(told) == ["set-up-container-toolkit", "tell-engine", "write-recipe", "build-image", "start-image"]
    assert "--gpus" in told[-1]["commands"][0]
    amd = steps(chosen("RX 7900 XTX, ubuntu 24.04, python 3.12", manager="docker"))
    assert "--device=/dev/kfd" in amd[-1]["commands"][0]
    assert kinds(amd)[0] == "write-recipe"
    apptainer = steps(chosen("RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12", manager="apptainer"))
    assert "--nv" in apptainer[-1]["commands"][0]


@pytest.mark.parametrize(
    "kind",
    [
        "nvidia-driver",
        "windows-driver",
        "amdgpu",
        "rocm",
        "kernel",
        "kernel-parameter",
        "groups",
        "container-toolkit",
        "container-engine",
        "toolkit",
        "os",
        "wsl",
        "firmware",
        "service",
    ],
)
@pytest.mark.parametrize(
    "profile", ["ubuntu 24.04", "rocky 9.4", "sles 15.7", "arch", "nixos", "wsl, ubuntu 24.04", "windows 11", "macos 15.6"]
)
def test_every_change_of_the_contract_has_a_step_on_every_system(kind, profile, chosen):
    choice = chosen(f"no gpu, {profile}, python 3.12")
    to = {"service": "ollama"}.get(kind, "12.4")
    asking = msgspec.structs.replace(choice, changes=(change(kind, to),), variables={"HSA_OVERRIDE_GFX_VERSION": "10.3.0"})
    assert list(system.steps(asking))


def test_a_service_gets_the_variables_in_a_drop_in(chosen):
    choice = chosen("Radeon 680M, ubuntu 24.04, python 3.12", "torch==2.7.1")
    told = steps(msgspec.structs.replace(choice, changes=(change("service", "ollama.service"),)))
    drop_in = next(step for step in told if step["kind"] == "service-variable")
    assert drop_in["params"] == {"service": "ollama", "name": "HSA_OVERRIDE_GFX_VERSION", "value": "10.3.0"}


def test_a_hub_mirror_is_a_variable_of_the_environment(chosen):
    told = steps(chosen("no gpu, debian 13, python 3.13", mirror="hf-mirror"))
    assert {"HF_ENDPOINT"} == {step["params"]["name"] for step in told if step["kind"] == "set-environment-variable"}


def test_planning_is_pure():
    site = Site(distribution="ubuntu", release="24.04", python="3.12")
    from rigup.stack.choose import choose

    assert steps(choose(Wish(), site)) == steps(choose(Wish(), site))
