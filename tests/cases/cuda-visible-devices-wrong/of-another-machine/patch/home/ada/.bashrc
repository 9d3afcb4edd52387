# .bashrc
export CUDA_VISIBLE_DEVICES=3
