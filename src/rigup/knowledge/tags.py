"""Concepts: which signatures are wordings of one thing that rules ask for."""

from rigup.knowledge import tables


@tables.remembered
def tags() -> dict[str, tuple[str, ...]]:
    """The signature ids that carry each tag, in the order of their tables; other wordings of a row are heard as that row.

    Raises:
        KnowledgeError: a signature file is malformed.

    """
    shipped = tables.default_store().tags()
    return _of_all_rows() if shipped is None else {tag: tuple(ids) for tag, ids in shipped.items()}


def ids_of_tag(tag: str) -> tuple[str, ...]:
    """The signature ids that carry a tag.

    Raises:
        KnowledgeError: no signature carries it.

    """
    ids = tags().get(tag)
    if ids is None:
        raise tables.KnowledgeError("signatures", f"no signature carries the tag {tag}")
    return ids


def _of_all_rows() -> dict[str, tuple[str, ...]]:
    """A person's own rows may carry tags too."""
    from rigup.knowledge.doctor_tables import signatures

    ids: dict[str, list[str]] = {}
    for row in signatures():
        for tag in row.tags if not row.says else ():
            ids.setdefault(tag, []).append(row.id)
    return {tag: tuple(ids) for tag, ids in ids.items()}
