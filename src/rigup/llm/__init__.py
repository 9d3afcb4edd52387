"""Language models on this machine: what is there, the engines that run them, and how one talks to them."""
