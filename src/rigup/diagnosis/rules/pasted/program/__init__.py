"""What a program itself asks for, and its ranks."""
