"""Will it fit, and how fast: what a model takes on this machine, from its header, before anything is downloaded."""
