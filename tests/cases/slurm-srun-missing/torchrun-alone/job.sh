#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=1
torchrun --nnodes=2 --nproc_per_node=4 --rdzv_endpoint=$HEAD:29500 train.py
