from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="demo",
    ext_modules=[CppExtension("demo._C", ["ops.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
