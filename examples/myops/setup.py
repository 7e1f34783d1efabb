from pathlib import Path

from setuptools import find_packages, setup
from torch.utils.cpp_extension import CUDA_HOME, BuildExtension, CppExtension, CUDAExtension

sources = [str(path) for folder in ("csrc", "csrc/cpu") for path in sorted(Path(folder).glob("*.cpp"))]
extension = CppExtension
if CUDA_HOME is not None:
    sources += [str(path) for path in sorted(Path("csrc/cuda").glob("*.cu"))]
    extension = CUDAExtension

setup(
    packages=find_packages(include=["myops"]),
    ext_modules=[extension("myops._C", sources, py_limited_api=True)],
    cmdclass={"build_ext": BuildExtension},
)
