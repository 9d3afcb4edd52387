"""What frameworks and their wheels were built for."""
