"""Who speaks: prompts, commands that lead elsewhere, log prefixes, headings."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answer_data import diagnose
from rigup.knowledge.doctor_tables import speakers
from rigup.machine.facts import Place
from rigup.machine.look import look
from rigup.machine.paste import texts_of
from rigup.machine.sources import Source, open_source
from rigup.machine.texts import Text


def places(body: str, given: Place = Place()) -> list[str]:
    """The place of each line."""
    text = texts_of("pasted", body, given)[0]
    return [str(text.place(match.start())) for match in re.finditer(r"^.+$", text.body, re.MULTILINE)]


def findings(*files: tuple[str, str]):
    """What the doctor finds in several texts."""
    from answer_data import answer
    from rigup.diagnosis.answer import Diagnosis
    from rigup.diagnosis.judge import judged

    texts = [text for name, body in files for text in texts_of(name, body)]
    facts = look([Source(Place(), None, tuple(texts))])
    found, skipped = judged(facts)
    return answer(Diagnosis(facts, found, skipped))["findings"]


@pytest.mark.parametrize("row", speakers(), ids=lambda row: row.kind + ":" + row.example[:30])
def test_each_row_knows_its_example(row):
    assert row.example
    assert row.literal in row.example
    assert re.search(row.regex, row.example, re.MULTILINE)


NEAR_MISSES = [
    "Before you install this, read the manual",
    "After all that I still get the error:",
    "the container is fine",
    "Host: example.org",
    "host: example.org",
    "Node 0 size: 64 MB",
    "node_modules/foo/index.js",
    "see https://example.org/ada@box: it is there",
    "I start docker run from a script",
    "docker run --help",
    "level=info ts=2024-01-01 caller=main.go:12 msg=hello",
    "sshd[811]: Accepted publickey",
    "user@example.org wrote: hello",
    "Windows: 11",
    "  | column | other |",
    "Error: source=cache",
    "$PATH is not set",
    "the path C:\\Users\\ada is long",
    "root@train-gpu01:/data# date",
    "root@srv-h100s:/data# date",
    "root@rig-77777:/data# date",
    "driver | 550.54",
    "gpu  | memory | name",
    "see /workspaces/app for more",
    "the pyxis: container was removed",
    "docker logs while it was loading",
    "docker exec when it hangs",
]


@pytest.mark.parametrize(
    "prompt",
    [
        "root@embed-7hx4p:/srv#",
        "embed-66d8c4b5f9-tq7wz:/srv$",
        "I have no name!@5e7a90c3d1b2:/srv$",
        "(base) jovyan@hub-ada:~/work$",
        "root@C.8812345:~#",
        "/ #",
    ],
)
def test_prompts_that_only_a_container_has(prompt):
    assert places(prompt + " nvidia-smi\nnvidia-smi: command not found") == ["container", "container"]


@pytest.mark.parametrize("line", NEAR_MISSES)
def test_what_only_looks_like_a_speaker_turns_nothing(line):
    assert places(line + "\nnvidia-smi: command not found") == ["here", "here"]


def test_a_container_inside_a_host():
    assert places(
        "ada@box:~$ nvidia-smi -L\nGPU 0\nada@box:~$ docker run --rm -it pytorch bash\n"
        "root@0f3a9c1b2d4e:/workspace# nvidia-smi\nFailed\nroot@0f3a9c1b2d4e:/workspace# exit\nexit\nada@box:~$ date\n"
    ) == ["here", "here", "container", "container", "container", "here", "here", "here"]


def test_a_named_container_keeps_its_name_at_its_own_prompt():
    assert places("$ docker exec -it ollama bash\nroot@0f3a9c1b2d4e:/# nvidia-smi\n$ date") == [
        "container:ollama",
        "container:ollama",
        "here",
    ]


def test_the_engine_speaks_on_the_host():
    said = places("$ docker run --gpus all ubuntu nvidia-smi\ndocker: Error response from daemon: could not select device driver")
    assert said == ["container", "host"]


def test_what_is_started_in_the_background_does_not_speak():
    assert places("$ docker run -d --gpus all ollama/ollama\n0f3a9c1b2d4e") == ["here", "here"]


def test_a_service_inside_a_container():
    said = places('$ docker logs ollama\ntime=2024-09-10T21:53:24.695Z level=INFO source=gpu.go:347 msg="no GPU"\nrocBLAS error: x\n$ id')
    assert said == ["container:ollama", "container:ollama/service:ollama", "container:ollama/service:ollama", "here"]


def test_a_journal_tells_the_service():
    assert places("Jul 28 15:11:48 box ollama[3074]: starting\nJul 28 15:11:49 box ollama[3074]: x") == ["service:ollama"] * 2


def test_systemctl_cat_names_the_unit():
    assert places("# /etc/systemd/system/ollama.service.d/override.conf\n[Service]") == ["unit:ollama"] * 2


def test_several_nodes():
    assert places("node01$ nvidia-smi\nfine\nnode02$ nvidia-smi\nbroken") == ["node01", "node01", "node02", "node02"]
    assert places("=== node01 ===\n$ nvidia-smi\n=== node02 ===\n$ nvidia-smi") == ["node01", "node01", "node02", "node02"]
    assert places("gpu-07 | CHANGED | rc=0 >>\nfine\ngpu-08 | FAILED | rc=9 >>\nbroken") == ["gpu-07", "gpu-07", "gpu-08", "gpu-08"]


def test_nccl_lines_tell_the_node():
    body = "n1:12:20 [0] NCCL INFO Bootstrap\nn2:13:21 [1] include/shm.h:28 NCCL WARN Call to posix_fallocate failed"
    assert places(body) == ["n1", "n2"]


def test_before_and_after():
    assert places("## Before the update\n$ nvidia-smi\nfine\n## After the update\n$ nvidia-smi\nbroken") == ["before"] * 3 + ["after"] * 3


def test_headings_of_host_and_container():
    assert places("On the host:\nfine\nInside the container:\nbroken\n**Host:**\nfine") == [
        "host",
        "host",
        "container",
        "container",
        "host",
        "host",
    ]


def test_windows_beside_wsl():
    assert places("PS C:\\Users\\ada> nvidia-smi\nfine\nada@DESKTOP-1:/mnt/c$ nvidia-smi\nbroken") == ["windows", "windows", "here", "here"]


def test_the_text_beats_the_name_of_its_file():
    assert places("(host) # nvidia-smi -L\nGPU 0", Place(world="container")) == ["host", "host"]


def test_a_fault_of_one_node_is_not_the_others():
    found = findings(
        (
            "a.txt",
            (
                "node01$ nvidia-smi -L\nGPU 0: NVIDIA A10 (UUID: GPU-f15ae561-21b1-6003-c768-861fc285203b)\n"
                "node02$ nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\n"
            ),
        )
    )
    assert [(one["cause"], one["place"]) for one in found] == [("nvml-driver-library-mismatch", "node02")]


def test_a_service_in_a_container_is_inside_it():
    log = (
        '$ docker logs ollama\ntime=2024-09-10T21:53:24.695Z level=ERROR source=amd_linux.go:364 msg="amdgpu devices detected but permission '
        'problems block access" error="permissions not set up properly.  Either run ollama as root, or add you user account to the render group. '
        'open /dev/kfd: permission denied"\n'
    )
    assert [one["cause"] for one in findings(("a.txt", log))] == ["container-render-group-mismatch"]
    assert [one["cause"] for one in findings(("a.txt", log.split("\n", 1)[1]))] == ["render-group-missing"]


def test_the_later_state_stands_before_the_earlier():
    found = findings(
        (
            "a.txt",
            (
                "Before:\nUnable to open /dev/kfd read-write: Permission denied\nAfter:\n"
                "Failed to initialize NVML: Driver/library version mismatch\n"
            ),
        )
    )
    assert {one["place"] for one in found} == {"before", "after"}


def test_a_variable_of_the_shell_is_not_the_services():
    """The same report with the override in the unit is healthy."""
    unit = (
        "# /etc/systemd/system/ollama.service\n[Service]\nExecStart=/usr/local/bin/ollama serve\n{}\n[Install]\nWantedBy=default.target\n"
    )
    shell = "$ export HSA_OVERRIDE_GFX_VERSION=10.3.0\n"
    without = findings(("a.txt", unit.format("User=ollama")), ("b.txt", shell))
    assert [one["cause"] for one in without] == ["override-not-in-service"]
    assert findings(("a.txt", unit.format('Environment="HSA_OVERRIDE_GFX_VERSION=10.3.0"')), ("b.txt", shell)) == []


@pytest.mark.long
def test_a_long_text_with_many_prompts_is_read_in_time(tmp_path):
    """Cost grows with the finds only; the many prompts of a long session are still all turns."""
    body = "ada@box:~$ true\nroot@0f3a9c1b2d4e:/# true\n" * 500
    (tmp_path / "a.txt").write_text(body)
    assert not diagnose(str(tmp_path))["troubles"]
    text = open_source(str(tmp_path))[0].texts[0]
    assert isinstance(text, Text)
    assert len(text.turns) == 1000


def test_roots_own_prompt_is_outside_again_after_a_command_in_a_container():
    assert places("root@gpu01:~# docker run --rm --gpus all ubuntu nvidia-smi -L\nFailed\nroot@gpu01:~# nvidia-smi -L\nGPU 0\n") == [
        "container",
        "container",
        "here",
        "here",
    ]


def test_roots_prompt_inside_is_not_the_one_outside():
    assert places("root@gpu01:~# docker run -it pytorch bash\nroot@trainer:/workspace# nvidia-smi\nFailed\nroot@gpu01:~# date") == [
        "container",
        "container",
        "container",
        "here",
    ]


def test_a_bare_sign_is_outside_again_unless_a_shell_was_started():
    assert places("# podman run --rm ubuntu nvidia-smi -L\nFailed\n# nvidia-smi -L\nGPU 0")[2:] == ["here", "here"]
    assert places("# podman run -it ubuntu bash\n# nvidia-smi -L\nFailed")[1:] == ["container", "container"]


def test_an_indented_command_leads_into_a_container_too():
    assert places("\tsudo docker run --rm trainer python main.py\nRuntimeError") == ["container", "container"]


def test_the_old_compose_numbers_its_containers_with_an_underscore():
    assert places("worker_1  | RuntimeError") == ["container:worker_1"]


def test_a_quoted_prompt_of_a_container():
    assert places("> root@0f3a9c1b2d4e:/workspace# nvidia-smi\nFailed") == ["container", "container"]


@given(st.lists(st.sampled_from(["root@a:~# docker run x y", "root@a:~# date", "# podman run x y", "# ls", "x", "exit"]), max_size=60))
@settings(max_examples=60, deadline=None)
def test_turns_come_in_order_whatever_is_typed(lines):
    turns = texts_of("pasted", "\n".join(lines))[0].turns
    assert [start for start, _place in turns] == sorted(start for start, _place in turns)
