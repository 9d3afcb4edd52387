"""A program in a container finds no GPU, by what it and the tools beside it say."""

from rigup.knowledge.cuda import cuda_of_driver, version_key


def recent(version: str) -> bool:
    """Whether a driver carries one of the last two majors of CUDA, as most images want."""
    carried, newest = cuda_of_driver(version), cuda_of_driver("9" * 4)
    return bool(carried and newest) and version_key(str(newest))[0] - version_key(str(carried))[0] < 2
