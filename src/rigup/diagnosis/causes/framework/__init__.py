"""Causes of the family framework: builds of torch, of other frameworks and of what stands on them."""
