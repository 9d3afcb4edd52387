"""A server has a backend for the card, and waits for a variable to use it."""

from rigup.diagnosis.causes.rocm.chips_without_code import way_around_rocm
from rigup.diagnosis.causes.rocm.who_computes import who_computes_where
from rigup.diagnosis.rule import mends

mends("vulkan-switched-off")(who_computes_where)
mends("vulkan-switched-off")(way_around_rocm)
