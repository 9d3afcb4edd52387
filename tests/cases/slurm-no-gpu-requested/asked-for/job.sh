#!/bin/bash
#SBATCH -p gpu
#SBATCH --gres=gpu:a100:2
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
srun python train.py
