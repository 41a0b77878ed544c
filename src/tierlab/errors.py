"""The exceptions that people see."""


class UserError(Exception):
    """One sentence for the user: the file, key or command, what was wrong, and what to do."""


class StillRunningError(UserError):
    """A trial runs still, or where nobody here can tell."""


class Interrupted(Exception):  # noqa: N818 - it is no error
    """The user stopped it; what was measured until then is kept."""
