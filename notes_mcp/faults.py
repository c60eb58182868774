"""What ends a command in the user's words: the problem, what was seen, how to mend it, and the exit code.

Raised by the command line and what it runs; `cli` prints them. Imports nothing of the project.
"""


class UsageError(Exception):
    """What was asked for makes no sense: exit code 2."""

    exit_code = 2

    def __init__(self, problem: str, seen: str, fix: str) -> None:
        super().__init__(problem)
        self.problem, self.seen, self.fix = problem, seen, fix


class EnvironmentFault(UsageError):
    """What was asked for is fine, the machine is not: exit code 1."""

    exit_code = 1
