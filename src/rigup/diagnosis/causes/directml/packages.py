"""Packages that compute by DirectML."""

ONNX = "onnxruntime-directml"
OF_DIRECTML = ("torch-directml", "tensorflow-directml-plugin", ONNX)  # whose wheels on PyPI are the ones that serve
