# SPDX-License-Identifier: Apache-2.0
"""Executors run the calls of a group one after the other, in the order in which the application makes them."""

from __future__ import annotations

import queue
import threading
from typing import Any, Callable, Optional, Sequence, Tuple

import torch

from ._pytorch import cuda
from ._work import StreamWork, ThreadWork, Work

Task = Callable[[], Any]  # its result does not count


# At the end of the process, a thread in PyTorch's C++ code aborts it, so the process first waits this long for its end.
_END_SECONDS = 5.0


class ThreadExecutor:
    """Runs calls on CPU tensors on one thread, which begins at the first call.

    The thread does not keep the process alive: at the end of the process, a call that waits for a lost rank ends, too.
    """

    def __init__(self, name: str):
        self._name = name
        self._tasks: "queue.SimpleQueue[Optional[Tuple[ThreadWork, Task]]]" = queue.SimpleQueue()
        self._thread: Optional[threading.Thread] = None
        self._last: Optional[threading.Event] = None

    def submit(self, task: Task, outputs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor] = ()) -> Work:
        """Enqueues a call. Returns at once. The task refers to its inputs."""
        if self._thread is None:
            self._thread = threading.Thread(target=_run_all, args=(self._tasks,), name=self._name, daemon=True)
            self._thread.start()
        work = ThreadWork(outputs)
        self._last = work.ended
        self._tasks.put((work, task))
        return work

    def stop(self) -> bool:
        """Ends the thread after the calls so far. Returns whether all of them have ended."""
        self._tasks.put(None)
        return self._last is None or self._last.is_set()

    def join(self) -> None:
        """Waits for the end of the thread after stop(). A call that can't be aborted (of gloo) gets five seconds."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_END_SECONDS)


def _run_all(tasks: "queue.SimpleQueue[Optional[Tuple[ThreadWork, Task]]]") -> None:
    while True:
        item = tasks.get()
        if item is None:
            return
        work, task = item
        work.run(task)
        del item, work, task  # the thread keeps no tensors alive while it waits


class StreamExecutor:
    """Runs calls on a GPU on a stream of its own, which first waits for the current stream."""

    def __init__(self, device: torch.device):
        self._stream = cuda.Stream(device)

    def submit(self, task: Task, outputs: Sequence[torch.Tensor], inputs: Sequence[torch.Tensor] = ()) -> Work:
        """Enqueues a call on the stream, and raises its error. A program's first call waits for all ranks."""
        for tensor in (*outputs, *inputs):
            tensor.record_stream(self._stream)  # the allocator reuses the memory only after the calls so far
        self._stream.wait_stream(cuda.current_stream(self._stream.device))
        with cuda.stream(self._stream), torch.no_grad():
            task()
            return StreamWork(outputs, self._stream.device)

    def stop(self) -> bool:
        """Returns whether all calls have ended."""
        return bool(self._stream.query())

    def join(self) -> None:
        """Does nothing: the GPU runs the calls."""
