export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.8
python train.py
