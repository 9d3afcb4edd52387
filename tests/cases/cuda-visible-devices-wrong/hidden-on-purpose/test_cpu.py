import os
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf
