"""Intel GPUs as people show them."""
