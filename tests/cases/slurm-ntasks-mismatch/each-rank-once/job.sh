#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=2
#SBATCH --ntasks-per-node=2
srun python train.py --devices 2 --num-nodes 2
