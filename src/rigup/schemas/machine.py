"""The facts of a machine, as the doctor's answer holds them: devices typed, of every other kind a list by name."""

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.shared import Device, Facts


class Driver(Struct, frozen=True, kw_only=True):
    """A GPU driver in force: of the loaded kernel module, or of Windows in a WSL.

    Attributes:
        vendor: whose devices it drives.
        version: of the driver.
        cuda: the CUDA version that it shows; None where it shows none.
        branch: the branch of releases that it is of.
        flavour: which of the kernel modules it is ("open", "proprietary").

    """

    vendor: str | UnsetType = UNSET
    version: str | UnsetType | None = UNSET
    cuda: str | UnsetType | None = UNSET
    branch: str | UnsetType | None = UNSET
    flavour: str | UnsetType | None = UNSET


class OnTheBus(Struct, frozen=True, kw_only=True):
    """A device of the PCI bus that is no accelerator for this work: a management display, or an NPU.

    Attributes:
        address: on the bus ("0000:01:00.0").
        vendor_id: of the maker, hexadecimal ("10de").
        device_id: of the chip, hexadecimal.
        revision: of the chip, hexadecimal.
        subsystem: vendor and device of the board.
        class_code: of the PCI class, hexadecimal ("0300").
        name: as the list of ids has it.
        driver: the kernel driver bound to it; None for none.
        modules: kernel modules that could drive it.
        power: the state of its power management.
        atomics: whether the whole path to it routes PCIe atomics.
        bars: sizes of its windows into memory, in bytes.
        iommu_group: its number.
        iommu: how the IOMMU treats it ("identity", "DMA", "DMA-FQ").

    """

    address: str | UnsetType = UNSET
    vendor_id: str | UnsetType = UNSET
    device_id: str | UnsetType = UNSET
    revision: str | UnsetType | None = UNSET
    subsystem: str | UnsetType | None = UNSET
    class_code: str | UnsetType | None = UNSET
    name: str | UnsetType | None = UNSET
    driver: str | UnsetType | None = UNSET
    modules: list[str] | UnsetType | None = UNSET
    power: str | UnsetType | None = UNSET
    atomics: bool | UnsetType | None = UNSET
    bars: list[int] | UnsetType | None = UNSET
    iommu_group: int | UnsetType | None = UNSET
    iommu: str | UnsetType | None = UNSET


