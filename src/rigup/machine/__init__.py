"""What is: machines as typed facts, each with its place and where it was read."""
