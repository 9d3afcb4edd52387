"""The other way of `packs.py`: folders become text, a table for each, in TOML that a person can read and edit."""

import base64
from pathlib import Path

from packs import Files


def packed(folder: Path) -> Files:
    """Every file and symbolic link below a folder, by path. An empty folder is not kept."""
    found: Files = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = {"link": str(path.readlink())}
        elif path.is_file():
            found[name] = held_by(path)
    return found


def held_by(path: Path) -> str | dict[str, str]:
    """What a file holds, as an entry."""
    body = path.read_bytes()
    try:
        return body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def table_text(header: str, files: Files) -> str:
    """A TOML table of files."""
    return f"[{header}]\n" + "".join(f"{string_text(path)} = {value_text(held)}\n" for path, held in files.items())


def value_text(held: str | dict[str, str]) -> str:
    """An entry as TOML."""
    if isinstance(held, str):
        return string_text(held, lines=True)
    return "{ " + ", ".join(f"{key} = {string_text(value)}" for key, value in held.items()) + " }"


def string_text(text: str, *, lines: bool = False) -> str:
    """A string as TOML: the characters themselves between three quotes where TOML allows that, else with escapes."""
    plain = all((char >= " " and char != "\x7f") or char in "\n\t" for char in text)
    if lines and "\n" in text:
        if plain and "'''" not in text and not text.endswith("'"):
            return f"'''\n{text}'''"
        return '"""\n' + escaped(text, kept="\n\t").replace('"""', '""\\"') + '"""'
    return f'"{escaped(text)}"'


def escaped(text: str, kept: str = "") -> str:
    """A text for a basic TOML string: what cannot stand in one, as an escape."""
    quote = "" if kept else '"'
    return "".join(
        f"\\{char}"
        if char == "\\" or char == quote
        else f"\\u{ord(char):04x}"
        if (char < " " or char == "\x7f") and char not in kept
        else char
        for char in text
    )


def case_text(name: str, label: str, kind: str, files: Files) -> str:
    """A case as TOML: the lines of its label as they are, and its machine."""
    head = f"[[case]]\nid = {string_text(name)}\n" + (label.strip("\n") + "\n" if label.strip() else "")
    return head + (table_text(f"case.{kind}", files) if files else "")
