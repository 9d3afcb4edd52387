"""Projects to begin with: files that train as they are, with the numbers of the job in one place."""
