"""What a failed check must say to mean an operator."""

import re

WORDS = {
    "to": "conver|\\bto ",
    "float": "conver|\\bto ",
    "half": "conver|\\bto ",
    "bfloat16": "conver|\\bto ",
    "long": "conver|\\bto |whole",
    "int": "conver|\\bto |whole",
    "double": "conver|\\bto ",
    "bool": "conver|\\bto |truth",
    "__getitem__": "slice|index|row|element",
    "mm": "product",
    "matmul": "product|matmul",
    "bmm": "product",
    "addmm": "product|linear",
    "mv": "product",
    "slice": "slice",
    "linear": "linear",
    "sub": "subtract",
    "mul": "multipl",
    "div": "divi",
    "pow": "power",
    "neg": "negat",
    "rsub": "subtract",
}


def pattern(row):
    """What a name must hold to mean this operator."""
    short = row["name"].split(".")[-1]
    words = {short.strip("_")} | {place.split(".")[-1].strip("_") for place in row["places"] if row["owner"] == "op"}
    if row["owner"] != "op":
        words |= {
            re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", short),
            re.sub(r"Loss$", "", short),
            re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", short).replace("d_", "d"),
        }
    patterns = ["(?<![a-z])" + re.escape(word) for word in words if len(word) > 1 or word in "tT"]
    return re.compile("|".join([*patterns, *([WORDS[short]] if short in WORDS else [])]), re.IGNORECASE)
