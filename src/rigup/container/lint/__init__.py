"""What is wrong with files that describe containers: Dockerfiles, compose files, dev containers, Apptainer definitions."""
