"""What would go wrong with a training script under its batch script, read from both without running either."""
