"""Pictures with their classes: drawn here, or read from a folder with a folder for each class."""

from pathlib import Path

import torch
from torch.utils.data import Dataset, TensorDataset, random_split

SIDE = 16  # pixels
SHAPES = ("square", "cross", "frame", "stripes")


def pictures(folder: str | None = None, seed: int = 0) -> tuple[Dataset, Dataset, list[str]]:
    """Samples to train on, samples to judge by (a fifth), and the names of the classes.

    Args:
        folder: with a folder of pictures for each class; without it shapes are drawn, so that nothing is downloaded.
        seed: of the drawing and of the split, which is the same in every process.

    """
    samples, names = read(Path(folder)) if folder else drawn(seed=seed)
    held_out = len(samples) // 5
    training, judged = random_split(samples, [len(samples) - held_out, held_out], torch.Generator().manual_seed(seed))
    return training, judged, names


def drawn(count: int = 2000, seed: int = 0) -> tuple[TensorDataset, list[str]]:
    """Shapes of random size, place and brightness on noise: pictures (count, 1, SIDE, SIDE) and classes (count,)."""
    generator = torch.Generator().manual_seed(seed)
    images = 0.3 * torch.rand(count, 1, SIDE, SIDE, generator=generator)
    classes = torch.randint(len(SHAPES), (count,), generator=generator)
    for image, shape in zip(images, classes.tolist()):
        size = int(torch.randint(7, 12, (), generator=generator))
        top, left = torch.randint(SIDE - size + 1, (2,), generator=generator).tolist()
        bright = 0.4 + 0.6 * float(torch.rand((), generator=generator))
        image[0, top : top + size, left : left + size] += bright * mask(SHAPES[shape], size)
    return TensorDataset(images, classes), list(SHAPES)


def mask(shape: str, size: int) -> torch.Tensor:
    """Where a shape is bright: (size, size) of zeros and ones."""
    bright, middle = torch.zeros(size, size), size // 2
    if shape == "square":
        bright[:] = 1
    elif shape == "cross":
        bright[middle - 1 : middle + 1, :] = bright[:, middle - 1 : middle + 1] = 1
    elif shape == "frame":
        bright[:] = 1
        bright[2:-2, 2:-2] = 0
    else:
        bright[::3, :] = 1
    return bright


class Folder(Dataset):
    """Pictures of a folder, made grey and brought to SIDE × SIDE pixels."""

    def __init__(self, files: list[tuple[Path, int]]) -> None:
        self.files = files

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        from PIL import Image

        path, number = self.files[index]
        with Image.open(path) as image:
            pixels = bytearray(image.convert("L").resize((SIDE, SIDE)).tobytes())
        return torch.frombuffer(pixels, dtype=torch.uint8).reshape(1, SIDE, SIDE) / 255, number


def read(folder: Path) -> tuple[Folder, list[str]]:
    """All pictures of a folder, in the order of their names, so that every process sees the same order."""
    names = sorted(path.name for path in folder.iterdir() if path.is_dir())
    kinds = {".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff"}
    files = [
        (path, number)
        for number, name in enumerate(names)
        for path in sorted((folder / name).iterdir())
        if path.suffix.lower() in kinds
    ]
    if len(names) < 2 or len(files) < 10:
        raise SystemExit(
            f"{folder} has {len(files)} pictures in {len(names)} folders: give one with a folder of pictures for each class."
        )
    return Folder(files), names
