"""Samples of every GPU, live, recorded and exported."""
