#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=1
for n in $(scontrol show hostnames); do
  ssh $n "cd $PWD && torchrun --nnodes=2 --nproc_per_node=4 train.py" &
done
wait
