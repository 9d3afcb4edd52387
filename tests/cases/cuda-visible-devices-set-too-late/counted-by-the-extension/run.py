import os
import torch
print(torch._C._cuda_getDeviceCount())
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
print(torch._C._cuda_getDeviceCount())
