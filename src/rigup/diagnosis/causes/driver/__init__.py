"""Causes of the family driver: kernel drivers and the way to the card."""
