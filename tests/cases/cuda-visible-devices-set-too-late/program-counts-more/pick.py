import os
import torch

os.environ["CUDA_VISIBLE_DEVICES"] = "2"
for number in range(torch.cuda.device_count()):
    print(f"CUDA:{number} {torch.cuda.get_device_properties(number).name}")
