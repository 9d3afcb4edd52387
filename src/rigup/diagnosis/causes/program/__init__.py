"""Causes of the family program: what a program asks for."""
