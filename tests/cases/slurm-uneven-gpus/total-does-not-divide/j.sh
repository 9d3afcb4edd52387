#SBATCH -N 3
#SBATCH -G 8
srun python t.py
