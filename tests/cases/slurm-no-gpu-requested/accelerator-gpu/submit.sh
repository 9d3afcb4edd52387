#!/bin/bash
#SBATCH --time=01:00:00
#SBATCH --constraint=gpu
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
srun python train.py
