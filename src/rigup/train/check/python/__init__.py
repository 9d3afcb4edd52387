"""Training scripts by their syntax tree: values followed to where they come from, calls with what guards them. Nothing is run."""
