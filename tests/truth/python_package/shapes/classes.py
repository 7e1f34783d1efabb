"""Libraries wrapped in classes."""

import torch


class Fragment:
    """A library that defines what is not there yet."""

    def __init__(self, namespace: str, kind: str = "FRAGMENT") -> None:
        self.namespace = namespace
        self.lib = torch.library.Library(namespace, kind)

    def define(self, schema: str) -> None:
        if f"{self.namespace}::{schema.split('(')[0]}" not in torch.library._defs:
            self.lib.define(schema)

    def register_one(self, name: str, key: str, fn) -> None:
        if key == "Meta":
            self.lib._register_fake(name, fn)
        else:
            self.lib.impl(name, fn, key)

    def register(self, name: str, functions) -> None:
        for key, fn in functions.items():
            self.register_one(name, key, fn)


class Registry:
    """A library as a class attribute."""

    lib = torch.library.Library("shapes_registry", "DEF")

    @classmethod
    def add(cls, schema, fn):
        cls.lib.define(schema)
        cls.lib.impl(schema.split("(")[0], fn, "CPU")

    @staticmethod
    def fake(name, fn):
        torch.library.register_fake("shapes_registry::" + name, fn)


class Named(torch.library.Library):
    """A library by inheritance."""

    def __init__(self, namespace):
        super().__init__(namespace, "DEF")

    def pair(self, name, fn):
        self.define(f"{name}(Tensor x) -> Tensor")
        self.impl(name, fn, "CPU")


wrapped = Fragment("shapes_class")
wrapped.define("one(Tensor x) -> Tensor")
wrapped.define("two(Tensor x) -> Tensor")
wrapped.register_one("one", "CPU", lambda x: x.clone())
wrapped.register("two", {"CPU": lambda x: x.clone(), "Meta": lambda x: torch.empty_like(x)})

Registry.add("three(Tensor x) -> Tensor", lambda x: x.clone())
Registry.fake("three", lambda x: torch.empty_like(x))

named = Named("shapes_named")
named.pair("four", lambda x: x.clone())
