"""Compiled kernels of ROCm's mathematical libraries, and what a torch for ROCm brings along."""

import re

from rigup.machine.kinds import Jetson, KernelLibrary, Torch
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.texts import Hit, Text

_SITE = "{PythonEnv.prefix}/lib{,64}/python3*/{site,dist}-packages/torch/lib/"
_FOLDERS = ("/opt/{rocm,rocm-*}/lib/", "/usr/lib/{x86_64-linux-gnu/,}", "/usr/lib64/", "/usr/{local/,}lib/ollama/{rocm/,}")
_LIBRARIES = ("rocblas", "hipblaslt")


@reads(KernelLibrary, inputs=[Listing(folder + name + "/library/*gfx*.*") for folder in (*_FOLDERS, _SITE) for name in _LIBRARIES])
def kernel_files(text: Text) -> Statements:
    """`…/rocblas/library/TensileLibrary_lazy_gfx1030.dat`: a file for each target."""
    found: dict[str, list[str]] = {}
    first: dict[str, Hit] = {}
    for hit in text.each(
        r"(?P<path>/[^\n ]{1,300}/(?:rocblas|hipblaslt)/library)/[^\n/]{0,200}?(?P<gfx>gfx[0-9a-f]{3,4})(?![0-9a-f])[^\n/]{0,120}$"
    ):
        first.setdefault(hit["path"], hit)
        found.setdefault(hit["path"], []).append(hit["gfx"])
    for path, code in found.items():
        name = "hipblaslt" if "/hipblaslt/" in path else "rocblas"
        owner = "ollama" if "/ollama/" in path else "torch" if "/torch/lib/" in path else "rocm"
        yield first[path].states(KernelLibrary, path=path, name=name, code=sorted(set(code)), owner=owner)


@reads(inputs=[Listing(_SITE + "libhsa-runtime64.so*")], adds=(Torch,))
def runtime_of_wheel(text: Text) -> Statements:
    """A wheel's own HSA runtime; the one that a person removed, or set aside under another name, is not there."""
    for hit in text.each(
        r"(?P<env>/[^\n ]{1,300}?)/lib(?:64)?/python3[^/\n]{0,6}/(?:site|dist)-packages/torch/lib/libhsa-runtime64\.so(?:\.\d{1,3}){0,3}(?![\w.-])"
    ):
        yield hit.states(Torch, env=hit["env"], own_hsa=True)


@reads(inputs=[File("/etc/nv_tegra_release"), File("/proc/device-tree/model"), File("/sys/firmware/devicetree/base/model")], adds=(Jetson,))
def jetson_files(text: Text) -> Statements:
    """`# R36 (release), REVISION: 4.3`, `NVIDIA Jetson Orin Nano Developer Kit`."""
    if hit := text.first(r"^# R(?P<major>\d{2}) \(release\), REVISION: (?P<minor>[\d.]{1,8})"):
        yield hit.states(Jetson, l4t=hit["major"] + "." + hit["minor"])
    elif hit := text.first(r"\A(?P<model>(?:NVIDIA )?(?:Jetson|Orin|Quill|Thor)[^\x00\n]{0,60})"):
        yield hit.states(Jetson, model=re.sub(r"\A NVIDIA", "", hit["model"]).strip())
