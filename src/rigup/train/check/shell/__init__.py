"""Batch scripts as a shell reads them: words with what they expand to, commands in their order, traps."""
