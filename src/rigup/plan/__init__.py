"""How to get there: a choice and what is there become steps."""
