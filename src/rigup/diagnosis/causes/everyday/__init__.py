"""Causes of the family everyday: everyday errors."""
