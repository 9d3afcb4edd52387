#SBATCH --gres=gpu:1
accelerate launch --num_processes 2 train.py
