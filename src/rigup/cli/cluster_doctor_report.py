"""What `rigup cluster doctor` says for people: groups of nodes, by what they reach each other, what was measured."""

from collections.abc import Iterator

from msgspec import UNSET

from rigup.cli.layout import wrapped
from rigup.language import _
from rigup.machine.slurm.hostlist import expand
from rigup.schemas.doctor import Doctor
from rigup.schemas.nodes import Deep, NodeGroup, SharedLinks
from rigup.sizes import size
from rigup.visible import visible

_FABRICS = {"ethernet": "Ethernet", "infiniband": "InfiniBand"}


def doctor_text(answer: Doctor) -> str:
    """A group a paragraph: `8 nodes well`, then whom something is to be said of."""
    lines: list[str] = []
    titles: dict[str, list[str]] = {}
    for finding in answer.findings:
        titles.setdefault(finding.place, []).append(finding.title)
    for group in answer.groups or ():
        lines += _group_lines(group, titles.get(expand(group.nodes[0])[0], []))
    for silent in answer.not_asked or ():
        lines += wrapped(
            _("Not examined: {nodes}. {because}").format(nodes=visible(", ".join(silent.nodes)), because=visible(silent.because)), "", "  "
        )
    for links in answer.links or ():
        lines += _link_lines(links)
    if answer.deep is not UNSET:
        lines += _deep_lines(answer.deep)
    return "\n".join(lines) or _("There is no node to examine.")


def _link_lines(links: SharedLinks) -> list[str]:
    """By what nodes reach each other, and the variables that lead to it on every one."""
    names = visible(", ".join(links.nodes))
    lines = wrapped(_("Between {nodes}: {ways}.").format(nodes=names, ways=visible("; ".join(_ways(links)))), "", "  ")
    if not links.interfaces:
        text = _("No interface is up under one name on all of them: NCCL_SOCKET_IFNAME can name none.")
        return [*lines, *wrapped(text, "  ", "  ")]
    values = {"NCCL_SOCKET_IFNAME": links.socket, "NCCL_IB_HCA": links.hca}
    words = [f'{name}="{visible(value)}"' for name, value in values.items() if isinstance(value, str)]
    text = _("On each of them {settings} leads to the quickest (RCCL reads the same).")
    return [*lines, *wrapped(text.format(settings=" ".join(words)), "  ", "  ")]


def _ways(links: SharedLinks) -> Iterator[str]:
    """Ports and interfaces, those of one link and rate together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for way in [*links.ports, *links.interfaces]:
        name = "RoCE" if ":" in way.name and way.link == "ethernet" else _FABRICS.get(way.link, way.link)
        alike.setdefault((name, way.rate or ""), []).append(way.name)
    for (name, rate), members in alike.items():
        yield " ".join(filter(None, (name, rate))) + " (" + ", ".join(members) + ")"
    if not alike:
        yield _("nothing that is up under one name on all")
    if links.ports:
        clients = ", ".join(links.memory_of)
        yield (
            _("GPUDirect RDMA by {clients}").format(clients=clients)
            if clients
            else _("neither nvidia-peermem nor amdkfd on all: GPUDirect RDMA is left to DMA-BUF")
        )


def _deep_lines(deep: Deep) -> list[str]:
    """What was verified, the medians, and links that are bad by themselves."""
    lines: list[str] = []
    for row in deep.verified:
        names, because = visible(", ".join(row.nodes)), visible(row.because or "")
        if row.state == "verified":
            template = _("Verified: {nodes} ({framework} on {devices})")
            lines += wrapped(
                template.format(nodes=names, framework=visible(row.framework or ""), devices=visible(", ".join(row.devices))), "", "  "
            )
        elif row.state == "unknown":
            lines += wrapped(_("Not verified: {nodes}. {because}").format(nodes=names, because=because), "", "  ")
    for usual in deep.usual:
        lines += wrapped(_("Median of {what}: {rate}/s").format(what=visible(usual.of), rate=size(usual.rate)))
    for link in deep.links:
        if link.alone:
            rate = _("{size}/s").format(size=size(link.rate)) if isinstance(link.rate, int) else visible(link.because or "")
            template = _("Link {first} to {second}: {rate}. Both are well with others, or met nobody else.")
            lines += wrapped(template.format(first=visible(link.nodes[0]), second=visible(link.nodes[1]), rate=rate), "", "  ")
    if deep.usual:
        lines += wrapped(_("What is more than {margin:.0f} times below its median is called slow.").format(margin=deep.margin))
    return lines


def _group_lines(group: NodeGroup, titles: list[str]) -> list[str]:
    names = visible(", ".join(group.nodes))
    remarks = list(titles)
    for row in group.differs:
        if row.fact == "GPUs":
            remarks.append(_("{seen} of {expected} GPUs").format(seen=row.value, expected=row.usual))
        elif row.value is None:
            remarks.append(_("no {fact}, others have it").format(fact=row.fact))
        elif row.usual is None:
            remarks.append(f"{row.fact}: {row.value}")
        else:
            remarks.append(_("{fact} {value}, others {usual}").format(fact=row.fact, value=row.value, usual=row.usual))
    if not remarks:
        return wrapped(_("Well: {nodes} ({count} in all)").format(nodes=names, count=group.count), "", "  ")
    if len(remarks) == 1:
        return wrapped(_("{nodes}: {text}").format(nodes=names, text=visible(remarks[0])), "", "  ")
    return [
        *wrapped(_("{nodes}:").format(nodes=names), "", "  "),
        *(line for text in remarks for line in wrapped(visible(text), "  - ", "    ")),
    ]
