"""Where nvcc of a release lies."""

NVCC = "/usr/local/cuda{version}/bin/nvcc"
