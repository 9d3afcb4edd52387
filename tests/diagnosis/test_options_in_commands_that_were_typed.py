"""Options of a program stand within the command that was typed to start it."""

import pytest

from answer_data import diagnose

REFUSED = (
    "ValueError: To serve at least one request with the models's max seq len (131072), (16.00 GiB KV cache is needed, which is larger than "
    "the available KV cache memory (4.77 GiB). Based on the available memory, the estimated maximum model length is 38912. Try increasing "
    "`gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n"
)
MODEL = "meta-llama/Llama-3.1-8B-Instruct"


def options(tmp_path, shown):
    """What the steps that give a program an option have as commands."""
    (tmp_path / "said.txt").write_text(shown, "utf-8")
    finding = diagnose(str(tmp_path / "said.txt"))["findings"][0]
    steps = [step for fix in finding["fixes"] for step in fix["steps"] if step["kind"] == "program-option"]
    assert steps
    return [" ".join(argv) for argv in steps[0]["commands"]]


@pytest.mark.parametrize(
    ("typed", "again"),
    [
        (f"$ vllm serve {MODEL}", f"vllm serve {MODEL} --max-model-len 36864"),
        (f"$ vllm serve {MODEL} --max-model-len 131072 --port 80", f"vllm serve {MODEL} --port 80 --max-model-len 36864"),
        (f"$ vllm serve {MODEL} --max-model-len=131072", f"vllm serve {MODEL} --max-model-len 36864"),
        (f"$ vllm serve --max-model-len 131072 {MODEL}", f"vllm serve {MODEL} --max-model-len 36864"),
        (f"$ CUDA_VISIBLE_DEVICES=1 vllm serve {MODEL}", f"env CUDA_VISIBLE_DEVICES=1 vllm serve {MODEL} --max-model-len 36864"),
        (f"$ vllm serve {MODEL} --max_model_len 131072", f"vllm serve {MODEL} --max-model-len 36864"),
        (f"$ vllm serve {MODEL} # mine", f"vllm serve {MODEL} --max-model-len 36864"),
        (f"$ vllm serve {MODEL} --port 8000 > log 2>&1 &", f"vllm serve {MODEL} --port 8000 --max-model-len 36864"),
        (f"(v) ada@box:~$ vllm serve {MODEL} \\\n  --port 80", f"vllm serve {MODEL} --port 80 --max-model-len 36864"),
        (
            f"$ docker run --rm --gpus all -p 80:8000 vllm/vllm-openai:v0.10.1 --model {MODEL} --max-model-len 131072",
            f"docker run --rm --gpus all -p 80:8000 vllm/vllm-openai:v0.10.1 --model {MODEL} --max-model-len 36864",
        ),
    ],
)
def test_the_option_stands_in_the_command_and_in_the_place_of_an_earlier_value(tmp_path, typed, again):
    assert options(tmp_path, f"{typed}\n{REFUSED}") == [again]


@pytest.mark.parametrize(
    "typed",
    [
        "",  # nobody shows how it was started
        f"$ vllm serve {MODEL} --api-key $KEY",  # a shell would have to read it
        f"$ vllm serve {MODEL}\n$ vllm serve {MODEL} --port 80",  # one of two
        f"# vllm serve {MODEL} (does not start)",  # words about it
        "$ python -m vllm.collect_env",  # reports, and starts nothing
        "$ python main.py --config a.yaml",  # somebody's own, which calls the engine
        f"$ docker run --rm --gpus all --entrypoint bash vllm/vllm-openai:v0.10.1 -c 'vllm serve {MODEL}'",  # the shell would take it
        f"$ docker run --name llm --gpus all vllm/vllm-openai:v0.10.1 --model {MODEL}",  # the name is taken
    ],
)
def test_it_is_said_in_words_where_no_one_command_can_be_typed_again(tmp_path, typed):
    assert options(tmp_path, f"{typed}\n{REFUSED}") == []


def test_names_of_one_option_replace_each_other(tmp_path):
    shown = (
        "$ ./llama-server -m qwen.gguf --ctx-size 4096 -ngl 99\n"
        "srv  send_error: task id = 0, error: request (9021 tokens) exceeds the available context size (4096 tokens), try increasing it\n"
    )
    assert options(tmp_path, shown) == ["./llama-server -m qwen.gguf -ngl 99 -c 16384"]


@pytest.mark.parametrize("typed", [r".\llama-server.exe -m C:\models\q.gguf", r"bin\llama-server.exe -m C:\models\q.gguf"])
def test_folders_of_windows_stay_parted(tmp_path, typed):
    refused = (
        "srv  send_error: task id = 0, error: request (9021 tokens) exceeds the available context size (4096 tokens), try increasing it\n"
    )
    assert options(tmp_path, f"C:\\llama>{typed} -c 4096\n{refused}") == [f"{typed} -c 16384"]
