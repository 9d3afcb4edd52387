import os
import torch

def main():
    os.environ['CUDA_VISIBLE_DEVICES'] = '0'
    print(torch.cuda.is_available())

main()
