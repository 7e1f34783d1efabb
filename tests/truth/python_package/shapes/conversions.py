"""Strings of every kind of literal, in a file that is not ASCII: naïve, 名前."""

import torch

LIB = torch.library.Library("shapes_text", "DEF")
LIB.define(r"raw(Tensor x) -> Tensor")
_ = "größe"; LIB.define('single(Tensor x, str mode="fast") -> Tensor')
LIB.define("escaped\x28Tensor x\x29 -> Tensor"); LIB.define("same_line(Tensor x) -> Tensor")
LIB.define("con" 'cat' """enated(Tensor x)""" f" -> {'Tensor'}")
LIB.define(  # a comment between
    "commented("  # first
    "Tensor x)"  # second
    " -> Tensor"
)
LIB.define("backslash(Tensor x) \
-> Tensor")
