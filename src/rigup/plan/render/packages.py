"""What all forms share."""

from rigup.plan.packages import Group, groups

__all__ = ["Group", "groups"]
