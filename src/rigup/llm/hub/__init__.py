"""Models on disk: what lies in the stores of all programs, how it is removed, and how more comes."""
