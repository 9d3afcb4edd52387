#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks=2
#SBATCH --ntasks-per-node=4
#SBATCH --partition=cpu

srun ./simulate
