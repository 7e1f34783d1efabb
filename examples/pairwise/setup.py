from setuptools import find_packages, setup
from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    packages=find_packages(include=["pairwise"]),
    ext_modules=[CppExtension("pairwise._C", ["csrc/ops.cpp", "csrc/cpu/kernels.cpp"])],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)},
)
