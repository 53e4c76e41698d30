"""programs/on_command.py with the agent in it: runs operators when it is told to."""
import subprocess

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

    def end(self):
        run = host.finish(self._process)
        assert run.returncode == 0 and not run.stdout, run
        return run
