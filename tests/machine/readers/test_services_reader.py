"""Services, shells, the loader."""

from rigup.machine.kinds import LoaderEntry, PathLibrary, SearchPath, Service, Variable

ADA = {
    "user": "ada",
    "uid": 1000,
    "groups": ["ada"],
    "environment": {"PATH": "/usr/bin", "LD_LIBRARY_PATH": "/usr/local/cuda/lib64:/opt/x/:/usr/local/cuda/lib64"},
}
UNIT = """[Unit]
Description=Ollama Service

[Service]
ExecStart=/usr/local/bin/ollama serve
User=ollama
SupplementaryGroups=render video
Environment="PATH=/usr/local/bin:/usr/bin" HSA_OVERRIDE_GFX_VERSION=10.3.0 'OLLAMA_HOST=0.0.0.0'
Environment=OLLAMA_DEBUG=1 \\
  "ROCR_VISIBLE_DEVICES=0"

[Install]
WantedBy=default.target
"""


def variables(facts, process):
    return {v.name: v.value for v in facts.of(Variable) if v.place.process == process}


def test_a_unit_names_what_its_service_gets(tree):
    facts = tree(
        {
            "/etc/systemd/system/ollama.service": UNIT,
            "/etc/systemd/system/ollama.service.d/override.conf": "[Service]\nEnvironment=OLLAMA_KEEP_ALIVE=-1\n",
            "/sys/fs/cgroup/system.slice/ollama.service/cgroup.procs": "1\n",
            "/etc/default/ollama": "OLLAMA_MODELS=/models\n",
            "/etc/systemd/system/default.target.wants/ollama.service": "-> /etc/systemd/system/ollama.service",
        }
    )
    (service,) = facts.of(Service)
    assert (service.name, service.user, service.groups, service.running, service.enabled) == (
        "ollama",
        "ollama",
        ["render", "video"],
        True,
        True,
    )
    assert variables(facts, "unit:ollama") == {
        "PATH": "/usr/local/bin:/usr/bin",
        "HSA_OVERRIDE_GFX_VERSION": "10.3.0",
        "OLLAMA_HOST": "0.0.0.0",
        "OLLAMA_DEBUG": "1",
        "ROCR_VISIBLE_DEVICES": "0",
        "OLLAMA_KEEP_ALIVE": "-1",
        "OLLAMA_MODELS": "/models",
    }


def test_services_that_have_nothing_to_do_with_a_gpu_are_left_out(tree):
    facts = tree({"/etc/systemd/system/backup.service": "[Service]\nExecStart=/usr/local/bin/backup\nUser=root\n"})
    assert facts.of(Service) == []


def test_what_a_login_shell_gets(tree):
    facts = tree(
        {
            "/home/ada/.bashrc": 'alias ll="ls -l"\nexport HSA_OVERRIDE_GFX_VERSION=10.3.0 # for the card\nexport A_B="x y" C="$HOME/z"\n'
            "PLAIN=not-exported\n# export OFF=1\nexport PATH=/elsewhere:$PATH\nexport X=$(uname)\n",
            "/home/ada/.config/fish/config.fish": "set -gx CUDA_VISIBLE_DEVICES 1\n",
            "/etc/environment": 'ROCR_VISIBLE_DEVICES="0"\n',
        },
        who=ADA,
    )
    told = variables(facts, "shell")
    assert told == {
        "PATH": "/usr/bin",
        "LD_LIBRARY_PATH": ADA["environment"]["LD_LIBRARY_PATH"],
        "HSA_OVERRIDE_GFX_VERSION": "10.3.0",
        "A_B": "x y",
        "C": "$HOME/z",
        "CUDA_VISIBLE_DEVICES": "1",
        "ROCR_VISIBLE_DEVICES": "0",
    }


def test_libraries_on_a_search_path_are_looked_for(tree):
    facts = tree(
        {
            "/usr/local/cuda/lib64/libcudnn.so.8": "-> libcudnn.so.8.0.3",
            "/usr/local/cuda/lib64/libcudnn.so.8.0.3": "",
            "/usr/local/cuda/lib64/libother.so": "",
        },
        who=ADA,
    )
    assert {path.path for path in facts.of(SearchPath)} == {"/usr/local/cuda/lib64", "/opt/x"}
    assert {(library.soname, library.version, library.folder) for library in facts.of(PathLibrary)} == {
        ("libcudnn.so.8", "8.0.3", "/usr/local/cuda/lib64"),
        ("libcudnn.so.8.0.3", "8.0.3", "/usr/local/cuda/lib64"),
    }


def test_the_loaders_cache_takes_the_first_of_its_width(pasted):
    facts = pasted(
        "3 libs found in cache `/etc/ld.so.cache'\n\tlibcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1\n"
        "\tlibcuda.so.1 (libc6) => /lib/i386-linux-gnu/libcuda.so.1\n\tlibz.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libz.so.1\n"
    )
    assert [(entry.soname, entry.path) for entry in facts.of(LoaderEntry)] == [("libcuda.so.1", "/lib/x86_64-linux-gnu/libcuda.so.1")]
