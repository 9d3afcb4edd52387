"""Layouts of amdgpu's `gpu_metrics`: names, order and widths of the fields of each revision.

Source: Linux drivers/gpu/drm/amd/include/kgd_pp_interface.h. A field is NAME:FORM, FORM as in `struct`, with a count in
front of an array; "_" is padding that the header names. Places follow from the alignment of a 64-bit kernel.
"""

import struct
from typing import NamedTuple


class Layout(NamedTuple):
    """A revision: fields as (name, form, place); the name of the form of its partitions and where they begin."""

    size: int
    fields: tuple[tuple[str, str, int], ...]
    part: str = ""
    parts_at: int = 0


_TEMPERATURES = "temperature_edge:H temperature_hotspot:H temperature_mem:H temperature_vrgfx:H temperature_vrsoc:H temperature_vrmem:H "
_ACTIVITIES = "average_gfx_activity:H average_umc_activity:H average_mm_activity:H "
_CLOCKS = (
    "average_gfxclk_frequency:H average_socclk_frequency:H average_uclk_frequency:H average_vclk0_frequency:H "
    "average_dclk0_frequency:H average_vclk1_frequency:H average_dclk1_frequency:H current_gfxclk:H current_socclk:H "
    "current_uclk:H current_vclk0:H current_dclk0:H current_vclk1:H current_dclk1:H "
)
_V1_0 = (
    "system_clock_counter:Q "
    + _TEMPERATURES
    + _ACTIVITIES
    + "average_socket_power:H energy_accumulator:I "
    + _CLOCKS
    + "throttle_status:I current_fan_speed:H pcie_link_width:B pcie_link_speed:B "
)
_V1_1 = (
    _TEMPERATURES
    + _ACTIVITIES
    + "average_socket_power:H energy_accumulator:Q system_clock_counter:Q "
    + _CLOCKS
    + "throttle_status:I current_fan_speed:H pcie_link_width:H pcie_link_speed:H _:H gfx_activity_acc:I mem_activity_acc:I "
    "temperature_hbm:4H "
)
_V1_2 = _V1_1 + "firmware_timestamp:Q "
_V1_3 = _V1_2 + "voltage_soc:H voltage_gfx:H voltage_mem:H _:H indep_throttle_status:Q "
_HEAD = "temperature_hotspot:H temperature_mem:H temperature_vrsoc:H curr_socket_power:H average_gfx_activity:H average_umc_activity:H "
_COUNTERS = "energy_accumulator:Q system_clock_counter:Q "
_LINKS = (
    "pcie_link_width:H pcie_link_speed:H xgmi_link_width:H xgmi_link_speed:H gfx_activity_acc:I mem_activity_acc:I "
    "pcie_bandwidth_acc:Q pcie_bandwidth_inst:Q pcie_l0_to_recov_count_acc:Q pcie_replay_count_acc:Q "
    "pcie_replay_rover_count_acc:Q "
)
_NAKS = "pcie_nak_sent_count_acc:I pcie_nak_rcvd_count_acc:I "
_XGMI = "xgmi_read_data_acc:8Q xgmi_write_data_acc:8Q "
_RUNNING = "firmware_timestamp:Q current_gfxclk:8H current_socclk:4H current_vclk0:4H current_dclk0:4H current_uclk:H "
_RESIDENCIES = (
    "accumulation_counter:I prochot_residency_acc:I ppt_residency_acc:I socket_thm_residency_acc:I vr_thm_residency_acc:I "
    "hbm_thm_residency_acc:I "
)
_STATUS = "throttle_status:I gfxclk_lock_status:I "
_V1_4 = _HEAD + "vcn_activity:4H " + _COUNTERS + _STATUS + _LINKS + _XGMI + _RUNNING + "_:H "
_V1_5 = _HEAD + "vcn_activity:4H jpeg_activity:32H " + _COUNTERS + _STATUS + _LINKS + _NAKS + _XGMI + _RUNNING + "_:H "
_TAIL = "num_partition:H xcp_stats:@{part} pcie_lc_perf_other_end_recovery:I "
_V1_6 = _HEAD + _COUNTERS + _RESIDENCIES + "gfxclk_lock_status:I " + _LINKS + _NAKS + _XGMI + _RUNNING + _TAIL
_V1_7 = (
    _HEAD
    + "mem_max_bandwidth:Q "
    + _COUNTERS
    + _RESIDENCIES
    + "gfxclk_lock_status:I "
    + _LINKS
    + _NAKS
    + _XGMI
    + "xgmi_link_status:8H _:H "
    + _RUNNING
    + _TAIL
)
_V2_TEMPERATURES = "temperature_gfx:H temperature_soc:H temperature_core:8H temperature_l3:2H "
_V2_POWER = (
    "average_socket_power:H average_cpu_power:H average_soc_power:H average_gfx_power:H average_core_power:8H "
    "average_gfxclk_frequency:H average_socclk_frequency:H average_uclk_frequency:H average_fclk_frequency:H "
    "average_vclk_frequency:H average_dclk_frequency:H current_gfxclk:H current_socclk:H current_uclk:H current_fclk:H "
    "current_vclk:H current_dclk:H current_coreclk:8H current_l3clk:2H throttle_status:I fan_pwm:H "
)
_V2_ACTIVITIES = "average_gfx_activity:H average_mm_activity:H "
_V2_0 = "system_clock_counter:Q " + _V2_TEMPERATURES + _V2_ACTIVITIES + _V2_POWER + "_:H "
_V2_1 = _V2_TEMPERATURES + _V2_ACTIVITIES + "system_clock_counter:Q " + _V2_POWER + "_:3H "
_V2_2 = _V2_1 + "indep_throttle_status:Q "
_V2_3 = _V2_2 + "average_temperature_gfx:H average_temperature_soc:H average_temperature_core:8H average_temperature_l3:2H "
_V2_4 = _V2_3 + (
    "average_cpu_voltage:H average_soc_voltage:H average_gfx_voltage:H average_cpu_current:H average_soc_current:H average_gfx_current:H "
)
_V3_0 = (
    "temperature_gfx:H temperature_soc:H temperature_core:16H temperature_skin:H average_gfx_activity:H "
    "average_vcn_activity:H average_ipu_activity:8H average_core_c0_activity:16H average_dram_reads:H average_dram_writes:H "
    "average_ipu_reads:H average_ipu_writes:H system_clock_counter:Q average_socket_power:I average_ipu_power:H "
    "average_apu_power:I average_gfx_power:I average_dgpu_power:I average_all_core_power:I average_core_power:16H "
    "average_sys_power:H stapm_power_limit:H current_stapm_power_limit:H average_gfxclk_frequency:H "
    "average_socclk_frequency:H average_vpeclk_frequency:H average_ipuclk_frequency:H average_fclk_frequency:H "
    "average_vclk_frequency:H average_uclk_frequency:H average_mpipu_frequency:H current_coreclk:16H "
    "current_core_maxfreq:H current_gfx_maxfreq:H throttle_residency_prochot:I throttle_residency_spl:I "
    "throttle_residency_fppt:I throttle_residency_sppt:I throttle_residency_thm_core:I throttle_residency_thm_gfx:I "
    "throttle_residency_thm_soc:I time_filter_alphavalue:I "
)
_PART_6 = "gfx_busy_inst:8I jpeg_busy:32H vcn_busy:4H gfx_busy_acc:8Q "
_PART_8 = (
    "gfx_busy_inst:8I jpeg_busy:40H vcn_busy:4H gfx_busy_acc:8Q gfx_below_host_limit_ppt_acc:8Q "
    "gfx_below_host_limit_thm_acc:8Q gfx_low_utilization_acc:8Q gfx_below_host_limit_total_acc:8Q "
)


