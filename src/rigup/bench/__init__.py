"""How fast the devices are: measured in the environment's own Python, told beside what they should reach."""
