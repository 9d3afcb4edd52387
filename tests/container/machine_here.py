"""A machine whose files lie below a folder and whose programs answer as a table says, for what asks it of its containers."""

import os

from rigup.machine.host import Answer
from rigup.machine.local import Local

ACCOUNT = "uid=1000(ada) gid=1000(ada) groups=1000(ada),992(render)"


class Machine(Local):
    """`programs` are answers by their whole command; `asked` is every command that was run."""

    def __init__(self, root, home, programs, **variables):
        super().__init__(root=str(root))
        self.programs, self.asked, self.identity = programs, [], ACCOUNT
        self.environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin", **variables}

    def look_anew(self):
        """As another process does."""
        super().__init__(root=self.root)

    def put(self, path, text):
        target = self._on_disk(path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target + ".new", "w") as file:
            file.write(text)
        os.replace(target + ".new", target)

    def remove(self, path):
        os.unlink(self._on_disk(path))

    def _on_disk(self, path):
        return self.root + path

    def run(self, argv, seconds=5.0):
        self.asked.append(" ".join(argv))
        if argv[0] == "stat":
            lines = [line for path in argv if path.startswith("/") and (line := self._status(path, argv[3]))]
            return Answer("\n".join(lines))
        answer = self.programs.get(" ".join(argv))
        return Answer(answer() if callable(answer) else answer) if answer else Answer(None, "absent", exit=127)

    def _status(self, path, form):
        try:
            status = os.stat(self._on_disk(path))
        except OSError:
            return ""
        if form == "%n|%g|%a":  # of nodes, for which plain files stand
            return f"{path}|992|660"
        return f"{path}|{status.st_dev}|{status.st_ino}|{status.st_size}|{status.st_mtime_ns}|{status.st_ctime_ns}"

    def variables(self):
        return Answer("\n".join(f"{name}={value}" for name, value in self.environment.items()))

    def account(self):
        return Answer(self.identity)

    def link(self, path):
        return Answer("/home/ada/work") if path == "." else super().link(path)
