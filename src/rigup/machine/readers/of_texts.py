"""Readers of pasted texts alone. Importing registers them."""

from rigup.machine.readers import OF_TEXTS, load

load(OF_TEXTS)
