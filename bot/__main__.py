"""`python -m bot`: the same as the console command `baza`."""

from bot.cli import main

if __name__ == "__main__":
    main()
