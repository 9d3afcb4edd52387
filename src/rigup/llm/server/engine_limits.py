"""What an engine is not asked: it was not started for that, or would answer with something else."""

from typing import Any

from rigup.llm.engines.running import RunningEngine
from rigup.llm.server import pictures
from rigup.llm.server.errors import Refused


def check_request(engine: RunningEngine, path: str, body: dict[str, Any]) -> None:
    """Refuse what an engine does not do, or must not. Raises Refused."""
    check_path(engine, path)
    if engine.pid:
        pictures.check(body)
        _has_text(path, body)


def check_path(engine: RunningEngine, path: str) -> None:
    """Refuse what an engine that rigup started was not started for. Raises Refused."""
    if engine.settings is None:
        return
    ranks = engine.settings.ranks
    if path == "/v1/rerank" and not ranks:
        text = "This model does not rank texts: serve one that is made for it, with --rerank where its file does not say so."
        raise Refused(400, "unsupported", text)
    if path == "/v1/embeddings" and (ranks or not engine.embeds):
        text = "This model ranks texts, and embeds none." if ranks else "The server was started with --no-embeddings."
        raise Refused(400, "unsupported", text)


def _has_text(path: str, body: dict[str, Any]) -> None:
    """Refuse numbers of tokens to embed: clients take them from another vocabulary, and other words would be embedded. Raises Refused."""
    given = body.get("input")
    first = given[0] if isinstance(given, list) and given else None
    if path == "/v1/embeddings" and isinstance(first, int | list):
        text = "Send texts and no numbers of tokens, which are another model's (in LangChain: check_embedding_ctx_length=False)."
        raise Refused(400, "unsupported", text)
