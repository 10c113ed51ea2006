"""`python -m emu`: the `emu` command, where its program is not on the path."""

from emu.cli.main import main

if __name__ == "__main__":
    main()
