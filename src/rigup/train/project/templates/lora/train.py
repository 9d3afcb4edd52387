"""Fine-tune a causal language model by LoRA: `python train.py` on what is here, `sbatch job.sbatch` on many."""

import argparse
from pathlib import Path

import torch
from data import Example, examples
from model import adapted, base
from transformers import PreTrainedTokenizerBase, Trainer, TrainingArguments, set_seed

from rigup.train import huggingface_callback, join, trainer_args

UNJUDGED = -100  # a label that the loss leaves out


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """What may be said on the command line."""
    parser = argparse.ArgumentParser(description="Fine-tune a causal language model by LoRA.")
    parser.add_argument("--model", help="a folder with a model, or a name on the hub; else a tiny random one")
    parser.add_argument("--data", help='a file of lines {"prompt": …, "answer": …}; else a small world is made')
    parser.add_argument("--folder", default="run", help="the folder for checkpoints and the adapter; all nodes see it")
    parser.add_argument("--epochs", type=float, default=30)
    parser.add_argument("--batch-size", type=int, default=8, help="of each process")
    parser.add_argument("--rate", type=float, default=5e-3, help="learning rate; 2e-4 is usual for a real model")
    parser.add_argument("--rank", type=int, default=16, help="of LoRA's matrices")
    parser.add_argument("--workers", type=int, default=0, help="processes that read data, for each GPU")
    parser.add_argument("--accelerator", default="auto", choices=["auto", "gpu", "mps", "cpu"])
    return parser.parse_args(words)


def encoded(example: Example, tokenizer: PreTrainedTokenizerBase) -> dict[str, list[int]]:
    """Tokens of an example; only those of the answer have labels."""
    prompt = tokenizer(example.prompt + " ", add_special_tokens=False)["input_ids"]
    answer = tokenizer(example.answer, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    return {"input_ids": prompt + answer, "labels": [UNJUDGED] * len(prompt) + answer}


class Padded:
    """Examples of one batch, filled up to the longest of them."""

    def __init__(self, pad: int) -> None:
        self.pad = pad

    def __call__(self, rows: list[dict[str, list[int]]]) -> dict[str, torch.Tensor]:
        longest = max(len(row["input_ids"]) for row in rows)
        lacking = [longest - len(row["input_ids"]) for row in rows]
        return {
            "input_ids": torch.tensor([row["input_ids"] + [self.pad] * n for row, n in zip(rows, lacking)]),
            "attention_mask": torch.tensor([[1] * (longest - n) + [0] * n for n in lacking]),
            "labels": torch.tensor([row["labels"] + [UNJUDGED] * n for row, n in zip(rows, lacking)]),
        }


@torch.no_grad()
def accuracy(model: torch.nn.Module, tokenizer: PreTrainedTokenizerBase, rows: list[Example]) -> float:
    """The part of the answers that the model gives word for word."""
    model.eval()
    right = 0
    for row in rows:
        prompt = tokenizer(row.prompt + " ", add_special_tokens=False, return_tensors="pt")["input_ids"].to(
            model.device
        )
        wanted = tokenizer(row.answer, add_special_tokens=False)["input_ids"]
        generated = model.generate(
            input_ids=prompt,
            attention_mask=torch.ones_like(prompt),
            max_new_tokens=len(wanted),
            do_sample=False,
            pad_token_id=tokenizer.pad_token_id,
        )
        right += generated[0, prompt.shape[1] :].tolist() == wanted
    return right / len(rows)


def main(words: list[str] | None = None) -> float:
    """Train, write the adapter, and return the accuracy on what was not trained on."""
    given = arguments(words)
    ranks = join("cpu" if given.accelerator == "cpu" else None)
    chosen = trainer_args(accelerator=given.accelerator)
    set_seed(0)
    model, tokenizer = base(given.model)
    training, judged = examples(given.data)
    trainer = Trainer(
        model=adapted(model, given.rank),
        args=TrainingArguments(
            output_dir=given.folder,
            num_train_epochs=given.epochs,
            per_device_train_batch_size=given.batch_size,
            learning_rate=given.rate,
            dataloader_num_workers=given.workers,
            bf16=chosen["precision"] == "bf16-mixed",
            fp16=chosen["precision"] == "16-mixed",
            use_cpu=given.accelerator == "cpu",
            ddp_find_unused_parameters=False,
            report_to="none",
            logging_steps=50,
            save_total_limit=2,
        ),
        train_dataset=[encoded(row, tokenizer) for row in training],
        data_collator=Padded(tokenizer.pad_token_id),
        callbacks=[huggingface_callback()],
    )
    trainer.train(resume_from_checkpoint=any(Path(given.folder).glob("checkpoint-*")) or None)
    found = accuracy(ranks.bare(trainer.model), tokenizer, judged)
    trainer.save_model(str(Path(given.folder) / "adapter"))
    ranks.print(f"accuracy {found:.3f}")
    return found


if __name__ == "__main__":
    main()
