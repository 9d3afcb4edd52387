"""What `rigup cluster doctor --deep` runs on every node, in the Python of the environment that is judged; it imports nothing of rigup."""
