"""What a program asks of a machine that is in order."""
