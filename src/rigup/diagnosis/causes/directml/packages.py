"""Packages of ONNX Runtime."""

ONNX = "onnxruntime-directml"
