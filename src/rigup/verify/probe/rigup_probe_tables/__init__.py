"""Tables of operators: what is called, with what, and what must come of it. A row is a line, as far as a line goes."""
