"""What a ported script imports more, and what it imports no longer."""

import ast
import re

from rigup.train.check.python.modules import UnreadableError
from rigup.train.port.script import Change, Piece, Script, changed


def joined(script: Script, wanted: list[Change]) -> Change | None:
    """The import and `ranks = join()`, behind the imports that come before the first use; None where nothing needs it.

    Raises UnreadableError where there is no line to put it in.
    """
    text = "\n".join(piece.text for change in wanted for piece in change.pieces)
    if not re.search(rf"\b{re.escape(script.ranks)}\b", text):
        return None
    names = (
        [script.loader if script.loader == "ResumableLoader" else f"ResumableLoader as {script.loader}"]
        if re.search(rf"\b{script.loader}\b", text)
        else []
    )
    names.append("join" if script.join == "join" else f"join as {script.join}")
    lines = f"from rigup.train import {', '.join(names)}\n\n{script.ranks} = {script.join}()\n"
    place = _place(script, wanted)
    following = script.data[place:].partition(b"\n")[0].strip()
    lead = "" if place == 0 or script.data[place - 1 : place] == b"\n" else "\n"
    return Change(
        kind="join", line=script.data[:place].count(b"\n") + 1, pieces=(Piece(place, place, lead + lines + ("\n" if following else "")),)
    )


def _place(script: Script, wanted: list[Change]) -> int:
    used = min((piece.start for change in wanted for piece in change.pieces if script.ranks in piece.text), default=len(script.data))
    found, body = None, script.module.tree.body
    for at, statement in enumerate(body):
        if script.end(statement) > used or isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            break
        docstring = at == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if docstring or _imports(statement):
            piece = script.after(statement, "")
            found = piece.start if piece is not None else found
    if found is None and body and _future(body[0]):
        raise UnreadableError("no line for an import")
    return found or 0


def _imports(statement: ast.stmt) -> bool:
    """Whether a statement imports, if only under a condition."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return True
    return isinstance(statement, ast.If | ast.Try) and all(isinstance(each, ast.Import | ast.ImportFrom) for each in statement.body)


def _future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def without_unused(text: str, before: Script) -> str:
    """The text without imports of names that only stood in what was changed."""
    try:
        script = Script("", text)
    except UnreadableError:
        return text
    was, now = (_names(each) for each in (before, script))
    lost = was - now
    for node in script.module.tree.body:
        if isinstance(node, ast.Import) and len(node.names) == 1 and (node.names[0].asname or node.names[0].name) in lost:
            script.take_out("unused", node)
        elif isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) in lost for alias in node.names):
            _shorten(script, node, [alias for alias in node.names if (alias.asname or alias.name) not in lost])
    return changed(script.data, script.changes)[0] if script.changes else text


def _names(script: Script) -> set[str]:
    exported = {node.value for node in script.module.nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return {node.id for node in script.module.nodes if isinstance(node, ast.Name)} | exported


def _shorten(script: Script, node: ast.ImportFrom, kept: list[ast.alias]) -> None:
    if b"#" in script.data[script.start(node) : script.end(node)]:
        return
    if not kept:
        script.take_out("unused", node)
        return
    first, final = script.start(node.names[0]), script.end(node.names[-1])
    names = ", ".join(script.source(alias) for alias in kept)
    script.change("unused", node, Piece(first, final, names))
