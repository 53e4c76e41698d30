"""programs/on_command.py with the agent in it: runs operators when it is told to."""
import signal
import subprocess
import time

from . import host


class Program:
    def __init__(self, interpreter, folder, threads, environment):
        command = host.program("on_command", threads, python=interpreter.python)
        self._process = host.start(command, folder, environment, stdin=subprocess.PIPE)

    def tell(self, command):
        """Returns once the program has done it."""
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n", self._process.stderr.read()

    @property
    def pid(self):
        return self._process.pid

    def stop_for(self, seconds):
        """The whole program stands still."""
        self._process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)

    def kill(self):
        self._process.kill()
        host.finish(self._process)

    def end(self):
        run = host.finish(self._process)
        assert run.returncode == 0 and not run.stdout, run
        return run
