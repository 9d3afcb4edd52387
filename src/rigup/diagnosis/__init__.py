"""What is wrong: rules, causes, folding, and the answer as data."""
