#SBATCH --gres=gpu:v100:2
python -m vllm.entrypoints.openai.api_server --model x --tensor-parallel-size 4
