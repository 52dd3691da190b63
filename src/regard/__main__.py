"""`regard` and `python -m regard`: Ctrl-C ends the process without a traceback from its first moment on."""

import os
import signal


def main() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # while the imports below run
    from regard.cli import main as run_command

    run_command()


if __name__ == "__main__":
    main()
