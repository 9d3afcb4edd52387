#!/bin/bash
#SBATCH --nodes=3
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=1
deepspeed fit.py --config zero2.json
