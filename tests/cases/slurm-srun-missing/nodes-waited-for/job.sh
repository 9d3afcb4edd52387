#!/bin/bash
#SBATCH --nodes=3
#SBATCH --gres=gpu:4
torchrun --nnodes=3 --nproc_per_node=4 train.py
