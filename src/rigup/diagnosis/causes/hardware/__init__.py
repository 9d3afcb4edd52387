"""Causes of the family hardware: the card itself and its memory."""
