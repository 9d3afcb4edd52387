#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus=8
#SBATCH --ntasks=8
srun python train.py
