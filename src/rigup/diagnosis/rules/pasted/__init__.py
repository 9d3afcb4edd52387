"""Rules that wait for what people write, or for what their programs said to them: a machine that is asked itself says neither.

One folder a family of causes, as in the tables. They are read where somebody has pasted something: a live doctor does without three quarters of all rules.
"""
