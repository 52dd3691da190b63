"""`regard` and `python -m regard`: Ctrl-C ends the process without a traceback from its first moment on.

Garbage is not collected while modules are imported, which make none, nor at the end, when memory is given back anyway:
both take a fifth of a short command's time. Commands switch the collector on.
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
