#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gpus-per-node=2
#SBATCH --ntasks-per-node=2
srun --exclusive -n1 --gpus=1 python first.py &
srun --exclusive -n1 --gpus=1 python second.py &
wait
