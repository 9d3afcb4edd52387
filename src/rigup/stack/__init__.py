"""What should be there: a stack that fits a machine and a wish, with a reason for every choice."""
