#!/bin/bash -l
#SBATCH -J finetune
#SBATCH -p gpu-a100
#SBATCH -N 1
#SBATCH -n 1
#SBATCH -c 16
#SBATCH -t 8:00:00
conda activate llm
python finetune.py --model base
