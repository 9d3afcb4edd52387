"""Images, engines and pods."""
