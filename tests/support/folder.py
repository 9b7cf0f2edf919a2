"""The temporary folder of a cluster, which does not outlive the test run, however that run ends."""

from __future__ import annotations

import atexit
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.support import watch


class Folder:
    """A temporary folder with notes of what must end before it is removed.

    Three things can end a test run: it closes the folder itself, it exits without doing so (`atexit`),
    or it is killed. The last is the task of a watching process: see `watch`.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="esr-node-"))
        # Nodes run as another user below it: that user may pass through, but not look around.
        self.path.chmod(0o711)
        self._owner = os.getpid()
        self._watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", watch.__file__, str(self._owner), str(self.path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        atexit.register(self.close)

    def note_group(self, name: str, group: int) -> None:
        """Note a process group that must be killed."""
        (self.path / f"{name}.group").write_text(str(group))

    def note_command(self, name: str, command: Sequence[str]) -> None:
        """Note a command that must be run, for what is no process of ours (a container)."""
        (self.path / f"{name}.command").write_text(shlex.join(command))

    def forget(self, name: str) -> None:
        """Drop the note of a group that has ended, since its number may be given to another process."""
        (self.path / f"{name}.group").unlink(missing_ok=True)

    def close(self) -> None:
        """End everything and remove the folder. May be called twice.

        A process forked from the test run shares this object but not the nodes: it changes nothing.
        """
        if os.getpid() != self._owner:
            return
        atexit.unregister(self.close)
        watch.clean(self.path)
        self._watcher.kill()
        self._watcher.wait()
