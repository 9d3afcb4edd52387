"""What is to be run: a model, and how."""

from pathlib import Path
from typing import Any

import msgspec

from rigup.fit.request import Request

LLAMA_SERVER, XLLAMACPP, OLLAMA, VLLM, ENDPOINT = "llama-server", "xllamacpp", "ollama", "vllm", "endpoint"
ENGINES = (LLAMA_SERVER, XLLAMACPP, OLLAMA, VLLM)


class StartRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A model, and how it is to run.

    Attributes:
        model: a GGUF file (of several parts the first), a folder with config.json for vLLM, or the name that ollama or an
            endpoint has for it.
        name: how clients call it; "" takes the file's own name.
        settings: context, cache and sequences as `fit` means them; layers that are not told are found by it.
        context: tokens of each sequence; 0 takes what fits, at most what the model was trained for and 8192.
        engine: one of `ENGINES`; "" chooses.
        program: the engine's own program, where it is not on PATH.
        python: an interpreter that has xllamacpp or vLLM; "" is this one.
        api: the address of an endpoint that runs already, up to and with /v1.
        key_variable: the variable that holds its key.
        projector: the file of what sees pictures.
        template: a file with another chat template.
        draft: a small GGUF model that guesses tokens, which this one checks several at once; "" for none.
        embeddings: texts can be embedded too.
        usual: parameters of an answer, as `chat.parameters` has them, that hold where a request does not say.
        rerank: it ranks texts; a model whose header says so does in any case.
        on: as `rigup fit --on`: "cpu" leaves the devices alone.
        patience: seconds until it must answer.

    """

    model: str
    name: str = ""
    settings: Request = Request(outputs=1)
    context: int = 0
    engine: str = ""
    program: str = ""
    python: str = ""
    api: str = ""
    key_variable: str = "OPENAI_API_KEY"
    projector: str = ""
    template: str = ""
    draft: str = ""
    embeddings: bool = True
    usual: dict[str, Any] = {}
    rerank: bool = False
    on: str | None = None
    patience: float = 900.0

    @property
    def called(self) -> str:
        """How clients call the model."""
        return self.name or (Path(self.model).name.removesuffix(".gguf") if Path(self.model).exists() else self.model)
