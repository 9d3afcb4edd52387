"""A pipe that somebody names is read, as `--from <(command)` does; one that lies in a folder is not."""

import os
import threading

import pytest

from rigup.machine.sources import SourceError, open_source

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of POSIX systems")


def fed(path, body):
    os.mkfifo(path)

    def feed():
        with open(path, "wb") as pipe:
            pipe.write(body)

    writer = threading.Thread(target=feed)
    writer.start()
    return writer


def test_a_named_pipe_is_read(tmp_path):
    writer = fed(tmp_path / "pipe", b"NVRM: Xid\n")
    (source,) = open_source(str(tmp_path / "pipe"))
    writer.join()
    assert [text.body for text in source.texts] == ["NVRM: Xid\n"]


def test_an_empty_pipe_is_named(tmp_path):
    writer = fed(tmp_path / "pipe", b"")
    with pytest.raises(SourceError):
        open_source(str(tmp_path / "pipe"))
    writer.join()


def test_a_link_that_leads_nowhere_is_named(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(SourceError, match="leads nowhere"):
        open_source(str(tmp_path / "link"))
