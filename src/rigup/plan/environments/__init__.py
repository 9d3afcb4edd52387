"""What an environment is on the disk: made beside and swapped in, recorded, found, run, locked, packed."""
