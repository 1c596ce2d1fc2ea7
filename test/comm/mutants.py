# SPDX-License-Identifier: Apache-2.0
"""Checks that the tests detect errors in runtime/comm, in the comparison of places, and in calls over the switch.

mutants.py BUILD: makes one change to runtime at a time in a copy of the source tree, builds comm-test and
nccl-front-test there with the settings of BUILD, and runs them under a time limit. A test that hangs or crashes has
detected the change. Prints a table. Fails if there is a change that no test detects.
"""
import os
import sys

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import mutant_runner  # pylint: disable=wrong-import-position

# Each mutant has a name, a file in runtime/comm (or, with a folder, in runtime), a text that occurs once in the file,
# and the text's replacement.
MUTANTS = [
    # Phases and their notifications.
    ("a phase change notifies no thread", "Communicator.cpp", "  phase = to;\n  changed.notify_all();", "  phase = to;"),
    ("all phase transitions are allowed", "Communicator.cpp", "  if (!mayFollow(phase, to))\n    return false;\n", ""),
    ("a communicator cannot fail while forming", "Communicator.cpp", "if (!mayFollow(phase, Phase::Failed))", "if (!mayFollow(phase, Phase::Failed) || phase == Phase::Forming)"),
    ("a communicator cannot fail while joining", "Communicator.cpp", "if (!mayFollow(phase, Phase::Failed))", "if (!mayFollow(phase, Phase::Failed) || phase == Phase::Joining)"),
    ("a communicator cannot fail when ready", "Communicator.cpp", "if (!mayFollow(phase, Phase::Failed))", "if (!mayFollow(phase, Phase::Failed) || phase == Phase::Ready)"),
    ("a communicator cannot fail while draining", "Communicator.cpp", "if (!mayFollow(phase, Phase::Failed))", "if (!mayFollow(phase, Phase::Failed) || phase == Phase::Draining)"),
    ("an abort before the first call has no effect", "Communicator.cpp", "if (!mayFollow(phase, Phase::Aborted))", "if (!mayFollow(phase, Phase::Aborted) || phase == Phase::Unready)"),
    ("an abort while forming has no effect", "Communicator.cpp", "if (!mayFollow(phase, Phase::Aborted))", "if (!mayFollow(phase, Phase::Aborted) || phase == Phase::Forming)"),
    ("an abort while joining has no effect", "Communicator.cpp", "if (!mayFollow(phase, Phase::Aborted))", "if (!mayFollow(phase, Phase::Aborted) || phase == Phase::Joining)"),
    ("an abort while draining has no effect", "Communicator.cpp", "if (!mayFollow(phase, Phase::Aborted))", "if (!mayFollow(phase, Phase::Aborted) || phase == Phase::Draining)"),
    ("an abort while closing has no effect", "Communicator.cpp", "if (!mayFollow(phase, Phase::Aborted))", "if (!mayFollow(phase, Phase::Aborted) || phase == Phase::Closing)"),
    ("an abort after a failure has no effect", "Communicator.cpp", "if (!mayFollow(phase, Phase::Aborted))", "if (!mayFollow(phase, Phase::Aborted) || phase == Phase::Failed)"),
    # Errors.
    ("a later error replaces the first error", "Communicator.cpp", "  if (!mayFollow(phase, Phase::Failed))\n    return;\n  error = cause;", "  error = cause;\n  if (!mayFollow(phase, Phase::Failed))\n    return;"),
    ("an abort replaces the first error", "Communicator.cpp", "  if (error.ok())\n    error = {gc3InvalidUsage, \"the communicator was aborted\"};", "  error = {gc3InvalidUsage, \"the communicator was aborted\"};"),
    ("an abort sets no error", "Communicator.cpp", "  if (error.ok())\n    error = {gc3InvalidUsage, \"the communicator was aborted\"};\n", ""),
    ("a failed communicator accepts calls", "Communicator.cpp", "  case Phase::Failed:\n  case Phase::Aborted:\n  case Phase::Releasing: return error;", "  case Phase::Aborted:\n  case Phase::Releasing: return error;\n  case Phase::Failed: return {};"),
    ("a failure does not store its error", "Communicator.cpp", "  error = cause;\n  logError();\n", "  logError();\n"),
    ("a failure is not logged", "Communicator.cpp", "  error = cause;\n  logError();\n", "  error = cause;\n"),
    ("a failure does not mark the runner as failed", "Communicator.cpp", "  gpu->markFailed(cause);\n", ""),
    ("errors of the child replace the first error", "Executor.cpp", "    return failNow(outcome);\n  error = outcome;", "    return failNow(outcome);\n  error = child.asyncError();"),
    ("reports of stopped kernels are dropped", "Executor.cpp", "    return failNow(outcome);\n  error = outcome;", "    return failNow(outcome);\n "),
    ("reports of stopped kernels are not logged", "Executor.cpp", "  error = outcome;\n  logError();\n", "  error = outcome;\n"),
    ("errors of the child are ignored", "Executor.cpp", "  if (outcome.ok())\n    outcome = child.asyncError();\n", ""),
    # The host word that stops kernels.
    ("an abort does not stop kernels", "Communicator.cpp", "  if (hasKernels)\n    gpu->stop();\n", ""),
    ("an abort while draining does not stop kernels", "Communicator.cpp", "phase == Phase::Ready || phase == Phase::Draining || phase == Phase::Failed;", "phase == Phase::Ready || phase == Phase::Failed;"),
    ("an abort after a failure does not stop kernels", "Communicator.cpp", "phase == Phase::Ready || phase == Phase::Draining || phase == Phase::Failed;", "phase == Phase::Ready || phase == Phase::Draining;"),
    ("a timeout does not stop kernels", "Communicator.cpp", "  if (cause.code == gc3Timeout)\n    gpu->stop();\n", ""),
    ("every failure stops kernels", "Communicator.cpp", "  if (cause.code == gc3Timeout)\n    gpu->stop();", "  gpu->stop();"),
    # Deadlines.
    ("joining has no deadline", "Communicator.cpp", "checkDeadline(beganToJoin, joinLimits,", "checkDeadline(beganToJoin, {},"),
    ("joining fails at the time limit for logging", "Communicator.cpp", "  else if (isPast(limit.logAfterMs))\n    core::logOnce(", "  else if (isPast(limit.logAfterMs))\n    failNow({gc3Timeout, \"\"}), core::logOnce("),
    ("a long join is not logged", "Communicator.cpp", "  else if (isPast(limit.logAfterMs))", "  else if (false)"),
    ("loading has no deadline", "Communicator.cpp", "checkDeadline(request->begun, {setup->options.joiningMs, setup->options.timeoutMs},", "checkDeadline(request->begun, {setup->options.joiningMs, 0},"),
    ("deadlines pass at once", "Communicator.cpp", "return ms != 0 && waited > milliseconds(ms);", "return ms != 0;"),
    ("the wait for NCCL's part of a group has no deadline", "Communicator.cpp", "checkDeadline(begun, {0, joinLimits.failAfterMs}, \"\",", "checkDeadline(begun, {}, \"\","),
    ("kernels have no deadline", "Executor.cpp", "if (!hasWork && (!table || phase == Phase::Aborted))", "if (!hasWork)"),
    ("kernels have no deadline while a program is loaded", "Executor.cpp", "  if (setup->options.timeoutMs != 0) // the program's", "  if (false) // the program's"),
    ("kernels have no deadline while draining", "Executor.cpp", "      break;\n    checkErrors();\n", "      break;\n"),
    ("kernels of a failed communicator are not checked", "Executor.cpp", "case Phase::Failed: return checkErrors();", "case Phase::Failed: return;"),
    # Joining.
    ("a second call joins again", "Communicator.cpp", "  if (phase != Phase::Unready)\n    return;\n  advance(Phase::Forming);", "  advance(Phase::Forming);"),
    ("a call waits only until the child exists", "Communicator.cpp", "  return isJoinRunning();\n", "  return phase == Phase::Forming;\n"),
    ("a thread's ranks join one by one", "CallGroup.cpp", "      queue.beginJoin();\n", "    {\n      queue.beginJoin();\n      while (!queue.hasJoined())\n        queue.decide(fallback);\n    }\n"),
    ("a communicator of one rank creates a child", "Executor.cpp", "if (identity.ranks == 1)", "if (identity.ranks == 0)"),
    ("a failed split fails the communicator", "Executor.cpp", "    return {{}, {outcome.code, \"it could not be split: \" + outcome.text}};", "    return {{outcome.code, \"it could not be split: \" + outcome.text}, {}};"),
    ("an error of the parent fails the communicator", "Executor.cpp", "    return {{}, outcome}; // NCCL reports its error with the call", "    return {outcome, {}};"),
    ("a child without programs is not destroyed at once", "Executor.cpp", "      return;\n  }\n  gpu->releaseNccl();\n  child.destroy();\n}", "      return;\n  }\n  gpu->releaseNccl();\n}"),
    ("ranks do not record which ranks are in their process", "Join.cpp", "  recordChildrenInProcess(*infos);\n", ""),
    ("a rank uses its own number of GIN contexts for all ranks", "Join.cpp", "infos[r].contexts = (*contexts)[r];", "infos[r].contexts = (*contexts)[rank()];"),
    ("ranks with different bundles or options join", "Join.cpp", "if (const std::string reason = disagreement(*infos); !reason.empty())", "if (const std::string reason = disagreement(*infos); false)"),
    ("ranks of different versions join", "Join.cpp", "if (const std::string reason = versionMismatch(*versions); !reason.empty())", "if (const std::string reason = versionMismatch(*versions); false)"),
    ("programs over the network remain if the network fails", "Join.cpp", "  table->decide(infos);\n  return {};", "  return {};"),
    # Calls.
    ("several calls enter at once", "Communicator.cpp", "  changed.wait(lock, [this] { return !isCalling || phase != Phase::Ready; });\n", ""),
    ("a refused caller is still counted", "Communicator.cpp", "    --callers;\n    changed.notify_all();", "    changed.notify_all();"),
    ("the end of a call notifies no thread", "Communicator.cpp", "  if (--callers != 0 || phase != Phase::Ready)\n    changed.notify_all();", "  --callers;"),
    ("the end of a call does not notify other callers", "Communicator.cpp", "if (--callers != 0 || phase != Phase::Ready)", "if (--callers, phase != Phase::Ready)"),
    ("the end of a call does not notify the executor", "Communicator.cpp", "if (--callers != 0 || phase != Phase::Ready)", "if (--callers != 0)"),
    ("a call never leaves", "CallQueue.h", "    if (inside)\n      call.comm->leave();\n", ""),
    ("a moved call leaves twice", "CallQueue.h", "inside(std::exchange(other.inside, false))", "inside(other.inside)"),
    ("the wait for NCCL's part of a group ignores an abort", "Communicator.cpp", "    if (isAborted())\n      return error;\n", ""),
    ("a group does not wait for NCCL's part", "Communicator.cpp", "!= Result::Success || state != Result::InProgress)\n      return {};", "!= Result::Success || true)\n      return {};"),
    ("all communicators share one queue", "CallGroup.cpp", "indices.try_emplace(call.comm.get(), queues.size())", "indices.try_emplace(nullptr, queues.size())"),
    ("a communicator that loads a program blocks the other communicators", "CallGroup.cpp", "isAwaited) || !queue.isReady())\n    return false;", "isAwaited))\n    return false;\n  while (!queue.isReady())\n    std::this_thread::yield();"),
    ("a captured call loads its program", "CallQueue.cpp", "  if (capture == 0 && call.state == State::Program)\n", "  if (call.state == State::Program)\n"),
    ("a rank that cannot query its stream loads a program alone", "CallQueue.cpp", "      each.capture = othersCapture;", "      each.capture = 0;"),
    ("an invalid argument fails the communicator", "CallQueue.cpp", "outcome.code != gc3InvalidArgument && ", ""),
    ("a failed capture fails the communicator", "CallQueue.cpp", " && outcome.code != gc3InvalidUsage)", ")"),
    ("a failed call does not fail the communicator", "CallQueue.cpp", "    call.comm->fail(outcome);\n  call.fail(std::move(outcome));", "    (void)0;\n  call.fail(std::move(outcome));"),
    ("a failed launch does not fail the communicator", "CallQueue.cpp", "    call.comm->fail(outcome);\n    call.fail(outcome);", "    call.fail(outcome);"),
    ("a timeout in NCCL's calls does not fail the communicator", "CallQueue.cpp", "if (outcome.code == gc3Timeout)", "if (false)"),
    ("a call that NCCL has run is also enqueued", "CallQueue.cpp", "if (call.state != State::Program || call.request.count == 0)", "if (call.request.count == 0)"),
    ("a call that NCCL runs gets no outcome", "CallQueue.cpp", "    call->outcome = outcome;\n", "    (void)call;\n"),
    # Loading.
    ("a loaded program loads again", "Communicator.cpp", "states[program].onGpu || ", ""),
    ("a refused program loads again", "Communicator.cpp", " || !states[program].refusal.ok())\n    return;", ")\n    return;"),
    ("the refusal of a program is not stored", "Executor.cpp", "states[now.program] = {result.program, result.refusal};", "states[now.program] = {result.program, {}};"),
    ("a failure while loading is ignored", "Executor.cpp", "  if (!result.failure.ok())\n    fail(result.failure);\n", ""),
    ("a rank ignores the refusals of other ranks", "LoadProgram.cpp", "if (loading->outcome.ok() && theirs.code != gc3Success)", "if (loading->outcome.ok() && false)"),
    ("ranks can load different programs", "LoadProgram.cpp", "if (theirs.program != loading->program)", "if (false)"),
    ("ranks do not exchange results after loading", "LoadProgram.cpp", "    loading->outcome = connect();\n  return agree();", "    loading->outcome = connect();\n  return {};"),
    ("a rank that cannot load registers a window", "LoadProgram.cpp", "if (!loading->outcome.ok() || loading->windowBytes == 0)", "if (loading->windowBytes == 0)"),
    ("every load splits the child by team", "LoadProgram.cpp", "child.windowComm() == child.get() && ", ""),
    ("a window is not moved to the team's communicator", "LoadProgram.cpp", "  loading->window.moveTo(child.windowComm());\n", ""),
    ("the window of a loaded program is dropped", "LoadProgram.cpp", "    windows.push_back(std::move(loading->window));", "    windows.emplace_back();"),
    ("a window is not registered", "Window.cpp", "  return nccl->CommWindowRegister(comm, memory, size, &handle, 0);", "  return ncclapi::Result::Success;"),
    ("a window is not cleared", "Window.cpp", "Outcome outcome = outcomeOf(*cuda, cuda->clear(memory, bytes, stream), \"clearing FIFO slots\");", "Outcome outcome;"),
    ("a window is freed before it is deregistered", "Window.cpp", "  if (handle)\n    nccl->CommWindowDeregister(comm, handle);\n  if (memory)\n    nccl->MemFree(memory);", "  if (memory)\n    nccl->MemFree(memory);\n  if (handle)\n    nccl->CommWindowDeregister(comm, handle);"),
    ("a moved window is not deregistered", "Window.cpp", "  if (handle)\n    nccl->CommWindowDeregister(comm, handle);\n  handle = nullptr;\n  comm", "  handle = nullptr;\n  comm"),
    # The child.
    ("the child is blocking", "ChildCommunicator.cpp", ".blocking = 0", ".blocking = 1"),
    ("waits cannot be interrupted", "ChildCommunicator.cpp", "    if (Outcome outcome = checkInterruption(); !outcome.ok())\n      return outcome;\n    const core::Result<bool> over", "    const core::Result<bool> over"),
    ("an NCCL call in progress counts as complete", "ChildCommunicator.cpp", "state == Result::InProgress)\n    return false;", "state == Result::InProgress)\n    return true;"),
    ("the split counts as running until the child exists", "ChildCommunicator.cpp", "  creation = Creation::Completing;\n", ""),
    ("a split begins after an abort", "ChildCommunicator.cpp", "  if (Outcome outcome = checkInterruption(); !outcome.ok()) { // the parent", "  if (Outcome outcome; !outcome.ok()) { // the parent"),
    ("a child whose handle NCCL writes later is ignored", "ChildCommunicator.cpp", "  if (hasBegun && !made && !checkInterruption().ok())\n    return outcome; // NCCL can still write the handle\n", ""),
    ("a child that NCCL creates after an abort is leaked", "ChildCommunicator.cpp", "if (outcome.ok() || (hasBegun && !checkInterruption().ok()))", "if (outcome.ok())"),
    ("a child whose handle NCCL writes after an abort is leaked", "ChildCommunicator.cpp", "    child = newChild;\n", "    child = nullptr;\n"),
    ("the result of a gather is read before the gather ends", "ChildCommunicator.cpp", "    if (state == cuda::notReady)\n      return false;", "    if (state == cuda::notReady)\n      return true;"),
    ("the split by team uses the rank as color", "ChildCommunicator.cpp", "rank - team.rank * team.stride", "rank"),
    ("a different team after a split is accepted", "ChildCommunicator.cpp", "if (teamOfChild.ranks != team.ranks || teamOfChild.rank != team.rank || teamOfChild.stride != 1)", "if (false)"),
    ("a child with an error is destroyed, not aborted", "ChildCommunicator.cpp", "  if (!asyncError().ok())\n    return abort();\n", ""),
    ("destruction leaks the team's communicator", "ChildCommunicator.cpp", "  for (const Comm comm : {std::exchange(teamChild, nullptr), child.exchange(nullptr)})\n    if (comm)\n      nccl.CommDestroy(comm);", "  for (const Comm comm : {child.exchange(nullptr)})\n    if (comm)\n      nccl.CommDestroy(comm);"),
    ("an abort leaks the team's communicator", "ChildCommunicator.cpp", "  for (const Comm comm : {std::exchange(teamChild, nullptr), child.exchange(nullptr)})\n    if (comm)\n      nccl.CommAbort(comm);", "  for (const Comm comm : {child.exchange(nullptr)})\n    if (comm)\n      nccl.CommAbort(comm);"),
    # The end.
    ("finalize does not wait until ranks have joined", "Communicator.cpp", "  changed.wait(lock, [this] { return !isJoinRunning(); });\n", ""),
    ("finalize never waits", "Communicator.cpp", "  if (waits)\n", "  if (false)\n"),
    ("finalize does not wait while closing", "Communicator.cpp", "return phase != Phase::Draining && phase != Phase::Closing; });", "return phase != Phase::Draining; });"),
    ("finalize does not close a communicator without calls", "Communicator.cpp", "  if (phase == Phase::Unready)\n    advance(Phase::Closed);\n  else if", "  if"),
    ("finalize does not abort a failed communicator", "Communicator.cpp", "    abortNow();\n    return true;", "    return true;"),
    ("finalize aborts a communicator during its split", "Communicator.cpp", "if (phase == Phase::Failed && !child.isPending())", "if (phase == Phase::Failed)"),
    ("finalize returns true after an abort by another thread", "Communicator.cpp", "  return error.ok(); // else", "  return true; // else"),
    ("finalize returns false after an earlier abort", "Communicator.cpp", "  Lock lock(mutex);\n  if (isAborted())\n    return true;", "  Lock lock(mutex);\n  if (isAborted())\n    return false;"),
    ("an abort does not report a running split", "Communicator.cpp", "  return child.isSplitting();\n}\n\nvoid Communicator::release", "  return false;\n}\n\nvoid Communicator::release"),
    ("an abort does not wait for the split", "Communicator.cpp", "  while (child.isSplitting() && Clock::now() < last)\n", "  if (false)\n"),
    ("release frees a child that NCCL is creating", "Communicator.cpp", "  if (!child.isPending())\n", ""),
    ("release without an executor never ends", "Communicator.cpp", "  if (advance(Phase::Releasing) && !executor.joinable())\n    advance(Phase::Closed);", "  advance(Phase::Releasing);"),
    ("the executor does not drain", "Executor.cpp", "phase == Phase::Draining || phase == Phase::Releasing ||", "phase == Phase::Releasing ||"),
    ("the executor does not release", "Executor.cpp", "phase == Phase::Draining || phase == Phase::Releasing ||", "phase == Phase::Draining ||"),
    ("draining does not wait for callers", "Executor.cpp", "return callers == 0 || phase != Phase::Draining;", "return true;"),
    ("draining does not wait for kernels", "Executor.cpp", "    if (*idle)\n      break;", "    break;"),
    ("the child is destroyed before its windows", "Executor.cpp", "  gpu->releaseNccl();\n  child.destroy();\n  gpu.reset();", "  child.destroy();\n  gpu->releaseNccl();\n  gpu.reset();"),
    ("closing does not destroy the child", "Executor.cpp", "  child.destroy();\n  gpu.reset();", "  gpu.reset();"),
    ("release does not wait for callers", "Executor.cpp", "return callers == 0; });", "return true; });"),
    ("release does not wait for kernels", "Executor.cpp", "    gpu->awaitIdle(); // NCCL unmaps the windows\n", ""),
    ("the child is aborted before kernels have ended", "Executor.cpp", "  if (gpu)\n    gpu->awaitIdle(); // NCCL unmaps the windows\n  ended.reset();\n  child.abort();\n", "  child.abort();\n  if (gpu)\n    gpu->awaitIdle();\n"),
    ("release deregisters windows of an aborted child", "Executor.cpp", "  if (gpu)\n    gpu->forgetNccl(); // until the abort NCCL can still write handles\n", ""),
    ("release leaks the child", "Executor.cpp", "  child.abort();\n  if (gpu)", "  if (gpu)"),
    ("windows are not released before the child", "GpuRank.cpp", "  windows.clear();\n", ""),
    ("the device communicator is not released before the child", "GpuRank.cpp", "  deviceComm = DeviceComm();\n", ""),
    ("release frees the device communicator of an aborted child", "GpuRank.cpp", "  deviceComm.forget();\n", ""),
    ("release deregisters loaded windows of an aborted child", "GpuRank.cpp", "  for (Window &window : windows)\n    window.forget();\n", ""),
    ("release deregisters the window of an unfinished load", "GpuRank.cpp", "  if (loading)\n    loading->window.forget();\n", ""),
    ("a created device communicator is not recorded", "DeviceComm.cpp", "  exists = true;\n", ""),
    ("destruction leaks symmetric memory", "Window.cpp", "  if (memory)\n    nccl->MemFree(memory);\n}", "}"),
    # Groups of calls.
    ("a group chooses programs before it has joined", "CallQueue.cpp", "  if (joined || comms.front()->isJoining())", "  if (joined)"),
    ("a captured first call makes the communicator join", "CallQueue.cpp", "return capture.ok() && *capture != 0;", "return false;"),
    ("a queue does not wait for the communicator's other ranks", "CallQueue.h", "return !other.joined && mayShareCommunicator(other);", "return false;"),
    ("a queue waits for all joining communicators", "CallQueue.h", "return !other.joined && mayShareCommunicator(other);", "return !other.joined;"),
    ("ranks of unknown communicators count as different", "GpuRank.h", "return childrenInProcess.empty() ||", "return !childrenInProcess.empty() &&"),
    ("queues of one communicator's ranks are not merged", "CallQueue.cpp", "if (!other.joined || !mayShareCommunicator(other))", "if (other.joined || !mayShareCommunicator(other))"),
    ("the calls of a merged round are not in the group's order", "CallQueue.cpp", "  std::sort(merged.begin(), merged.end()); // by address: they are elements of one array\n", ""),
    ("known ranks of two communicators count as one communicator", "Communicator.cpp", "  if (areIdentified && (identity.ranks != otherRanks || identity.rank == otherRank))\n    return false;\n", "  (void)areIdentified;\n"),
    ("a queue is merged in one pass only", "CallGroup.cpp", "before != queues.size();) {", "before == 0;) {"),
    ("NCCL runs a call that loads during finalize", "CallQueue.cpp", "  if (refusal.ok() && capture == 0)\n", "  if (false)\n"),
    ("communicators on one stream launch in any order", "CallQueue.cpp", "if (mine->request.stream == theirs->request.stream)", "if (false)"),
    ("communicators on other streams wait for each other", "CallQueue.cpp", "if (mine->request.stream == theirs->request.stream)", "if (mine && theirs)"),
    ("NCCL runs a call on a failed communicator", "CallQueue.cpp", "  if (!error.ok())\n    return call.fail(error);\n  if (call.state", "  (void)error;\n  if (call.state"),
    ("calls that NCCL runs are dropped", "CallQueue.cpp", "  const Outcome outcome = fallback->run(ncclCalls);", "  const Outcome outcome;"),
    ("NCCL gets calls in any order", "CallQueue.cpp", "(other.isForNccl() || sharesStream(other))", "sharesStream(other)"),
    ("rounds that NCCL runs are not merged", "CallQueue.cpp", "while (next + 1 < rounds.size() && ", "while (false && "),
    ("NCCL gets calls on aborted communicators", "CallQueue.cpp", "      if (const Outcome error = call->comm->status().error; !error.ok())\n        call->fail(error);\n      else\n", ""),
    # Queries.
    ("a query hides a failure", "Communicator.cpp", "  if (phase == Phase::Failed)\n    state = ncclapi::resultOf(error);\n  else if", "  if"),
    ("a query returns an error after an abort", "Communicator.cpp", "  if (phase == Phase::Failed)\n    state", "  if (!error.ok())\n    state"),
    ("a query returns Success while draining", "Communicator.cpp", "else if (phase == Phase::Draining || phase == Phase::Closing)", "else if (phase == Phase::Closing)"),
    ("a query returns Success while closing", "Communicator.cpp", "else if (phase == Phase::Draining || phase == Phase::Closing)", "else if (phase == Phase::Draining)"),
    ("two threads query the parent at once", "Communicator.cpp", "  std::lock_guard lock(mutex);\n  const Result queried = nccl.CommGetAsyncError(parent, &state);", "  const Result queried = nccl.CommGetAsyncError(parent, &state);\n  std::lock_guard lock(mutex);"),
    # Windows of the application.
    ("all places are equal", "kernel/Interpreter.h", "place == call.place && place != Place::Nowhere;", "place != Place::Nowhere && call.place != Place::Nowhere;"),
    ("nowhere is a place", "kernel/Interpreter.h", "place == call.place && place != Place::Nowhere;", "place == call.place;"),
    ("the sender does not wait for the receiver's place", "kernel/Interpreter.h", "awaitPlace(image.out.freed, sent.messages + 1,", "awaitPlace(image.out.freed, 0,"),
    ("the receiver does not wait for the sender's place", "kernel/Interpreter.h", "awaitPlace(image.in.arrived, received.messages + 1,", "awaitPlace(image.in.arrived, 0,"),
    ("the sender accepts the receiver's last place", "kernel/Interpreter.h", "awaitPlace(image.out.freed, sent.messages + 1,", "awaitPlace(image.out.freed, sent.messages,"),
    ("the receiver accepts the sender's last place", "kernel/Interpreter.h", "awaitPlace(image.in.arrived, received.messages + 1,", "awaitPlace(image.in.arrived, received.messages,"),
    ("announcements are one too low", "kernel/Interpreter.h", "machine.publish(counter + announcementWord, number,", "machine.publish(counter + announcementWord, number - 1,"),
    ("the sender announces before it knows the receiver's place", "kernel/Interpreter.h", "    if (image.out.arrived) {\n", "    if (image.out.arrived) {\n      announce(image.out.arrived, sent.messages + 1);\n"),
    ("no fence before an announcement", "kernel/Interpreter.h", "    machine.fence(call.peers);\n    machine.publish(counter + announcementWord", "    machine.publish(counter + announcementWord"),
    ("an announcement without a place", "kernel/Interpreter.h", "static_cast<uint64_t>(call.place));", "uint64_t{1});"),
    ("a sender receives directly", "kernel/Interpreter.h", "Waiting::Receiver, sendsDirectly)", "Waiting::Receiver, receivesDirectly)"),
    ("a receiver sends directly", "kernel/Interpreter.h", "Waiting::Sender, receivesDirectly)", "Waiting::Sender, sendsDirectly)"),
    ("no barrier after the choice of steps", "kernel/Interpreter.h", "return !machine.barrierAny(leads && (machine.loadStopWord(call.stop) != 0 || !comparePlaces()));", "return !leads || comparePlaces();"),
    ("a stop while places are compared is ignored", "kernel/Interpreter.h", "|| !comparePlaces()));", "|| (comparePlaces(), false)));"),
    ("a kernel that begins after a stop compares places", "kernel/Interpreter.h", "machine.loadStopWord(call.stop) != 0 || !comparePlaces()", "!comparePlaces()"),
    ("a report names the sender instead of the receiver", "core/WaitingText.cpp", "beginOf(find(program, threadBlock).record.send_peer())", "beginOf(find(program, threadBlock).record.recv_peer())"),
    ("a report names the receiver instead of the sender", "core/WaitingText.cpp", "beginOf(find(program, threadBlock).record.recv_peer())", "beginOf(find(program, threadBlock).record.send_peer())"),
    ("steps that send directly are in the wrong version", "plan/ProgramImage.cpp", "(version & sendsDirectly) != 0", "(version & receivesDirectly) != 0"),
    ("unsupported windows do not count", "UserWindows.cpp", "return added != 0 && ", "return !entries.empty() && "),
    ("small calls compare places", "UserWindows.cpp", " && bytes && *bytes >= leastBytes;", " && bytes;"),
    ("calls of the least size do not compare places", "UserWindows.cpp", "*bytes >= leastBytes", "*bytes > leastBytes"),
    ("buffers may pass the end of their window", "UserWindows.cpp", "<= entry.bytes - bytes;", "<= entry.bytes;"),
    ("buffers may be larger than their window", "UserWindows.cpp", "bytes <= entry.bytes &&", ""),
    ("removed windows remain", "UserWindows.cpp", "return entry.handle == handle; });", "return entry.handle == handle && !entry.memory; });"),
    ("peers have the next address", "UserWindows.cpp", "uint32_t index = 1;", "uint32_t index = 2;"),
    ("the first peer has this rank's address", "UserWindows.cpp", "uint32_t index = 1;", "uint32_t index = 0;"),
    ("teams begin at rank 0", "UserWindows.cpp", "(*parts)[peer - first]", "(*parts)[first == 0 ? peer : 0]"),
    ("peers' buffers are at the beginning of the window", "UserWindows.cpp", "(*parts)[peer - first] + offset;", "(*parts)[peer - first];"),
    ("a place has no offset", "UserWindows.cpp", "placeAt(window->number, offset)", "placeAt(window->number, 0)"),
    ("a place has no window", "UserWindows.cpp", "placeAt(window->number, offset)", "placeAt(0, offset)"),
    ("a window without addresses is used", "UserWindows.cpp", "  if (!parts)\n    return;\n", "  if (!window)\n    return;\n  static const std::vector<std::byte *> none(64);\n  parts = parts ? parts : &none;\n"),
    ("the log lacks windows that are not used", "UserWindows.cpp", "      core::logOnce(", "      (void)("),
    ("a capture reads the addresses of a window", "UserWindows.cpp", "plan.capture != 0 && !nccl.GetLsaDevicePointer", "false"),
    ("a window of another team is used", "WindowParts.cpp", "if (head.lsaRank != team.rank)", "if (false)"),
    ("any handle is a window", "WindowParts.cpp", "  return isOnDevice;", "  return true;"),
    ("ranks need not agree on direct messages", "RankInfo.cpp", "if (own.direct != first.direct)", "if (false)"),
    ("LL programs send directly", "LoadProgram.cpp", "if (entry.sizes.protocol != kernel::Protocol::Simple)\n    return terms;", ""),
    ("GC3_DIRECT=0 has no effect between launches", "LoadProgram.cpp", "setup.options.direct && entry.loaded", "entry.loaded"),
    # The steps for the switch.
    ("a step may load other slots that it overwrites", "plan/SwitchSteps.cpp", "(access.step == step && accesses.target(step) == where)", "access.step == step"),
    ("slots may be overwritten before the load", "plan/SwitchSteps.cpp", "!access.writes || (access", "true || (access"),
    ("ranks may end before the load", "plan/SwitchSteps.cpp", "(peer == program.rankOfStep(step) || endsAfter(peer, step))", "true"),
    ("a store may have no order with the arrival", "plan/SwitchSteps.cpp", " ||\n          !accesses.before(step, receive))", ")"),
    ("other values may arrive", "plan/SwitchSteps.cpp", "results[receive].values != results[step].values ||", ""),
    ("slots in use are stored", "plan/SwitchSteps.cpp", "return other.step == receive || accesses.before(other.step, step) || accesses.before(receive, other.step);", "return true;"),
    ("values that others receive are not needed", "plan/SwitchSteps.cpp", " &&\n                       (!does(step).sends || needsNothing(order.receiver(step)))", ""),
    ("loads are chosen once", "plan/SwitchSteps.cpp", "    for (size_t before = loading.size() + 1; before != loading.size();) {", "    for (size_t before = loading.size() + 1, round = 0; round++ == 0;) {"),
    ("messages for other steps carry no data", "plan/SwitchSteps.cpp", "steps[step].sendsData = isReceived[step];", "steps[step].sendsData = false;"),
    ("switch: partial sums count", "plan/SwitchSteps.cpp", "if (operands.size() != team.size())", "if (operands.size() < 2)"),
    ("switch: a slot of another place", "plan/SwitchSteps.cpp", "operands[i] != first[team[i]] + outputs(team[i], slot, 1).begin", "false"),
    ("switch: needed values are removed", "plan/SwitchSteps.cpp", "        for (const uint32_t writer : results[step].writers)\n          isKept[writer] = true;\n        if", "        if"),
    ("switch: short slots", "UserWindows.cpp", "return layout.blockElements == layout.slotsPerBlock * layout.slotElements &&", "return"),
    ("switch: any alignment", "UserWindows.cpp", "(reinterpret_cast<uintptr_t>(output) | sizes) % sizeof(kernel::Pack) == 0", "sizes % sizeof(kernel::Pack) == 0"),
    ("switch: floats have minima", "cuda/GpuProgram.cpp", "type == ElementType::Float ? op == kernel::Operation::Sum : op", "op"),
    ("switch: the address of the window", "UserWindows.cpp", "window.overSwitch + offset;", "window.overSwitch;"),
    ("switch: places may differ", "kernel/Interpreter.h", "return isSame || awaitStop(Waiting::Place);", "return true;"),
    ("switch: the steps of other calls", "kernel/Interpreter.h", "shared.block.steps += switchVersion * image.stepsOfVersion;", ""),
    ("switch: stores only to the own output", "plan/ProgramImage.cpp", "step.switched |= storesOverSwitch; [[fallthrough]];", "[[fallthrough]];"),
    ("switch: loads only the own output", "plan/ProgramImage.cpp", "step.switched |= loadsOverSwitch;", ""),
    # The registry.
    ("the registry keeps closed communicators", "Registry.cpp", "    return isClosed;\n", "    return false;\n"),
    ("the registry drops running communicators", "Registry.cpp", "    return isClosed;\n", "    return true;\n"),
    ("the registry drops communicators before their threads end", "Registry.cpp", "    if (isClosed)\n      each->joinExecutor();\n", ""),
    ("the registry creates a communicator at each call", "Registry.cpp", "  if (!known) {", "  if (true) {"),
    ("the registry drops a communicator with its handle", "Registry.cpp", "    known = make();\n    all.push_back(known);", "    known = make();"),
    ("the registry does not remove handles", "Registry.cpp", "  byHandle.erase(handle);\n", "  (void)handle;\n"),
]


def commands_within(seconds):
    """Returns a function from a build folder to the commands that must notice a mutant, each within `seconds`.

    The tests that notice most mutants come first."""
    first = "Phases.*:*Lifecycle.*:UserWindows.*:CommLives.*:CommErrors.*:CommSplit.*"

    def commands(build):
        program = [os.path.join(build, "test/comm/comm-test"), "--gtest_fail_fast"]
        front = [os.path.join(build, "test/nccl/nccl-front-test"), "--gtest_fail_fast"]
        return [("comm-test", [*program, f"--gtest_filter={first}"], seconds), ("nccl-front-test", front, seconds),
                ("comm-test", [*program, f"--gtest_filter=-{first}"], seconds)]

    return commands


def main():
    options = mutant_runner.parser(__doc__).parse_args()
    listed = [(what, "runtime/" + (name if "/" in name else "comm/" + name), old, new) for what, name, old, new in MUTANTS]
    return mutant_runner.main(options, listed, ["comm-test", "nccl-front-test"], commands_within(options.seconds))


if __name__ == "__main__":
    sys.exit(main())
