"""`rigup train port`: what turns a script for one GPU of NVIDIA's into one for any device, and for many."""
