"""The model and its tokenizer: one that is named, or a tiny one with random weights; and LoRA around it."""

import torch
from data import COLOURS, QUESTIONS, THINGS
from peft import LoraConfig, PeftModel, get_peft_model
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)


def base(name: str | None = None) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """The model that is adapted, and its tokenizer.

    Args:
        name: a folder with a model, or a name on the Hugging Face hub; without it a tiny model is made.

    """
    if name is None:
        return tiny()
    tokenizer = AutoTokenizer.from_pretrained(name)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    return AutoModelForCausalLM.from_pretrained(name), tokenizer


def tiny(seed: int = 0) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A Llama of 0.2 million random weights that knows the words of data.py: to try all this without a download."""
    words = ["<pad>", "<end>", "<unknown>", *COLOURS, *THINGS]
    words += sorted({word for text in QUESTIONS for word in text.split()} - {*words, "{0}"})
    word_tokenizer = Tokenizer(
        models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unknown>")
    )
    word_tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=word_tokenizer, pad_token="<pad>", eos_token="<end>", unk_token="<unknown>"
    )
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=96,
        intermediate_size=192,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=64,
        initializer_range=0.1,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
    )
    return LlamaForCausalLM(config), tokenizer


def adapted(model: PreTrainedModel, rank: int = 16) -> PeftModel:
    """The model with LoRA on all of its linear layers: of its weights only the added ones are trained."""
    return get_peft_model(
        model,
        LoraConfig(task_type="CAUSAL_LM", r=rank, lora_alpha=2 * rank, lora_dropout=0.0, target_modules="all-linear"),
    )
