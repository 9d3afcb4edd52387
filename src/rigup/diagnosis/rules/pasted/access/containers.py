"""Groups of the host that a container does not have."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import by_another_number, closed, inside
from rigup.diagnosis.rules.pasted.heard import (
    BOXES_NAMED,
    CONTAINERS_TOLD,
    HIP_FINDS_NONE,
    KFD_DENIED,
    OURS,
    ROOT_NEEDED,
)
from rigup.diagnosis.rules.rocm import OVERRIDE
from rigup.machine.kinds import Account, DeviceNode, Gpu, Platform, Symptom, Torch, Variable, World


@rule("container-render-group-mismatch", "likely")
def node_of_a_nameless_group_refuses(
    said: Symptom = seen("kfd-refuses-the-caller", "kfd-permission-denied"), group: Symptom = seen("node-group-without-a-name"),
) -> Verdict:  # fmt: skip
    """So are groups called that a namespace has not been given."""
    return {"said": said.id, "group": group.id}


@rule("container-render-group-mismatch", "possible")
def node_refuses_root_of_a_container(
    said: Symptom = seen("kfd-refuses-the-caller"), node: DeviceNode | None = one(path="/dev/kfd")
) -> Verdict:
    """It is there and refuses whoever asks: mostly in a container without rights of its own."""
    return {"said": said.id, "group": node.get("group") if node else None}


@rule("container-render-group-mismatch", "likely")
def plain_user_of_a_container_cannot_open_the_node(
    said: Symptom = seen("video-library-cannot-open-the-node"), user: Symptom = seen("compose-runs-as-a-plain-user"), given: Symptom = seen("compose-hands-the-nodes-on"),
) -> Verdict:  # fmt: skip
    """The nodes are handed on, the process is a plain user, and no group is added."""
    return {"said": said.id, "user": user.id, "given": given.id}


@rule("container-render-group-mismatch", "possible")
def group_is_a_number_there(
    node: DeviceNode = one(path="/dev/kfd"), who: Account | None = None, opened: Symptom | None = seen("radeon-listed-inside")
) -> Verdict:  # fmt: skip
    """A listing shows the number of a group that has no name there: the host's, seen from a container. What lists the chip there has opened the node."""
    return who is None and opened is None and node.group.isdigit() and node.mode[8:9] != "w" and {"group": node.group}


@rule("container-render-group-mismatch", "likely")
def node_that_was_handed_in_was_refused(
    error: Symptom = seen("device-node-refused-below"), given: Symptom | None = seen("kfd-handed-in")
) -> Verdict:
    """The same where a container was given the node."""
    return (given is not None or inside(error)) and {"said": error.id}


@rule("container-render-group-mismatch", "likely")
def refused_where_a_container_is_spoken_of(
    error: Symptom = seen("kfd-permission-denied", "kfd-permission-denied-errno", "kfd-group-not-held"), boxed: Symptom = seen(*BOXES_NAMED),
) -> Verdict:  # fmt: skip
    """Permission denied, and the person is in a container."""
    return {"said": error.id, "where": boxed.id}


@rule("container-render-group-mismatch", "possible")
def nothing_found_inside_and_well_outside(
    error: Symptom = seen("hip-no-device", "hip-log-no-device", "torch-no-cuda-gpus", "hsa-out-of-resources"), _boxed: Symptom = seen(*BOXES_NAMED),
    _outside: Symptom = seen("works-outside-told", "works-on-host-told", "host-sees-what-the-container-does-not"), absent: Symptom | None = seen("kfd-not-there", "kfd-missing-told"),
) -> Verdict:  # fmt: skip
    """The host sees the card, the container does not, and nobody says that the nodes are missing."""
    return absent is None and {"said": error.id}


