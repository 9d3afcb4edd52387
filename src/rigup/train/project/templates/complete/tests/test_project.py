"""`python -m pytest`: the data, the model, and a whole training on the CPU."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from data import drawn
from datamodule import Pictures
from model import Classifier
from train import main


def test_drawn_pictures_are_the_same_each_time():
    (first, names), (again, _) = drawn(50), drawn(50)
    assert torch.equal(first.tensors[0], again.tensors[0])
    assert first.tensors[1].max() < len(names)


def test_the_parts_of_the_data_share_nothing():
    data = Pictures()
    held_out = data.judged.dataset.indices
    parts = [set(data.training.indices)]
    parts += [{held_out[index] for index in part.indices} for part in (data.judged, data.tested)]
    assert sum(map(len, parts)) == len(set().union(*parts)) == 2000


def test_training_reaches_its_accuracy_and_its_checkpoint_makes_the_model_again(tmp_path):
    assert main(["--accelerator", "cpu", "--devices", "1", "--folder", str(tmp_path)]) >= 0.95
    (path,) = tmp_path.rglob("best.ckpt")
    model = Classifier.load_from_checkpoint(path, map_location="cpu")
    assert model(torch.zeros(2, 1, 16, 16)).shape == (2, 4)
