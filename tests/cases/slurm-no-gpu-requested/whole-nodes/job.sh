#!/bin/bash
#SBATCH -C gpu
#SBATCH --exclusive
#SBATCH --nodes=2
srun python train.py
