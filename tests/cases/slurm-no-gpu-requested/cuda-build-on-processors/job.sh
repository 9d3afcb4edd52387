#!/bin/bash
#SBATCH -p cpu_short
#SBATCH -N 1
#SBATCH -n 1
srun python prep.py
