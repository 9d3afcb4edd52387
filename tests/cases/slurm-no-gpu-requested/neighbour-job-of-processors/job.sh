#!/bin/bash
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
python preprocess.py
