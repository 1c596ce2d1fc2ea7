# SPDX-License-Identifier: Apache-2.0
"""gc3 in PyTorch: a backend of torch.distributed, and operators for torch.compile and autograd.

Importing this module registers the backend: ``torch.distributed.init_process_group("gc3")``.
"""

from ._work import Work
from .alltoall import all_to_all_communicator, all_to_all_single
from .operators import all_gather, all_reduce, all_to_all, broadcast, reduce_scatter, register, registered, run
from .process_group import Options, ProcessGroup, register_backend

register_backend()

__all__ = [
    "Options", "ProcessGroup", "Work", "all_gather", "all_reduce", "all_to_all", "all_to_all_communicator",
    "all_to_all_single", "broadcast",
    "reduce_scatter", "register", "registered", "run",
]
