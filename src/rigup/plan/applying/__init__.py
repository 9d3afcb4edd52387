"""Takes the steps of a plan: intent before act, result after, state from the machine, and the way back."""
