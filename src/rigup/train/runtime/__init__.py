"""What stands in people's programs: nothing but torch is imported, and Lightning or transformers where they are used."""
