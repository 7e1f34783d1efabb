from glob import glob
from pathlib import Path

from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension

here = Path(__file__).parent
sources = [str(path.relative_to(here)) for path in here.glob("*.cpp")] + sorted(glob("*.cu"))
setup(name="demo_ext", ext_modules=[CUDAExtension("demo_ext._C", sources)],
      cmdclass={"build_ext": BuildExtension})
