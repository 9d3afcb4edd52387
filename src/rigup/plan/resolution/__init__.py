"""What goes into an environment, resolved once as one set by a real resolver: uv where it is, else pip."""
