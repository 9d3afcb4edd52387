"""A training by transformers' Trainer that sends itself a signal at a step, on the last rank; each rank tells its weights.

huggingface_training.py FOLDER STEP_OF_SIGNAL EPOCHS
"""

import json
import os
import signal
import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainerCallback, TrainingArguments

from rigup.train import huggingface_callback

FOLDER, AT, EPOCHS = sys.argv[1], *map(int, sys.argv[2:])


class Words(torch.utils.data.Dataset):
    def __len__(self):
        return 32

    def __getitem__(self, index):
        ids = torch.tensor([index, index + 1, index + 2, index + 3])
        return {"input_ids": ids, "labels": ids}


class Signal(TrainerCallback):
    def on_step_begin(self, args, state, control, **given):
        if state.global_step == AT and args.process_index == args.world_size - 1:
            os.kill(os.getpid(), signal.SIGUSR1)


def main():
    torch.manual_seed(0)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2))
    arguments = TrainingArguments(
        FOLDER, per_device_train_batch_size=4, num_train_epochs=EPOCHS, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True
    )
    noted = huggingface_callback(os.path.join(FOLDER, "history"))
    trainer = Trainer(model, arguments, train_dataset=Words(), callbacks=[noted, Signal()])
    resumes = any(name.startswith("checkpoint-") for name in os.listdir(FOLDER))
    try:
        trainer.train(resume_from_checkpoint=resumes)
    finally:
        weights = [round(float(w.detach().double().sum()), 10) for w in model.parameters()]
        with open(os.path.join(FOLDER, f"told-{arguments.process_index}.json"), "w") as file:
            json.dump(
                {
                    "weights": weights,
                    "count": trainer.state.global_step,
                    "samples": noted.recording.totals.samples,
                    "bottleneck": noted.recording.bottleneck.kind,
                },
                file,
            )


if __name__ == "__main__":
    main()
