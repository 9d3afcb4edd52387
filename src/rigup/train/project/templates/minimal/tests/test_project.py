"""`python -m pytest`: the data, and a whole training on the CPU."""

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from data import drawn, pictures
from model import Network
from train import main


def test_drawn_pictures_are_the_same_each_time():
    (first, names), (again, _) = drawn(50), drawn(50)
    assert torch.equal(first.tensors[0], again.tensors[0])
    assert first.tensors[0].shape == (50, 1, 16, 16)
    assert first.tensors[1].max() < len(names)


def test_nothing_is_both_trained_on_and_judged_by():
    training, judged, _names = pictures()
    assert not set(training.indices) & set(judged.indices)


def test_the_network_gives_a_logit_for_each_class():
    assert Network(4)(torch.zeros(2, 1, 16, 16)).shape == (2, 4)


def test_training_reaches_its_accuracy(tmp_path):
    assert main(["--accelerator", "cpu", "--devices", "1", "--folder", str(tmp_path)]) >= 0.95
