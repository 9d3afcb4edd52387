"""Causes of the family memory: main memory."""
