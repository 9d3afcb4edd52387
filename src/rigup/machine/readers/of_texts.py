"""Readers of pasted texts alone. Importing registers them."""

from rigup.machine import reader_index

reader_index.register_of_texts()
