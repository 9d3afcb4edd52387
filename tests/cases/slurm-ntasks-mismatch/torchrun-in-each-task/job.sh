#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_endpoint=$HEAD:29500 train.py
