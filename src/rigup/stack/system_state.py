"""What stands on a machine already beside its devices: packages, groups, engines, kernels."""

import msgspec


class SystemState(msgspec.Struct, frozen=True, kw_only=True):
    """Only what was seen: an empty field does not mean that nothing is there.

    Attributes:
        uv: a uv that a plain command starts, or the one that came with rigup.
        uv_program: how that is started; "" for by its plain name.
        groups: of the account, in force. assigned: those that count from the next login on.
        packages: of the distribution that have to do with GPUs, with versions.
        driver_source: name of the provider that NVIDIA's driver came from, "" where nobody can tell.
        bound: kernel drivers that are bound to the cards ("nouveau").
        modules: kernel modules that are loaded.
        engines: container engines with the runtimes that they know.
        container_toolkit: NVIDIA's container toolkit is installed. described: its devices are described (CDI).
        toolkits: releases of CUDA ("12.6.11") and of ROCm ("6.2.4") by name.
        kernels: releases that are installed.
        options: settings of modules ("ttm.pages_limit") and of the kernel's command line, as configured or running.
        services: names of system services.
        desktop: a screen is served; None where nobody can tell.

    """

    uv: bool = False
    uv_program: str = ""
    groups: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()
    packages: dict[str, str] = {}
    driver_source: str = ""
    bound: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    engines: dict[str, tuple[str, ...]] = {}
    container_toolkit: bool = False
    described: bool = False
    toolkits: dict[str, tuple[str, ...]] = {}
    kernels: tuple[str, ...] = ()
    options: dict[str, str] = {}
    services: tuple[str, ...] = ()
    desktop: bool | None = None
