#!/bin/bash
#SBATCH -N 1
#SBATCH --ntasks=1
#SBATCH --gpus-per-task=1
srun python train.py
