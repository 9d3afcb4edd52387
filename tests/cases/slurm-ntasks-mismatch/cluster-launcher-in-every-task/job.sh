#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
srun accelerate launch --num_machines 2 --num_processes 8 --machine_rank $SLURM_NODEID fit.py