def _placed(text: str, begin: int) -> Layout:
    """Places of fields, each at a multiple of its width, and the size, a multiple of the greatest."""
    at, widest, fields, part, parts_at = begin, 2, [], "", 0
    for field in text.split():
        name, _, form = field.partition(":")
        if form.startswith("@"):
            part, width, size = form[1:], 8, 8 * PARTS[form[1:]].size
            at += -at % width
            parts_at = at
        else:
            width, size = struct.calcsize(form[-1]), struct.calcsize("<" + form)
            at += -at % width
            fields += [] if name == "_" else [(name, form, at)]
        at, widest = at + size, max(widest, width)
    return Layout(at + -at % widest, tuple(fields), part, parts_at)


PARTS: dict[str, Layout] = {}
PARTS |= {"6": _placed(_PART_6, 0), "7": _placed(_PART_6 + "gfx_below_host_limit_acc:8Q ", 0), "8": _placed(_PART_8, 0)}
"""The block of one partition, of which there are eight."""

LAYOUTS = {
    revision: _placed(text, 4)
    for revision, text in {
        "1.0": _V1_0,
        "1.1": _V1_1,
        "1.2": _V1_2,
        "1.3": _V1_3,
        "1.4": _V1_4,
        "1.5": _V1_5,
        "1.6": _V1_6.format(part="6"),
        "1.7": _V1_7.format(part="7"),
        "1.8": _V1_7.format(part="8"),
        "2.0": _V2_0,
        "2.1": _V2_1,
        "2.2": _V2_2,
        "2.3": _V2_3,
        "2.4": _V2_4,
        "3.0": _V3_0,
    }.items()
}
"""By revision; 1.9 is a list and has none."""

ITEM_NAMES = (
    "temperature_hotspot",
    "temperature_mem",
    "temperature_vrsoc",
    "curr_socket_power",
    "average_gfx_activity",
    "average_umc_activity",
    "mem_max_bandwidth",
    "energy_accumulator",
    "system_clock_counter",
    "accumulation_counter",
    "prochot_residency_acc",
    "ppt_residency_acc",
    "socket_thm_residency_acc",
    "vr_thm_residency_acc",
    "hbm_thm_residency_acc",
    "gfxclk_lock_status",
    "pcie_link_width",
    "pcie_link_speed",
    "xgmi_link_width",
    "xgmi_link_speed",
    "gfx_activity_acc",
    "mem_activity_acc",
    "pcie_bandwidth_acc",
    "pcie_bandwidth_inst",
    "pcie_l0_to_recov_count_acc",
    "pcie_replay_count_acc",
    "pcie_replay_rover_count_acc",
    "pcie_nak_sent_count_acc",
    "pcie_nak_rcvd_count_acc",
    "xgmi_read_data_acc",
    "xgmi_write_data_acc",
    "xgmi_link_status",
    "firmware_timestamp",
    "current_gfxclk",
    "current_socclk",
    "current_vclk0",
    "current_dclk0",
    "current_uclk",
    "num_partition",
    "pcie_lc_perf_other_end_recovery",
    "gfx_busy_inst",
    "jpeg_busy",
    "vcn_busy",
    "gfx_busy_acc",
    "gfx_below_host_limit_ppt_acc",
    "gfx_below_host_limit_thm_acc",
    "gfx_low_utilization_acc",
    "gfx_below_host_limit_total_acc",
)
"""Revision 1.9: the name of an item by its number."""
ITEM_FORMATS = "BbHhIiQq"
ITEM_UNITS = ("", "MHz", "C", "W", "ns", "10ns", "GT/s", "0.1GT/s", "GB/s", "kB", "%")
