# SPDX-License-Identifier: Apache-2.0
"""Parts of PyTorch without types, because their types differ between versions or are missing."""

from __future__ import annotations

from typing import Any

import torch
import torch._C._distributed_c10d
import torch.distributed
import torch.library

dist: Any = torch.distributed
c10d: Any = torch._C._distributed_c10d
cuda: Any = torch.cuda
library: Any = torch.library
ops: Any = getattr(torch, "ops")


def version() -> "tuple[int, int]":
    """Returns the major and minor number of PyTorch's version.

    >>> version() >= (1, 13)
    True
    """
    major, minor = torch.__version__.split(".")[:2]
    return int(major), int(minor)
