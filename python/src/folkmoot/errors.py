"""Errors of the package. Each says what is wrong and what to do."""
from __future__ import annotations


class FolkmootError(Exception):
    """A failed command, a refused request or an unusable file.

    `code` is a stable key such as `NOT_FOUND`. `exit_code` is that of the command, as listed in
    docs/cli.md, or None. `advice` is the part of the message that says what to do, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "ERROR",
        exit_code: int | None = None,
        advice: str | None = None,
    ) -> None:
        ends = advice is None or message.endswith(advice)
        super().__init__(message if ends else f"{message}; {advice}")
        self.code = code
        self.exit_code = exit_code
        self.advice = advice


class DeciderError(FolkmootError):
    """A decider raised an exception. `question` is the question that it had to answer."""

    def __init__(self, message: str, question: object = None) -> None:
        super().__init__(message, code="DECIDER_FAILED", exit_code=16)
        self.question = question
