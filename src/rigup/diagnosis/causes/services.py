"""Services that compute on GPUs, and the unit that a process belongs to."""

# Services that compute on GPUs, by their units' names.
COMPUTING = ("ollama", "vllm", "llama-server", "llamacpp", "comfyui", "localai", "jupyterhub", "jupyterlab", "text-generation-webui")


def service_of(process: str) -> str:
    """The unit of a process; of a server that tells none the one that its installer makes."""
    return process.partition(":")[2] or "ollama"
