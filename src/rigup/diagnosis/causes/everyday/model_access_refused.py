"""The hub gives a model only to accounts that were granted access."""

from rigup.diagnosis.rule import Params, mends, one, seen
from rigup.machine.kinds import Symptom, World


@mends("model-access-refused")
def how_a_container_gets_the_token(
    refused: Symptom | None = seen("model-is-gated", "model-is-not-found-or-private", at="container"),
    world: World | None = one(container=("docker", "podman")),
    started: Symptom | None = seen(tag="start-command-typed"),
) -> Params:
    """A login is kept in a person's home, which is not that of a container."""
    given = started is not None and "HF_TOKEN" in str(started.get("command"))
    return {"token": "-e HF_TOKEN=hf_…", "engine": world.container} if refused is not None and world is not None and not given else {}