class Machine(Struct, frozen=True, kw_only=True):
    """The facts. Each list beside the first four holds the facts of one kind; a list that is left out is empty or unknown.

    The fields of a fact are those of its kind; a field that nobody has seen is left out, and `place` tells through whose
    eyes the fact was seen ("here", "host", "container", "service:NAME", a node).

    Attributes:
        accelerators: in PCI address order; left out where nobody looked and none is known, [] where there is none.
        displays: management and virtual displays, which are no accelerators.
        npus: processing accelerators that are no GPUs.
        drivers: GPU drivers in force.
        accounts: who runs the work.
        card_states: how a card runs now: its link to the machine, how busy it is, and what slows it down.
        card_counts: all cards of one maker that anybody saw on a machine, together: for rules that count.
        cdi_specs: a description of devices that container engines can hand on.
        container_engines: what starts containers.
        container_toolkits: NVIDIA's container toolkit, as its configuration tells.
        cpus: the processor.
        dead_lines: a line of a configuration file that its reader ignores.
        device_nodes: a device file.
        device_rules: what the control group of a container lets through.
        disk_spaces: room on the file system that holds a place which matters.
        distributions: the user space of a world.
        dkms_builds: what DKMS made of a module for one kernel.
        dkms_trees: a module that DKMS is to build.
        driver_libraries: a user-space library of a GPU driver as installed in a world.
        drm_cards: a card of the kernel's graphics layer.
        file_variables: a variable in such a file.
        firmware: a firmware and its release: an update of it moves settings that drivers rely on.
        folders: a folder and whose it is.
        gpu_processes: a program that has a card's memory, as the driver's tools and `ps` tell of it.
        graphics_switches: a laptop's tool that gives the discrete card to the system or takes it away.
        groups: a group of the group file; its members count from their next login on.
        home_folders: a folder of the person who asks, in which environments and settings are looked for. Never another's home.
        hosted_notebooks: the service that lends this machine as a notebook, and what it grants by the tables.
        jetsons: that the machine is one of NVIDIA's modules, and what tells it.
        job_requests: what a batch script asks of the scheduler. What is told without a script is of the only one there is.
        jupyter_folders: a folder of Jupyter's data that a variable of the person who asks names.
        jupyter_kernels: a notebook kernel.
        kernel_libraries: a folder of compiled kernels that a mathematical library of ROCm loads from.
        kernel_modules: a kernel module by name.
        kernel_parameters: a word of the kernel's command line: iommu=pt, nomodeset.
        kernels: a kernel that is installed.
        kfd_nodes: a GPU as amdkfd lists it: a whole card, or one partition of it.
        launches: what a program that starts one process a device was told, and what it says of its ranks.
        loader_entries: what the loader's cache gives for a name.
        masks: a program's own setting of a variable that hides devices.
        memories: main memory.
        module_parameters: a parameter of a kernel module: as running, as configured.
        net_interfaces: a network interface.
        next_boots: what the boot loader starts next.
        package_sources: where pip, uv or conda were told to take packages from, and through what.
        packages: an installed distribution of a Python environment.
        path_libraries: a library that lies in a folder of a search path, or among a toolkit's stubs or compatibility libraries.
        peer_memories: whose memory RDMA adapters read without the processor.
        platforms: the running kernel and what it runs on.
        proofs: a device that computed right with a framework of an environment, or failed to, and what that was found under.
        proven_packages: a package that lies in an environment now of which a proof is on record.
        python_envs: a Python environment.
        rdma_ports: a port of an adapter that reads and writes the memory of other machines: InfiniBand, Omni-Path or RoCE.
        search_paths: a folder in which a process's loader looks before all others.
        services: a system service.
        shared_memories: /dev/shm of a world.
        slurm_nodes: nodes of the cluster with their devices, as configured.
        slurm_settings: a setting of the cluster that decides how jobs get devices.
        state_folders: where programs of the person who asks keep their state, if a variable says so.
        system_packages: a package of the distribution (dpkg, rpm, pacman) that has to do with GPUs.
        tensorflows: the TensorFlow of an environment, as its files or its own answers tell.
        toolkits: a toolkit on the disk: CUDA as nvcc tells its version, ROCm as its folder does.
        torches: the torch of an environment, as its files or its own report tell.
        unit_files: a file that a service's unit takes variables from.
        unlisted_vendors: a maker whose cards somebody looked for on the bus by name, in vain.
        unloaded_modules: a module that somebody looked for by name among the loaded ones, in vain.
        variables: an environment variable; a value of None is known not to be set.
        vulkan_drivers: a driver of Vulkan that is installed, for one maker's cards.
        worlds: what kind of world this is.

    """

    accelerators: list[Device] | UnsetType = UNSET
    displays: list[OnTheBus]
    npus: list[OnTheBus] | UnsetType = UNSET
    drivers: list[Driver]
    accounts: Facts | UnsetType = UNSET
    card_states: Facts | UnsetType = UNSET
    card_counts: Facts | UnsetType = UNSET
    cdi_specs: Facts | UnsetType = UNSET
    container_engines: Facts | UnsetType = UNSET
    container_toolkits: Facts | UnsetType = UNSET
    cpus: Facts | UnsetType = UNSET
    dead_lines: Facts | UnsetType = UNSET
    device_nodes: Facts | UnsetType = UNSET
    device_rules: Facts | UnsetType = UNSET
    disk_spaces: Facts | UnsetType = UNSET
    distributions: Facts | UnsetType = UNSET
    dkms_builds: Facts | UnsetType = UNSET
    dkms_trees: Facts | UnsetType = UNSET
    driver_libraries: Facts | UnsetType = UNSET
    drm_cards: Facts | UnsetType = UNSET
    file_variables: Facts | UnsetType = UNSET
    firmware: Facts | UnsetType = UNSET
    folders: Facts | UnsetType = UNSET
    gpu_processes: Facts | UnsetType = UNSET
    graphics_switches: Facts | UnsetType = UNSET
    groups: Facts | UnsetType = UNSET
    home_folders: Facts | UnsetType = UNSET
    hosted_notebooks: Facts | UnsetType = UNSET
    jetsons: Facts | UnsetType = UNSET
    job_requests: Facts | UnsetType = UNSET
    jupyter_folders: Facts | UnsetType = UNSET
    jupyter_kernels: Facts | UnsetType = UNSET
    kernel_libraries: Facts | UnsetType = UNSET
    kernel_modules: Facts | UnsetType = UNSET
    kernel_parameters: Facts | UnsetType = UNSET
    kernels: Facts | UnsetType = UNSET
    kfd_nodes: Facts | UnsetType = UNSET
    launches: Facts | UnsetType = UNSET
    loader_entries: Facts | UnsetType = UNSET
    masks: Facts | UnsetType = UNSET
    memories: Facts | UnsetType = UNSET
    module_parameters: Facts | UnsetType = UNSET
    net_interfaces: Facts | UnsetType = UNSET
    next_boots: Facts | UnsetType = UNSET
    package_sources: Facts | UnsetType = UNSET
    packages: Facts | UnsetType = UNSET
    path_libraries: Facts | UnsetType = UNSET
    peer_memories: Facts | UnsetType = UNSET
    platforms: Facts | UnsetType = UNSET
    proofs: Facts | UnsetType = UNSET
    proven_packages: Facts | UnsetType = UNSET
    python_envs: Facts | UnsetType = UNSET
    rdma_ports: Facts | UnsetType = UNSET
    search_paths: Facts | UnsetType = UNSET
    services: Facts | UnsetType = UNSET
    shared_memories: Facts | UnsetType = UNSET
    slurm_nodes: Facts | UnsetType = UNSET
    slurm_settings: Facts | UnsetType = UNSET
    state_folders: Facts | UnsetType = UNSET
    system_packages: Facts | UnsetType = UNSET
    tensorflows: Facts | UnsetType = UNSET
    toolkits: Facts | UnsetType = UNSET
    torches: Facts | UnsetType = UNSET
    unit_files: Facts | UnsetType = UNSET
    unlisted_vendors: Facts | UnsetType = UNSET
    unloaded_modules: Facts | UnsetType = UNSET
    variables: Facts | UnsetType = UNSET
    vulkan_drivers: Facts | UnsetType = UNSET
    worlds: Facts | UnsetType = UNSET
