"""Training: scripts judged before the queue judges them, launched on one machine or many, and followed while they run."""
