"""`python -m op_lint` is `op-lint`, and where its console script begins."""

from __future__ import annotations

import sys


def main() -> int:
    """Run op-lint; an interrupt while it is still being imported is one like any other."""
    try:
        from op_lint import cli
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return cli.main()


if __name__ == "__main__":
    sys.exit(main())
