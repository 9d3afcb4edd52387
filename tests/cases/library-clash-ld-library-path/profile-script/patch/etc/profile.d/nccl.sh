export LD_LIBRARY_PATH=/opt/nccl-2.18/lib
