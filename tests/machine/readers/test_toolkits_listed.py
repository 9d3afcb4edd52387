"""Toolkits of CUDA that `ls` shows of /usr/local."""

import pytest

from rigup.machine.readers.toolkits import folders_listed
from rigup.machine.texts import Text


def found(body):
    return {(fact.version, fact.path) for fact in folders_listed(Text("said.txt", body))}


@pytest.mark.parametrize(
    "shown",
    [
        "$ ls /usr/local\nbin  cuda  cuda-11.8  cuda-12.4  etc\n",
        "$ ls -d /usr/local/cuda*\n/usr/local/cuda  /usr/local/cuda-11.8  /usr/local/cuda-12.4\n",
        (
            "ada@box:~$ ls -l /usr/local | grep cuda\n"
            "lrwxrwxrwx  1 root root   20 Mar  2 09:10 cuda -> /usr/local/cuda-11.8\n"
            "drwxr-xr-x 17 root root 4096 Mar  2 09:10 cuda-11.8\n"
            "drwxr-xr-x 15 root root 4096 Apr  7 16:45 cuda-12.4\n"
        ),
    ],
)
def test_each_folder_is_a_toolkit(shown):
    assert found(shown) == {("11.8", "/usr/local/cuda-11.8"), ("12.4", "/usr/local/cuda-12.4")}


@pytest.mark.parametrize(
    "shown",
    [
        "$ ls /opt\ncuda-12.4\n",
        "ls: cannot access '/usr/local/cuda-12.4': No such file or directory\n",
        "$ ls /usr/local\nbin  etc\n$ echo cuda-12.4\ncuda-12.4\n",
        "$ sudo apt install cuda-12.4\n",
        "$ ls /usr/local\ncuda-keyring_1.1-1_all.deb  cuda-samples-12.4\n",
    ],
)
def test_what_is_listed_elsewhere_or_is_no_folder_of_cuda_is_none(shown):
    assert found(shown) == set()
