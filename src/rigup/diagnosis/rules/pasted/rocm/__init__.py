"""ROCm's libraries, chips and masks."""
