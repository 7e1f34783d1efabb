"""`python -m op_lint` is `op-lint`."""

import sys

from op_lint.cli import main

if __name__ == "__main__":
    sys.exit(main())
