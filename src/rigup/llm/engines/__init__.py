"""Engines that run a language model: which one and why, started as a child, watched, and ended for sure."""
