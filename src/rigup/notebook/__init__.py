"""Commands inside of a notebook, `%load_ext rigup`: they run in the notebook's own kernel, and need IPython alone.

What torch knows is asked by `rigup.torch`, and only where the notebook has imported torch.
"""
