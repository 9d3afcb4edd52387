"""What people with DirectML are told to do."""


def test_release_comes_with_the_torch_that_it_stands_on(titled):
    told = titled("directml-module-missing", "ModuleNotFoundError: No module named 'torch_directml'\n")
    assert told[0].startswith("install torch-directml==")
    assert "torch==" in told[0]


def test_other_runtime_gets_its_own_package_and_loses_the_plain_one(titled):
    told = titled(
        "directml-module-missing",
        '>>> s = ort.InferenceSession("a.onnx", providers=["DmlExecutionProvider"])\n>>> s.get_providers()\n[\'CPUExecutionProvider\']\n',
    )
    assert told == ["remove onnxruntime, onnxruntime-directml from the environment; install onnxruntime-directml"]
    told = titled(
        "directml-module-missing", "run.py: error: argument --execution-providers: invalid choice: 'directml' (choose from 'cpu')\n"
    )
    assert told == ["install onnxruntime-directml"]


def test_operator_that_is_missing_is_not_mended_by_what_is_installed(titled):
    told = titled(
        "directml-op-cpu-fallback", "RuntimeError: Could not run 'aten::_fft_r2c' with arguments from the 'PrivateUse1' backend.\n"
    )
    assert told[0].startswith("run the part that needs aten::_fft_r2c on the processor")
    assert not [way for way in told if "torch-directml" in way]


def test_where_its_plain_form_needs_the_operator_too_a_release_that_has_it_comes_first(titled):
    told = titled(
        "directml-op-cpu-fallback",
        "UserWarning: The operator 'aten::lerp.Scalar_out' is not currently supported on the DML backend and will fall back to run on the CPU.\n",
    )
    assert "torch-directml==0.2.0.dev230426" in told[0]
    assert "foreach=False" in told[1]


def test_tensorflow_places_on_the_processor_itself(titled):
    told = titled(
        "directml-op-cpu-fallback",
        "InvalidArgumentError: Cannot assign a device for operation rnn: Could not satisfy explicit device specification '/device:DML:0' because no supported kernel for DML devices is available.\n",
    )
    assert "set_soft_device_placement" in told[0]


def test_adapter_without_a_name_is_told_by_its_number(titled):
    told = titled("directml-wrong-adapter", "DirectML: there is load on the Intel graphics\n")
    assert "mostly 1" in told[0]
