"""A package is not installed in the Python that ran."""

from rigup.diagnosis.rule import Params, mends
from rigup.knowledge.program_builds import program_of

_PACKAGES = {
    "cv2": "opencv-python",
    "PIL": "pillow",
    "sklearn": "scikit-learn",
    "flash_attn": "",
    "yaml": "pyyaml",
    "llama_cpp": "llama-cpp-python",
}


@mends("module-not-installed")
def package_of_the_module(knew: Params) -> Params:
    """torch is chosen by the machine; other packages bear the module's name, or one that the table of wishes knows."""
    name = str(knew.get("module") or "").partition(".")[0]
    program = program_of(name)
    wish = program.wish if program is not None else "torch" if name in ("torch", "torchvision", "torchaudio") else None
    return {"wish": wish, "package": None if wish else _PACKAGES.get(name, name) or None}
