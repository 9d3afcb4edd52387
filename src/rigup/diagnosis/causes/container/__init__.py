"""Causes of the family container: containers, notebooks and Jetsons."""
