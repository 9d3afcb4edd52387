"""Variables that choose devices."""

CUDA_MASK = "CUDA_VISIBLE_DEVICES"
MASKS = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")


def chosen(value: str) -> list[str]:
    """The devices that a mask names, one by one."""
    return [part.strip() for part in value.split(",")]
