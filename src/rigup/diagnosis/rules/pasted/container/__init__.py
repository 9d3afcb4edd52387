"""Images, engines and pods."""

from rigup.diagnosis.rules.pasted.container import found_none, images, jetson, notebooks, started_without

__all__ = ["found_none", "images", "jetson", "notebooks", "started_without"]
