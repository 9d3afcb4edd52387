"""Numbers as Slurm writes them: times, memory, counts of GPUs."""

import re

_GRES = re.compile(r"(?:gres[:/])?gpu(?:[:](?P<model>[A-Za-z_][\w.+-]{0,60}))?(?:[:=](?P<count>\d{1,5}))?(?:\(.{0,60}\))?")
_UNITS = {"K": 1 / 1024 / 1024, "M": 1 / 1024, "G": 1.0, "T": 1024.0}


def whole(value: str | None) -> int | None:
    """A whole number; of a range such as `2-4` nothing is certain."""
    return int(value) if value is not None and re.fullmatch(r"\d{1,9}", value.strip()) else None


def nodes(value: str | None) -> int | None:
    """`2` and `2-2`; None for ranges that leave it open."""
    match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", (value or "").strip())
    return int(match[1]) if match and match[2] in (None, match[1]) else None


def gpus(value: str | None) -> tuple[int | None, str]:
    """`gpu:a100:4`, `a100:4`, `4`, `gpu:2,shard:1`: how many GPUs, and of what type ("" unsaid)."""
    total, model = 0, ""
    for item in (value or "").split(","):
        if match := _GRES.fullmatch(item.strip()):
            total, model = total + int(match["count"] or 1), match["model"] or model
        elif match := re.fullmatch(r"(?:([A-Za-z_][\w.+-]{0,60}):)?(\d{1,5})", item.strip()):
            total, model = total + int(match[2]), match[1] or model
        elif re.search(r"gpu", item) or not re.fullmatch(r"[\w/:.-]+", item):
            return None, ""
    return total, model


def gres(value: str | None) -> tuple[int | None, str] | None:
    """The same of `--gres`, where other resources may stand; None where no GPU is among them."""
    items = [item for item in (value or "").split(",") if re.match(r"(?:gres[:/])?gpu(?:$|[:=(])", item.strip())]
    return gpus(",".join(items)) if items else None


def minutes(value: str | None) -> float | None:
    """A time limit in minutes; infinity for none."""
    text = (value or "").strip().lower()
    if text in ("infinite", "unlimited", "-1"):
        return float("inf")
    match = re.fullmatch(r"(?:(?P<days>\d{1,5})-)?(?P<rest>\d{1,7}(?::\d{1,5}){0,2})", text)
    if not match:
        return None
    parts = [int(part) for part in match["rest"].split(":")]
    if match["days"] is not None:
        parts += [0] * (3 - len(parts))
        return int(match["days"]) * 1440 + parts[0] * 60 + parts[1] + parts[2] / 60
    if len(parts) == 1:
        return float(parts[0])
    return parts[0] + parts[1] / 60 if len(parts) == 2 else parts[0] * 60 + parts[1] + parts[2] / 60


def as_time(limit: float) -> str:
    """Minutes as a directive has them."""
    days, rest = divmod(int(limit), 1440)
    return f"{days}-{rest // 60:02}:{rest % 60:02}:00" if days else f"{rest // 60:02}:{rest % 60:02}:00"


def gigabytes(value: str | None) -> float | None:
    """`64G`, `64000` (megabytes); 0 is all of a node."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d+)?)([KMGT])?B?", (value or "").strip().upper())
    return float(match[1]) * _UNITS[match[2] or "M"] if match else None
