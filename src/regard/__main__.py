"""`regard` and `python -m regard`: Ctrl-C ends the process without a traceback, also during imports.

Garbage collection is off during imports and at the end of the process, where it frees nothing but takes a fifth of a
short command's time. Commands enable it.
"""

import gc
import os
import signal


def main() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # while the imports below run
    gc.disable()
    from regard.cli import main as run_command

    try:
        run_command()
    finally:
        gc.freeze()


if __name__ == "__main__":
    main()
