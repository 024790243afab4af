"""Problems that are told to the operator: what was wrong, where, and what would be right."""


class ConfigurationError(Exception):
    """The gateway can't start as configured.

    `where` is a file with line and column, or an option; `hint` says what would be right.
    """

    def __init__(self, message: str, *, where: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}"
        return f"{text}\n  {self.hint}" if self.hint else text
