"""Samples of every GPU, live, recorded and exported.

`files.py` is the seam to the outside, beside `Host` because samplers need bytes and must be cheap; `values.py` gathers one
GPU's values with their sources; a file a source decodes or reads; `sampler.py` makes samples, `history.py` keeps them, and
everything that shows, records or exports reads these two alone.
"""