@rule("container-render-group-mismatch", "likely")
def root_may_inside_and_another_may_not(
    root: Symptom = seen("user-root-helps-told", *ROOT_NEEDED), _boxed: Symptom = seen(*CONTAINERS_TOLD), _ours: Symptom = seen("kfd-named", *OURS),
    other: Gpu | None = one(vendor="nvidia"), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """What fails for a container's own user and not for its root fails for want of a right."""
    return other is None and override is None and {"said": root.id}


@rule("container-render-group-mismatch", "likely")
def user_of_the_image_has_no_group(
    _run: Symptom = seen("kfd-given-without-groups"), user: Symptom = seen("image-user-not-root", "unprivileged-container-told"), _torch: Torch = one(available=False),
) -> Verdict:  # fmt: skip
    """The nodes were handed in, no group that may open them was, and the image runs as a plain user."""
    return {"said": user.id}


@rule("container-render-group-mismatch", "likely")
def podman_drops_the_groups(
    error: Symptom = seen(*HIP_FINDS_NONE), run: Symptom = seen("podman-without-own-groups"), absent: Symptom | None = seen("kfd-not-there", "kfd-missing-told"),
) -> Verdict:  # fmt: skip
    """A container of a person's own has other group numbers than the host, unless it keeps them."""
    return absent is None and {"said": error.id, "where": run.id}


@rule("container-render-group-mismatch", "possible")
def runtime_fails_in_a_container(
    error: Symptom = seen("hsa-out-of-resources"), boxed: Symptom = seen("in-a-container-told"), absent: Symptom | None = seen("kfd-not-there", "kfd-missing-told"),
    root: Symptom | None = seen(*ROOT_NEEDED), platform: Platform | None = None,
) -> Verdict:  # fmt: skip
    """A person is in a container, and the runtime may not open what is there."""
    guest = bool(platform and platform.get("wsl"))
    return absent is None and root is None and not guest and {"said": error.id, "where": boxed.id}


@rule("container-render-group-mismatch", "likely")
def number_of_the_host_is_not_held_inside(
    who: Account = one(at="container"), node: DeviceNode = one(path="/dev/kfd"), given: World | None = one(gpu_requested=False)
) -> Verdict:  # fmt: skip
    """The host lists the node by its group's number, and the account inside is not in it."""
    return given is None and not inside(node) and node.group.isdigit() and closed(node, who)


@rule("container-render-group-mismatch", "likely")
def groups_name_is_held_and_its_number_is_not(node: DeviceNode = one(path="/dev/kfd"), who: Account = one()) -> Verdict:
    """On a host a group's name and number are one; of a container the name is its own and the number the host's."""
    return by_another_number(node, who) and closed(node, who) and {"group": node.group}


@rule("container-render-group-mismatch", "likely")
def group_is_nobodys_there(said: Symptom = seen("kfd-group-check-failed", group=("nogroup", "nobody"))) -> Verdict:
    """rocminfo asks who belongs to the node's group, and a user namespace does not know that group."""
    return {"group": said.get("group")}


@rule("container-render-group-mismatch", "likely")
def node_belongs_to_nobody(
    node: DeviceNode = one(path="/dev/kfd", group=("nogroup", "nobody", "nfsnobody", "65534")), who: Account | None = None,
    opened: Symptom | None = seen("radeon-listed-inside"),
) -> Verdict:  # fmt: skip
    """A listing from within a user namespace: the host's group was not mapped into it. What lists the chip there has opened the node.

    Of an account whose groups are known other rules judge: it may have kept the host's, which are nobody's there too.
    """
    return who is None and opened is None and node.mode[8:9] != "w" and {"group": node.group}


@rule("container-render-group-mismatch", "likely")
def refused_in_a_container_that_was_entered(
    error: Symptom = seen(*KFD_DENIED), entered: Symptom = seen("container-entered", "lxc-configured")
) -> Verdict:
    """Permission denied, by a program that was started in a container."""
    return {"said": error.id, "where": entered.id}


@rule("container-render-group-mismatch", "likely")
def root_is_refused(
    error: Symptom = seen("kfd-permission-denied", "kfd-permission-denied-errno"), who: Symptom = seen("kfd-group-not-held", user="root")
) -> Verdict:  # fmt: skip
    """Nothing is closed to a machine's own root: this one is root of a namespace only."""
    return {"said": error.id, "group": who.get("group")}


@rule("container-render-group-mismatch", "likely")
def tool_answers_root_alone_inside(
    error: Symptom = seen("hsa-out-of-resources", "hsa-call-failed-by-number", "kfd-permission-denied"), root: Symptom = seen("rocminfo-with-sudo-answers"),
) -> Verdict:  # fmt: skip
    """The same program in a container, as it fails and as it answers to root there."""
    return inside(error) and {"said": error.id, "works": root.id}


@rule("container-render-group-mismatch")
def image_opens_its_nodes_by_itself(
    said: Symptom = seen("image-opens-a-node-by-itself", "image-gives-its-account-a-nodes-group"),
    refused: Symptom | None = seen(*KFD_DENIED, "render-node-permission-denied", "video-library-cannot-open-the-node", *HIP_FINDS_NONE),
) -> Verdict:  # fmt: skip
    """Images of linuxserver's kind give their account the node's group as they start: worth knowing, and no fault."""
    return refused is None and {"said": said.id, "severity": "note"}
