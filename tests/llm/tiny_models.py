"""Where the models lie that the tests train."""

from pathlib import Path


def sentence_pieces_of(path: Path) -> Path:
    """The untrained model with a vocabulary of SentencePiece's kind, beside the trained one."""
    return path.with_name(path.name.replace(".gguf", ".spm.gguf"))
