#!/bin/bash
#SBATCH -p a100
#SBATCH -N 1
#SBATCH -n 1
srun python check.py
