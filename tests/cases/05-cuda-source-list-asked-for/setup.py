import os

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension

sources = ["ops.cpp"]
extension = CppExtension
if os.getenv("DEMO_WITH_CUDA", "0") == "1":
    sources.append("muladd.cu")
    extension = CUDAExtension
setup(name="demo_ext", ext_modules=[extension("demo_ext._C", sources)],
      cmdclass={"build_ext": BuildExtension})
