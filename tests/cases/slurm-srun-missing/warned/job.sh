#!/bin/bash
#SBATCH -N 1
#SBATCH --ntasks-per-node=4
#SBATCH --gres=gpu:4
export OMP_NUM_THREADS=8
python -u fit.py --config c.yaml
