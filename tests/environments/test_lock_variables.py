"""Variables that a file of somebody else's may set: those of the table alone, and only to values of its forms."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from each import over
from rigup.knowledge.lock_variables import allowed
from rigup.plan.environments import lockfile, record
from rigup.plan.environments.lock_fields import LockError

# Each loads a library, starts a program, asks another server, believes another certificate, or writes where it likes.
_NAMES = """
    CUDA_INJECTION64_PATH CUDA_INJECTION32_PATH NCCL_NET_PLUGIN NCCL_TUNER_PLUGIN NCCL_PROFILER_PLUGIN NCCL_CONF_FILE
    NCCL_TOPO_FILE NCCL_DEBUG_FILE NCCL_SOCKET_IFNAME OMP_TOOL_LIBRARIES OMP_TOOL TRITON_PTXAS_PATH TRITON_CACHE_DIR
    TRITON_LIBCUDA_PATH PIP_CONFIG_FILE PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_TRUSTED_HOST UV_INDEX_URL
    UV_CONFIG_FILE UV_PYTHON HTTPS_PROXY HTTP_PROXY ALL_PROXY http_proxy https_proxy SSL_CERT_FILE SSL_CERT_DIR
    REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES PYTHONPATH
    PYTHONSTARTUP PYTHONHOME PYTHONBREAKPOINT PATH BASH_ENV ENV IFS HOME SHELL GIT_SSH_COMMAND GIT_EXEC_PATH EDITOR PAGER
    VK_ICD_FILENAMES VK_DRIVER_FILES VK_LAYER_PATH VK_INSTANCE_LAYERS OCL_ICD_FILENAMES OCL_ICD_VENDORS ZE_ENABLE_ALT_DRIVERS
    LIBGL_DRIVERS_PATH GBM_BACKENDS_PATH HSA_TOOLS_LIB ROCP_TOOL_LIBRARIES MIOPEN_SYSTEM_DB_PATH MIOPEN_USER_DB_PATH
    ROCBLAS_TENSILE_LIBPATH HIPBLASLT_TENSILE_LIBPATH CUDA_HOME CUDA_PATH XLA_FLAGS TF_XLA_FLAGS TF_PLUGGABLE_DEVICE_LIBRARY_PATH
    TORCHINDUCTOR_CACHE_DIR TORCH_EXTENSIONS_DIR TORCH_HOME HF_HOME HF_TOKEN HF_HUB_CACHE TRANSFORMERS_CACHE CC CXX LD
    CFLAGS LDFLAGS NVCC_PREPEND_FLAGS NVCC_APPEND_FLAGS NVCC_CCBIN MKL_DEBUG_CPU_TYPE KMP_AFFINITY GCONV_PATH LOCPATH
    NLSPATH MALLOC_CONF GLIBC_TUNABLES OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES KRB5_CONFIG JAVA_TOOL_OPTIONS
    JUPYTER_PATH JUPYTER_CONFIG_DIR IPYTHONDIR MPLCONFIGDIR OLLAMA_HOST OLLAMA_MODELS RIGUP_TORCH_PYTHON RIGUP_NO_RESOLVE
    XDG_CONFIG_HOME XDG_DATA_DIRS TMPDIR WANDB_BASE_URL AWS_ENDPOINT_URL MLFLOW_TRACKING_URI PROMPT_COMMAND PS1 PS4
    OMPI_MCA_plm_rsh_agent UCX_MODULE_DIR FI_PROVIDER_PATH SLURM_CONF MASTER_ADDR COREPACK_NPM_REGISTRY DOCKER_HOST
    CONDA_PREFIX VIRTUAL_ENV MAMBA_EXE HSA_OVERRIDE_GFX_VERSION_X NOTE X
