#!/bin/bash
#SBATCH --job-name=prep
#SBATCH --partition=cpu
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --time=02:00:00
module load python/3.11
source ~/envs/prep/bin/activate
srun python prepare.py --out data/
