"""One file a family; `pasted` holds those that wait for what people write. `diagnosis/loading.py` reads them.

Causes that a message decides alone have no rule here: their signature row names them.
"""
