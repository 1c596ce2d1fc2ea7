# SPDX-License-Identifier: Apache-2.0
"""gc3: programmable collective communication.

Compile a program, and run it on data, with all ranks in this process:

>>> import gc3
>>> bundle = gc3.compile('''
... program pair implements allreduce(ranks = 2, chunks = 1) {
...     chunk(0, input, 0).copy(0, output, 0).reduce(chunk(1, input, 0)).copy(1, output, 0);
... }''')
>>> gc3.run(bundle, [[1.0, 2.0], [10.0, 20.0]])
[[11.0, 22.0], [11.0, 22.0]]

In a job, each process creates a :class:`Communicator`, and calls its collectives.
"""

from ._config import Config
from .bundle import Bundle, Prediction, Program
from .communicator import Communicator, unique_id
from .compiler import compile
from .errors import (ArgumentError, BundleError, CompileError, CudaError, DeadlockError, Diagnostic, Error,
                     InternalError, LibraryError, NoProgramError, Note, Place, RemoteError, ResourceError,
                     TimeoutError, ToolError, UsageError)
from .groups import group
from .local import run
from .memory import zeros

__version__ = "0.1.0"

__all__ = [
    "ArgumentError", "Bundle", "BundleError", "Communicator", "CompileError", "Config", "CudaError", "DeadlockError",
    "Diagnostic", "Error", "InternalError", "LibraryError", "NoProgramError", "Note", "Place", "Prediction", "Program",
    "RemoteError", "ResourceError", "TimeoutError", "ToolError", "UsageError", "compile", "group", "run", "unique_id",
    "zeros",
]
