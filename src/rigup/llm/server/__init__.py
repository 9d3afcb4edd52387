"""One address for local models: OpenAI's interface in front of the engines, with a key, limits, metrics and a graceful end."""
