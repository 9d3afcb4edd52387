"""Memory that a training needs, by what its script names: what is told counts, what is not is the least, and nothing is made up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.fit.judge import of_name
from rigup.train.advise.inputs import Allocation, Rate
from rigup.train.advise.live import with_catalogue
from rigup.train.advise.needed import Described, described, needed
from rigup.train.advise.speed import BENCH_SPREAD, CATALOGUE_SPREAD, law
from rigup.train.check.python.modules import UnreadableError

FULL = """
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments
NAME = "Qwen/Qwen3-8B"
model = AutoModelForCausalLM.from_pretrained(NAME, torch_dtype=torch.bfloat16)
args = TrainingArguments("out", per_device_train_batch_size=4, gradient_checkpointing=True, optim="adafactor"{more})
Trainer(model, args).train()
"""
LORA = """
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, BitsAndBytesConfig
model = AutoModelForCausalLM.from_pretrained("m", quantization_config=BitsAndBytesConfig(load_in_4bit={four}))
model = get_peft_model(model, LoraConfig(r=32))
"""


def read(text):
    return described(text, "train.py", lambda _name: None)


def test_a_script_that_tells_nearly_all():
    assert read(FULL.format(more="")) == Described("Qwen/Qwen3-8B", "full", "adafactor", "bf16", 4, None, True)


def test_what_spreads_states_over_gpus():
    assert read(FULL.format(more=", fsdp='full_shard'")).sharded
    assert read(FULL.format(more=", deepspeed='ds.json'")).sharded
    assert not read(FULL.format(more="")).sharded


def test_weights_in_single_precision_whose_operations_are_cast():
    text = FULL.format(more=", bf16=True")
    assert read(text.replace("torch.bfloat16", "torch.float32")).precision == "mixed"
    assert read(text).precision == "bf16"
    assert read(text.replace(", torch_dtype=torch.bfloat16", "")).precision is None


def test_adapters():
    description = read(LORA.format(four=True))
    assert (description.model, description.kind, description.rank) == ("m", "qlora", 32)
    assert read(LORA.format(four=False)).kind == "lora"


def test_a_name_that_only_a_run_knows_is_not_told():
    assert read("import sys\nfrom transformers import AutoModel\nAutoModel.from_pretrained(sys.stdin.read())").model == ""
    assert read("from transformers import AutoTokenizer\nAutoTokenizer.from_pretrained('gpt2')").model == ""
    assert read("x = 1") == Described()


def test_no_python():
    with pytest.raises(UnreadableError):
        read("def (")


@given(
    kind=st.sampled_from(["full", "lora", "qlora"]),
    optimizer=st.sampled_from(["adamw", "adafactor", "sgd", "lion"]),
    precision=st.sampled_from(["bf16", "mixed", "fp32"]),
    samples=st.integers(1, 64),
    context=st.integers(1, 8192),
    kept=st.booleans(),
    hidden=st.sets(st.sampled_from(["kind", "optimizer", "precision", "samples", "context", "checkpointing"])),
)
def test_what_is_not_told_never_makes_it_more(kind, optimizer, precision, samples, context, kept, hidden):
    model = of_name("qwen3 8b", "BF16").model
    whole = Described("m", kind, optimizer, precision, samples, context, not kept, 16)
    part = whole._replace(**dict.fromkeys(hidden), rank=None if "kind" in hidden else 16)
    assert needed(model, part).each <= needed(model, whole).each
    assert set(needed(model, part).unknown) == hidden


def test_sharded_states_are_shared():
    model = of_name("qwen3 8b", "BF16").model
    alone = needed(model, Described("m", "full", "adamw", "bf16", 1, 2048, False))
    spread = needed(model, Described("m", "full", "adamw", "bf16", 1, 2048, False, sharded=True))
    assert alone.shared == 0
    assert spread.each + spread.shared == alone.each
    assert spread.shared > 4 * 8e9  # weights, gradients and two states in two bytes each are more


def test_bench_comes_before_data_sheets_and_is_narrower():
    rates = with_catalogue([Rate("l40", 1, 1, (100.0,))], ["l40", "mi50"], {"l40": 4.0, "mi50": 1.0})
    carried = law([rate for rate in rates if rate.device == "mi50"])
    by_sheet = law([rate for rate in rates if rate.device == "mi50" and rate.source == "catalogue"])
    allocation = Allocation("p", "mi50", 1, 1)
    assert carried.epoch(allocation).seconds.likely == pytest.approx(400.0)
    assert carried.epoch(allocation).benched
    assert not by_sheet.epoch(allocation).benched
    width = [each.epoch(allocation).seconds.high / each.epoch(allocation).seconds.low for each in (carried, by_sheet)]
    assert width[0] < width[1]
    assert BENCH_SPREAD < CATALOGUE_SPREAD


def test_without_bench_of_both_the_data_sheet_speaks():
    rates = with_catalogue([Rate("l40", 1, 1, (100.0,))], ["l40", "mi50"], {"mi50": 1.0})
    assert [rate.source for rate in rates] == ["measured", "catalogue"]
