# SPDX-License-Identifier: Apache-2.0
"""Handles of asynchronous calls: a Work as torch.distributed has it."""

from __future__ import annotations

import datetime
import threading
from typing import Any, Callable, List, Optional, Sequence

import torch
from torch.futures import Future

from .. import errors
from ._pytorch import c10d, cuda

_Base: Any = c10d.Work


class Work(_Base):  # type: ignore[misc]
    """A call that runs, or has ended.

    ``wait()`` returns when the call has ended, and raises its error. For tensors on GPUs it does not block the process:
    PyTorch's current stream waits for the call. ``outputs`` are the output tensors, which are valid after ``wait()``.
    """

    def __init__(self, outputs: Sequence[torch.Tensor]):
        super().__init__()
        self.outputs = list(outputs)

    def wait(self, timeout: Optional[datetime.timedelta] = None) -> bool:
        """Waits for the end of the call. Without `timeout`, the time limit is that of the call."""
        raise NotImplementedError

    def is_completed(self) -> bool:
        """Returns whether the call has ended, with or without an error."""
        raise NotImplementedError

    def get_future(self) -> "Future[List[torch.Tensor]]":
        """Returns a future of the list of output tensors."""
        raise NotImplementedError

    def exception(self) -> Optional[BaseException]:
        """Returns the error of the call; None if it has none or still runs."""
        return None

    def is_success(self) -> bool:
        """Returns whether the call has ended without an error."""
        return self.is_completed() and self.exception() is None

    def synchronize(self) -> None:
        """Like ``wait()``."""
        self.wait()

    def result(self) -> List[torch.Tensor]:
        """Returns the output tensors."""
        return self.outputs


class ThreadWork(Work):
    """A call that another thread runs."""

    def __init__(self, outputs: Sequence[torch.Tensor]):
        super().__init__(outputs)
        self._error: Optional[BaseException] = None
        self.ended = threading.Event()  # set when the call has ended
        self._end: "Future[None]" = Future()
        self._future = self._end.then(self._settle)

    def run(self, task: Callable[[], Any]) -> None:
        """Runs the call on the calling thread. Stores its error."""
        try:
            with torch.no_grad():
                task()
        except Exception as error:  # it belongs to the thread that waits
            self._error = error
        self.ended.set()
        self._end.set_result(None)

    def _settle(self, _: "Future[None]") -> List[torch.Tensor]:
        """Returns the outputs or raises the error. If a callback raises, the future has an error that C++ sees, too."""
        if self._error is not None:
            raise self._error
        return self.outputs

    def wait(self, timeout: Optional[datetime.timedelta] = None) -> bool:
        seconds = timeout.total_seconds() if timeout else None
        if not self.ended.wait(seconds):
            raise errors.TimeoutError(f"the call has not ended within {seconds} seconds")
        if self._error is not None:
            raise self._error
        self._future.wait()
        return True

    def is_completed(self) -> bool:
        return self.ended.is_set()

    def exception(self) -> Optional[BaseException]:
        return self._error

    def get_future(self) -> "Future[List[torch.Tensor]]":
        return self._future


class StreamWork(Work):
    """A call on a GPU, which is on PyTorch's current stream when this object is created."""

    def __init__(self, outputs: Sequence[torch.Tensor], device: torch.device):
        super().__init__(outputs)
        self._device = device
        self._end = cuda.current_stream(device).record_event()
        self._future: "Future[List[torch.Tensor]]" = Future(devices=[device])
        self._future.set_result(self.outputs)

    def wait(self, timeout: Optional[datetime.timedelta] = None) -> bool:
        cuda.current_stream(self._device).wait_event(self._end)
        return True

    def is_completed(self) -> bool:
        return bool(self._end.query())

    def get_future(self) -> "Future[List[torch.Tensor]]":
        return self._future
