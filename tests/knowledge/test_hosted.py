"""Hosted notebooks: known by what the service sets, and by nothing else; and what the doctor says of them."""

import pytest

from rigup.knowledge import tables
from rigup.knowledge.hosted import Service, hosted
from rigup.machine.derive import service_of_variables
from rigup.machine.facts import Place, Reading, Where
from rigup.machine.kinds import Variable
from rigup.machine.store import Facts

WHERE = Where("env", 1, "")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"COLAB_RELEASE_TAG": "release-colab_20251101"}, "colab"),
        ({"KAGGLE_KERNEL_RUN_TYPE": "Interactive", "COLAB_RELEASE_TAG": "x"}, "kaggle"),  # its images are made of Colab's
        ({"PAPERSPACE_FQDN": "nb1.example"}, "paperspace"),
        ({"HOME": "/home/studio-lab-user"}, "studio-lab"),
        ({"BINDER_SERVICE_HOST": "10.0.0.1"}, "binder"),
        ({"HOME": "/home/ada", "JUPYTERHUB_USER": "ada", "KAGGLE_CONFIG_DIR": "/home/ada/.kaggle"}, None),
        ({}, None),
    ],
)
def test_a_service_is_known_by_its_variables(variables, expected):
    service = hosted(variables)
    assert (service.id if service else None) == expected


def test_each_service_can_be_told_and_grants_something():
    for row in tables.rows("hosted_notebooks", "service", Service):
        assert row.variables or row.home, row.id
        assert row.session_hours or row.idle_minutes, row.id
        assert row.source.startswith("https://"), row.id


def facts_of(variables, process="shell"):
    place = Place(process=process)
    return [Variable(place, {"name": Reading(name, WHERE), "value": Reading(value, WHERE)}) for name, value in variables.items()]


def test_what_it_grants_is_a_fact_of_the_shell_alone():
    given = facts_of({"HOME": "/root", "COLAB_GPU": "1", "KAGGLE_KERNEL_RUN_TYPE": "x"})
    (first, *more) = [fact for variable in given for fact in service_of_variables(variable, Known(given))]
    assert {fact.get("id") for fact in (first, *more)} == {"kaggle"}
    assert (first.get("session_hours"), first.get("idle_minutes"), first.get("is_root")) == (12, None, True)
    kernel = facts_of({"COLAB_GPU": "1"}, "kernel:x")
    assert not [fact for variable in kernel for fact in service_of_variables(variable, Known(kernel))]


class Known(Facts):
    """Facts that stand here."""

    def __init__(self, held):
        self.held = held

    def of(self, kind):
        return [fact for fact in self.held if isinstance(fact, kind)]
