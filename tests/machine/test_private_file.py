"""Files of their owner alone; what is no file is written into."""

import os
import stat
import threading

import pytest

from rigup.cli import env_files
from rigup.machine import private_file


@pytest.fixture
def pipe(tmp_path):
    """A named pipe, and what came through it."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(path.read_bytes()), daemon=True)
    reader.start()

    def end():
        reader.join(10)
        assert stat.S_ISFIFO(path.stat().st_mode), "it was replaced by a file"
        return received

    return path, end


@pytest.mark.parametrize("replace", [False, True])
def test_a_pipe_is_written_into_and_stays(pipe, replace):
    path, end = pipe
    private_file.write(str(path), lambda file: file.write(b"answer"), replace)
    assert end() == [b"answer"]


@pytest.mark.parametrize("force", [False, True])
def test_a_text_goes_into_a_pipe(pipe, force):
    path, end = pipe
    env_files.put("answer", str(path), force)
    assert end() == [b"answer"]


def test_the_null_device_is_no_file_and_a_link_to_a_file_is_none_either(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("file")
    assert private_file.takes_a_stream(os.devnull)
    assert not any(map(private_file.takes_a_stream, (tmp_path, tmp_path / "file", tmp_path / "link", "none", "a\0b")))


def test_a_link_is_replaced_and_not_followed(tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("file")
    private_file.write(str(tmp_path / "link"), lambda file: file.write(b"answer"), replace=True)
    assert (tmp_path / "file").read_text() == "mine"
    assert (tmp_path / "link").read_bytes() == b"answer"
    assert stat.S_IMODE((tmp_path / "link").stat().st_mode) == 0o600


def test_a_file_that_is_there_stays(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError):
        private_file.write(str(tmp_path / "file"), lambda file: file.write(b"answer"))
    assert (tmp_path / "file").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