"""
MIGHTY = _NAMES.split()

WRONG_VALUES = [
    ("HSA_OVERRIDE_GFX_VERSION", "10.3.0;id"),
    ("HSA_OVERRIDE_GFX_VERSION", "../x"),
    ("HSA_OVERRIDE_GFX_VERSION", "１0.3.0"),
    ("HF_ENDPOINT", "https://evil.example"),
    ("HF_ENDPOINT", "http://hf-mirror.com"),
    ("HF_ENDPOINT", "https://hf-mirror.com.evil.example"),
    ("LD_LIBRARY_PATH", "/tmp/evil"),
    ("LD_LIBRARY_PATH", "/usr/lib/../../tmp"),
    ("LD_LIBRARY_PATH", "lib"),
    ("LD_LIBRARY_PATH", ""),
    ("LD_LIBRARY_PATH", "/usr/lib::/opt/rocm/lib"),
    ("LD_LIBRARY_PATH", "/run/opengl-driver/lib:/home/bob/lib"),
    ("LD_LIBRARY_PATH", "/usr/library"),
    ("LD_LIBRARY_PATH", "/usr/local/lib"),
    ("OMP_NUM_THREADS", "4 "),
    ("OMP_NUM_THREADS", "$(id)"),
    ("PYTORCH_CUDA_ALLOC_CONF", "backend:/tmp/evil.so"),
    ("NCCL_DEBUG", "INFO\nLD_PRELOAD=x"),
    ("CUDA_VISIBLE_DEVICES", "`id`"),
    ("PYTHONHASHSEED", "x"),
    ("JAX_PLATFORMS", "/tmp/x"),
    ("ROCR_VISIBLE_DEVICES", "0,1,\u0661"),
]

FINE = [
    ("HSA_OVERRIDE_GFX_VERSION", "10.3.0"),
    ("HSA_OVERRIDE_GFX_VERSION_1", "11.0.0"),
    ("ROCR_VISIBLE_DEVICES", "0,1"),
    ("ROCR_VISIBLE_DEVICES", "GPU-0123456789abcdef"),
    ("HF_ENDPOINT", "https://hf-mirror.com"),
    ("LD_LIBRARY_PATH", "/run/opengl-driver/lib"),
    ("LD_LIBRARY_PATH", "/run/opengl-driver/lib:/usr/lib/x86_64-linux-gnu"),
    ("LD_LIBRARY_PATH", "/opt/rocm-6.4.1/lib"),
    ("LD_LIBRARY_PATH", "/nix/store/0c1x-gcc-13.2.0-lib/lib"),
    ("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True,max_split_size_mb:512"),
    ("OMP_NUM_THREADS", "8"),
    ("CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"),
    ("CUDA_VISIBLE_DEVICES", ""),
    ("PYTHONUNBUFFERED", "1"),
]


def lock(**variables: str) -> str:
    row = {
        "name": "stone",
        "version": "1.0",
        "wheels": [
            {"name": "stone-1.0-py3-none-any.whl", "url": "https://example.org/stone-1.0-py3-none-any.whl", "hashes": {"sha256": "a" * 64}}
        ],
    }
    head = {"lock-version": "1.0", "created-by": "rigup", "packages": [row], "tool": {"rigup": {"variables": variables}}}
    return lockfile.as_toml(head)


@over(MIGHTY)
def test_a_variable_that_the_table_does_not_name_is_refused_by_name(name, tmp_path):
    with pytest.raises(LockError, match=name):
        lockfile.parsed(lock(**{name: "1"}))
    with pytest.raises(ValueError, match=name):
        record.write(tmp_path, record.Record(variables={name: "1"}))


@pytest.mark.parametrize(("name", "value"), WRONG_VALUES)
def test_a_value_of_another_form_is_refused(name, value, tmp_path):
    with pytest.raises(LockError, match=f"{name}|of another form"):
        lockfile.parsed(lock(**{name: value}))
    (tmp_path / "rigup.json").write_text(json.dumps({"schema": record.SCHEMA, "variables": {name: value}}))
    os.chmod(tmp_path / "rigup.json", 0o644)
    told, fault = record.looked_at(tmp_path)
    assert told.variables == {}
    assert name in fault


@pytest.mark.parametrize(("name", "value"), FINE)
def test_what_devices_and_frameworks_need_is_kept(name, value, tmp_path):
    assert lockfile.parsed(lock(**{name: value})).variables == {name: value}
    record.write(tmp_path, record.Record(variables={name: value}))
    assert record.read(tmp_path).variables == {name: value}


def test_of_a_persons_own_list_of_folders_those_of_the_system_go_into_a_lock():
    own = {"LD_LIBRARY_PATH": "/run/opengl-driver/lib:/home/ada/lib", "OMP_NUM_THREADS": "4", "CC": "/home/ada/cc"}
    assert record.allowed_variables(own) == {"LD_LIBRARY_PATH": "/run/opengl-driver/lib", "OMP_NUM_THREADS": "4"}


@given(st.text(max_size=40), st.text(max_size=60))
def test_no_text_is_allowed_by_chance(name, value):
    assert allowed(name, value) is None or name in dict(FINE)


@given(st.sampled_from([name for name, _value in FINE]), st.text(max_size=60))
def test_no_value_holds_what_a_shell_or_a_loader_would_read_more_in(name, value):
    told = allowed(name, value)
    assert told is None or not set(told) & set("\n\r\0 `$;&|<>\"'\\(){}")
