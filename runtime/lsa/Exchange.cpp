// SPDX-License-Identifier: Apache-2.0
#include "lsa/Exchange.h"

#include <cstring>

namespace gc3::lsa {

using core::Outcome;
using cuda::outcomeOf;

Outcome Exchange::prepare(uint32_t ofRank, uint32_t allRanks) {
  rank = ofRank;
  ranks = allRanks;
  if (Outcome outcome = createEvent(cuda, gathered); !outcome.ok())
    return outcome;
  return allocate(cuda, (size_t{ranks} + 1) * (sizeof(Head) + mostBytes), "what ranks tell each other", memory);
}

Outcome Exchange::tell(cuda::Stream stream) {
  return outcomeOf(cuda, cuda.copy(own(), told.data(), told.size(), stream), "telling the other ranks");
}

/// What is to be heard is cleared, so that it shows whether it was.
Outcome Exchange::begin(const void *bytes, size_t size, cuda::Stream stream) {
  const Head head{communicator, ++number, Head::Kind::Message};
  told.resize(sizeof head + size);
  std::memcpy(told.data(), &head, sizeof head);
  std::memcpy(told.data() + sizeof head, bytes, size);
  if (Outcome outcome = tell(stream); !outcome.ok())
    return outcome;
  return outcomeOf(cuda, cuda.clear(heard(), told.size() * ranks, stream), "telling the other ranks");
}

Outcome Exchange::gather(cuda::Stream stream) {
  now = State::Gathering;
  return outcomeOf(nccl.AllGather(own(), heard(), told.size(), ncclapi::DataType::Int8, comm,
                                  reinterpret_cast<ncclapi::Stream>(stream)),
                   "telling the other ranks");
}

Outcome Exchange::awaitOn(cuda::Stream stream) {
  return outcomeOf(cuda, cuda.record(gathered.get(), stream), "recording an event");
}

Outcome Exchange::hasEnded(bool &ended) {
  const cuda::Result result = cuda.query(gathered.get());
  ended = result == 0;
  return result == cuda::notReady ? Outcome{} : outcomeOf(cuda, result, "hearing from the other ranks");
}

Outcome Exchange::hear(void *all, cuda::Stream stream) {
  now = State::Noted; // where what was heard can't be copied, it is not known
  std::vector<std::byte> messages(told.size() * ranks);
  Outcome outcome =
      outcomeOf(cuda, cuda.copy(messages.data(), heard(), messages.size(), stream), "hearing from the other ranks");
  if (outcome.ok())
    outcome = outcomeOf(cuda, cuda.synchronize(stream), "hearing from the other ranks");
  if (!outcome.ok())
    return outcome;
  if (headOf(messages, rank).kind == Head::Kind::Nothing)
    return withdraw(stream);
  now = State::Idle;
  const size_t size = told.size() - sizeof(Head);
  for (uint32_t r = 0; r < ranks; ++r)
    std::memcpy(static_cast<std::byte *>(all) + r * size, messages.data() + r * told.size() + sizeof(Head), size);
  return check(messages);
}

/// NCCL has noted the gather, and the others wait for it: when it comes, they are to know that nobody goes on.
Outcome Exchange::withdraw(cuda::Stream stream) {
  const Head head{communicator, number, Head::Kind::Withdrawn};
  std::memcpy(told.data(), &head, sizeof head);
  Outcome outcome = tell(stream);
  if (outcome.ok())
    outcome = outcomeOf(cuda, cuda.synchronize(stream), "telling the other ranks");
  return outcome.ok() ? Outcome{gc3InvalidUsage, "a group of NCCL's is open, in which ranks can't tell each other "
                                                 "anything, or the communicator was revoked"}
                      : outcome;
}

Exchange::Head Exchange::headOf(const std::vector<std::byte> &messages, uint32_t ofRank) const {
  Head head{};
  std::memcpy(&head, messages.data() + ofRank * told.size(), sizeof head);
  return head;
}

Outcome Exchange::check(const std::vector<std::byte> &messages) const {
  for (uint32_t r = 0; r < ranks; ++r) {
    const Head head = headOf(messages, r);
    if (head.communicator != communicator || head.number != number)
      return {gc3InvalidUsage, "rank " + std::to_string(r) +
                                   " has told something else: not all ranks have the same order of calls on the NCCL "
                                   "communicator and of calls that make gc3 tell something over it"};
    if (head.kind == Head::Kind::Withdrawn)
      return {gc3InvalidUsage, "rank " + std::to_string(r) +
                                   " had a group of NCCL's open, in which ranks can't tell each other anything"};
  }
  return {};
}

} // namespace gc3::lsa
