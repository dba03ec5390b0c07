"""Starts the command `baza`, also as `python -m bot`; the command itself is `bot.cli`."""

import sys

INTERRUPTED = 130  # as a shell says of a program that Ctrl-C has ended


def main() -> None:
    """Run the command. Its imports take a second, in which Ctrl-C ends it without a traceback, too."""
    try:
        from bot import cli

        cli.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
