"""A program under a terminal of its own, on which the test types."""
import os
import select
import signal
import subprocess
import termios
import time

SECONDS = 30


class Terminal:
    """Runs command in a new session whose controlling terminal is ours to type on."""

    def __init__(self, command, cwd, environment):
        self._ours, theirs = os.openpty()
        self.output = b""
        self.process = subprocess.Popen(
            [str(word) for word in command], cwd=cwd, env=environment, start_new_session=True,
            stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=_take_terminal,
        )
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._ours)

    def type(self, keys):
        os.write(self._ours, keys)

    def wait_for(self, text):
        """Reads until text has been printed."""
        until = time.monotonic() + SECONDS
        while text not in self.output:
            ready, _, _ = select.select([self._ours], [], [], max(0, until - time.monotonic()))
            assert ready, f"{text!r} was not printed; there is {self.output!r}"
            self.output += _read(self._ours)

    def end(self):
        """Its exit code, as subprocess has it."""
        return self.process.wait(timeout=SECONDS)


def _take_terminal():
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.close(os.open(os.ttyname(0), os.O_RDWR))  # a session's first terminal becomes its own
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    attributes = termios.tcgetattr(0)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(0, termios.TCSANOW, attributes)


def _read(fd):
    try:
        return os.read(fd, 65536)
    except OSError:  # EIO: nobody has the other end any more
        return b""
