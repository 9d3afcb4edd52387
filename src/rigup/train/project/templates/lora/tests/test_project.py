"""`python -m pytest`: the data, the labels, and a whole fine-tuning of a tiny random model on the CPU."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from data import Example, examples
from model import adapted, tiny
from peft import PeftModel
from train import UNJUDGED, Padded, encoded, main


def test_nothing_is_both_trained_on_and_judged_by():
    training, judged = examples()
    assert not set(training) & set(judged)
    assert {row.answer for row in judged} == {row.answer for row in training}


def test_only_the_answer_is_learned():
    _model, tokenizer = tiny()
    row = encoded(Example("which colour has the boat ?", "red"), tokenizer)
    learned = [number for number in row["labels"] if number != UNJUDGED]
    assert tokenizer.decode(learned) == "red <end>"
    batch = Padded(tokenizer.pad_token_id)([row, encoded(Example("boat", "red"), tokenizer)])
    assert batch["attention_mask"].sum(1).tolist() == [len(row["input_ids"]), 3]
    assert batch["labels"].shape == batch["input_ids"].shape


def test_the_base_is_not_trained():
    trained = [name for name, weight in adapted(tiny()[0]).named_parameters() if weight.requires_grad]
    assert trained and all("lora_" in name for name in trained)


def test_training_reaches_its_accuracy_and_its_adapter_can_be_loaded(tmp_path):
    assert main(["--accelerator", "cpu", "--folder", str(tmp_path)]) >= 0.85
    model = PeftModel.from_pretrained(tiny()[0], tmp_path / "adapter")
    assert model(input_ids=torch.tensor([[3, 4]])).logits.shape[:2] == (1, 2)
