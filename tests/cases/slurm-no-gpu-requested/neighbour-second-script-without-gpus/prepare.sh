#!/bin/bash
#SBATCH --partition=cpu
#SBATCH --ntasks=1
python prepare.py
