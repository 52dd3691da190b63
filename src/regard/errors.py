"""Errors that the user can fix, each with a message of one line.

Every message says what was given, what is allowed and what to type. The command line prints the line and exits with
code 2; users see no traceback. An `assert` is for invariants of the package, never for input.
"""


class RegardError(Exception):
    """An error that the user can fix. Its text is the whole message, in terms of the Python interface.

    `parameter` names the parameters or recipe keys that the message is about, where the message does not start with
    "NAME must" and contains no "section.key". The command line then adds their flags.

    >>> raise InputError("a lexicon is learnt from two files, but one was given", parameter=("src", "tgt"))
    Traceback (most recent call last):
    regard.errors.InputError: a lexicon is learnt from two files, but one was given
    """

    parameters: tuple[str, ...]

    def __init__(self, message: str = "", *, parameter: str | tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.parameters = (parameter,) if isinstance(parameter, str) else parameter


class InputError(RegardError):
    """Unusable text or files: missing, empty, of unequal length, not UTF-8."""


class MissingTorchError(InputError):
    """PyTorch is not installed."""


class RecipeError(RegardError):
    """A recipe or a flag that is unknown, of the wrong type, or impossible."""


class BundleError(RegardError):
    """A model folder that is missing a part or holds a damaged one."""


class RunError(RegardError):
    """A training run that cannot start, continue or be resumed."""


class RunFinishedError(RunError):
    """A training run that cannot be resumed because it has already reached its last step."""
