"""Ranks, the bridges between their cards and the interfaces they speak through: each rule where it speaks, and beside it where it has to be silent."""

_LOOPBACK = "n1:411:411 [0] NCCL INFO NET : Using interface lo:127.0.0.1<0>\n"
_IFNAME = "NCCL_SOCKET_IFNAME={}\n"
_MADE = "n1:411:430 [0] NCCL INFO comm 0x7f1c rank 0 nranks 2 cudaDev 0 nvmlDev 0 - Init COMPLETE\n"
_REGISTER = "$ for b in $(lspci | grep -i plx | cut -d' ' -f1); do sudo setpci -s $b f2a.w; done\n0000\n{}\n"
_BY_P2P = "n1:411:430 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/direct pointer\n"

SPEAKS = {
    "docker-alone-is-avoided": ("multinode-wrong-interface", _IFNAME.format("^docker0") + _LOOPBACK),
    "bridges-register-is-on": ("nccl-p2p-blocked-by-acs-iommu", _REGISTER.format("001d")),
}
SILENT = {
    "loopback-is-asked-for": ("multinode-wrong-interface", _IFNAME.format("lo") + _LOOPBACK),
    "loopback-and-it-works": ("multinode-wrong-interface", _IFNAME.format("^docker0") + _LOOPBACK + _MADE),
    "bridges-register-is-off": ("nccl-p2p-blocked-by-acs-iommu", _REGISTER.format("0000")),
    "bridges-register-is-on-and-cards-speak": ("nccl-p2p-blocked-by-acs-iommu", _REGISTER.format("001d") + _BY_P2P),
}
