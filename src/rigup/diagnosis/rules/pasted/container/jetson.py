"""Containers and wheels on a Jetson, whose driver is its own."""
