"""Libraries beside frameworks."""
