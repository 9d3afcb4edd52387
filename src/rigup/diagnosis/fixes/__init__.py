"""What the ways to mend a cause need beyond what its rules knew: one file a family, as the rules have. `diagnosis/loading.py` reads them."""
