"""Local language models: what is on the disk, the engines that run them, a server and a chat."""
