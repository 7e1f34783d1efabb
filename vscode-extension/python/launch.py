"""What the extension runs with an interpreter: see whether it can run the server, and run it.

    launch.py check ARCHIVE STORAGE STRATEGY    says so, as one line of JSON on stdout
    launch.py run ARCHIVE STORAGE STRATEGY ...  runs op-lint with the arguments that follow

ARCHIVE is `bundled/server.tar.xz`. It is unpacked into STORAGE, the extension's own folder, once for each content.
STRATEGY is `bundled`, or `environment`: the op-lint that is installed in the interpreter, if there is one.
`STORAGE/libraries/TAG` holds what the user let the extension install for this Python.

`check` must be readable by any Python that a machine may still have, so there is no syntax of this century in it.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time

OLDEST = (3, 10)
LIBCLANG = 18
"""The major version whose names and numbers op-lint's binding has."""

KEPT_SECONDS = 7 * 24 * 3600
"""How long the code of another version of the extension stays after its last start."""


def main(arguments):
    """Do what the command line asks; its exit status."""
    task, archive, storage, strategy = arguments[:4]
    if task == "check":
        sys.stdout.write(json.dumps(check(archive, storage, strategy)) + "\n")
        return 0
    prepare(archive, storage, strategy)
    sys.argv = ["op-lint"] + arguments[4:]
    from op_lint.cli import main as run

    return run()


def check(archive, storage, strategy):
    """Whether this Python can run the server, and what it lacks."""
    answer = {"python": list(sys.version_info[:3]), "executable": sys.executable, "tag": tag(), "missing": []}
    if sys.version_info[:2] < OLDEST:
        return answer
    try:
        answer["source"] = prepare(archive, storage, strategy)
        from op_lint.version import VERSION

        answer["version"] = VERSION
    except Exception as error:
        answer["problem"] = "%s: %s" % (type(error).__name__, error)
        return answer
    for name, find in (("msgspec", find_msgspec), ("libclang", find_libclang)):
        why = find()
        if why:
            answer["missing"].append({"name": name, "why": why})
    return answer


def prepare(archive, storage, strategy):
    """Let `op_lint` and what it imports be found. Whose op-lint that is: `environment` or `bundled`."""
    libraries = os.path.join(storage, "libraries", tag())
    if os.path.isdir(libraries):
        sys.path.insert(0, libraries)
    if strategy == "environment" and is_installed():
        return "environment"
    home = unpacked(archive, storage)
    sys.path.insert(0, os.path.join(home, "pure"))
    compiled = os.path.join(home, "compiled")
    if has_compiled(compiled):
        sys.path.insert(0, compiled)
    return "bundled"


def tag():
    """Names what compiled packages of this Python fit to."""
    import sysconfig

    return "%s-%s" % (getattr(getattr(sys, "implementation", None), "cache_tag", "old"), sysconfig.get_platform())


def is_installed():
    """Whether the interpreter has an op-lint of its own."""
    from importlib.util import find_spec

    return find_spec("op_lint") is not None


def has_compiled(folder):
    """Whether the compiled packages in a folder are for this Python."""
    from importlib.machinery import EXTENSION_SUFFIXES

    return any(os.path.exists(os.path.join(folder, "msgspec", "_core" + suffix)) for suffix in EXTENSION_SUFFIXES)


def unpacked(archive, storage):
    """The folder with the archive's content, made if it is not there: whole or not at all, whoever else makes it."""
    with open(archive, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:16]
    home = os.path.join(storage, "server-" + digest)
    if not os.path.isdir(home):
        if not os.path.isdir(storage):
            os.makedirs(storage)
        scratch = tempfile.mkdtemp(prefix="unpacking-", dir=storage)
        try:
            unpack(archive, scratch)
            os.rename(scratch, home)
        except OSError:
            if not os.path.isdir(home):
                raise
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    os.utime(home, None)
    forget_others(storage, home)
    return home


def unpack(archive, folder):
    """Unpack our own archive, which is damaged if it does not decompress to its end."""
    import io
    import lzma
    import tarfile

    with open(archive, "rb") as file:
        data = lzma.decompress(file.read())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        if hasattr(tarfile, "data_filter"):
            tar.extractall(folder, filter="data")
        else:
            tar.extractall(folder)


def forget_others(storage, home):
    """Remove what other versions of the extension unpacked, unless they were in use lately."""
    for name in os.listdir(storage):
        path = os.path.join(storage, name)
        if name.startswith(("server-", "unpacking-")) and path != home:
            try:
                is_old = time.time() - os.path.getmtime(path) > KEPT_SECONDS
            except OSError:  # another window has removed it just now
                continue
            if is_old:
                shutil.rmtree(path, ignore_errors=True)


def find_msgspec():
    """Why msgspec cannot be used, nothing if it can."""
    try:
        import msgspec.msgpack  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


def find_libclang():
    """Why libclang cannot be used, nothing if it can."""
    try:
        from clang import cindex
    except ImportError as error:
        return str(error)
    try:
        library = cindex.conf.get_cindex_library()
        text = library.clang_getClangVersion
        text.restype = cindex._CXString
        text.argtypes = []
        version = str(cindex._CXString.from_result(text(), None, None))
    except Exception as error:  # LibclangError, or what a binding of another version does
        return str(error)
    found = [part for part in version.replace("(", " ").split() if part[:1].isdigit()]
    if not found or found[0].split(".")[0] != str(LIBCLANG):
        return "version %d is needed, this is %s" % (LIBCLANG, version)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
