"""A training job on one node or many: one consistent shape, the script made of it, what became of it, and which rank failed."""
