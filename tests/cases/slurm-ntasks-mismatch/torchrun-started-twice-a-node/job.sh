#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks=4
#SBATCH --gres=gpu:2
head=$(srun --nodes=1 --ntasks=1 -w node01 hostname --ip-address)
srun torchrun --nnodes=2 --nproc_per_node=2 --rdzv_backend=c10d --rdzv_endpoint=$head:29500 train.py
