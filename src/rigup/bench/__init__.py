"""Benchmarks in the environment's own Python, compared with data sheets, published results and earlier runs."""
