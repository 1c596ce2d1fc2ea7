// SPDX-License-Identifier: Apache-2.0
// A machine for the data movement of kernel::Interpreter. It runs one thread after another, and counts loads and
// stores: by buffer, by width, and for each byte.
#pragma once

#include "kernel/Words.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace gc3::test {

/// Counts the accesses to one buffer. Flagged accesses (LL and LL128) have separate counters.
class Account {
public:
  using ByWidth = std::map<uint32_t, uint64_t>; ///< maps the width of an access in bytes to the number of accesses

  /// If `isThere` is false, the buffer has no memory: the machine counts accesses by width only, and loads return 0.
  Account(std::string name, std::byte *begin, uint64_t bytes, bool isThere = true)
      : name(std::move(name)), begin(begin), bytes(bytes), isThere(isThere), loaded(isThere ? bytes : 0),
        stored(isThere ? bytes : 0) {}

  bool holds(const std::byte *at, uint32_t width) const { return at >= begin && at + width <= begin + bytes; }

  void note(ByWidth &accesses, std::vector<uint8_t> &each, const std::byte *at, uint32_t width) {
    ++accesses[width];
    const auto offset = static_cast<uint64_t>(at - begin);
    end = std::max(end, offset + width);
    misaligned += kernel::address(at) % width != 0;
    for (uint32_t i = 0; isThere && i < width; ++i)
      ++each[offset + i];
  }

  /// Returns a text such as "source: 4 loads of 16, 3 loads of 2", or an empty string if there were no accesses.
  std::string text() const {
    std::string text;
    const auto add = [&](const ByWidth &accesses, const char *what) {
      for (auto next = accesses.rbegin(); next != accesses.rend(); ++next)
        text += (text.empty() ? name + ": " : ", ") + std::to_string(next->second) + " " + what + " of " +
                std::to_string(next->first);
    };
    add(loads, "loads");
    add(flaggedLoads, "flagged loads");
    add(stores, "stores");
    add(flaggedStores, "flagged stores");
    return text;
  }

  std::string name;
  std::byte *begin;
  uint64_t bytes;
  bool isThere;
  ByWidth loads, stores, flaggedLoads, flaggedStores;
  std::vector<uint8_t> loaded, stored; ///< number of loads and stores of each byte
  uint64_t end = 0;                    ///< offset of the end of the last accessed byte
  uint64_t misaligned = 0;             ///< accesses that a GPU would reject
};

/// All buffers of a test.
struct Accounts {
  std::vector<Account> all;
  uint64_t strays = 0; ///< number of accesses outside of all buffers

  Account *at(const std::byte *at, uint32_t width) {
    for (Account &account : all)
      if (account.holds(at, width))
        return &account;
    ++strays;
    return nullptr;
  }

  /// Returns the texts of all accounts with accesses, separated by semicolons.
  std::string text() const {
    std::string text = strays == 0 ? "" : std::to_string(strays) + " elsewhere";
    for (const Account &account : all)
      if (const std::string one = account.text(); !one.empty())
        text += (text.empty() ? "" : "; ") + one;
    return text;
  }
};

class CountingMachine {
public:
  CountingMachine(Accounts &accounts, uint32_t thread, uint32_t threads)
      : accounts(accounts), ownThread(thread), threadCount(threads) {}
  uint32_t thread() const { return ownThread; }
  uint32_t threads() const { return threadCount; }
  /// Returns `holds`, because no other thread runs.
  bool warpAll(bool holds) { return holds; }
  void pause() {}
  /// Returns 1, the request to stop. A wait cannot end otherwise, because no other thread runs.
  uint32_t loadStopWord(const uint32_t *) { return 1; }

  template <uint32_t G>
  kernel::Unit<G> load(const std::byte *at) {
    kernel::Unit<G> value{};
    loadBytes(at, &value, G);
    return value;
  }
  template <uint32_t G>
  void store(std::byte *at, const kernel::Unit<G> &value) {
    storeBytes(at, &value, G);
  }
  void loadBytes(const std::byte *at, void *value, uint32_t bytes) { load(at, value, bytes, &Account::loads); }
  void storeBytes(std::byte *at, const void *value, uint32_t bytes) { store(at, value, bytes, &Account::stores); }
  kernel::Pack loadFlagged(const std::byte *at) {
    kernel::Pack pack{};
    load(at, &pack, sizeof pack, &Account::flaggedLoads);
    return pack;
  }
  kernel::Pack loadLine(const std::byte *at) { return loadFlagged(at); }
  void storeFlagged(std::byte *at, const kernel::Pack &pack) { store(at, &pack, sizeof pack, &Account::flaggedStores); }
  void storeLine(bool hasLine, std::byte *at, const kernel::Pack &pack) {
    if (hasLine)
      storeFlagged(at, pack);
  }

private:
  void load(const std::byte *at, void *value, uint32_t bytes, Account::ByWidth Account::*accesses) {
    if (Account *account = accounts.at(at, bytes)) {
      account->note(account->*accesses, account->loaded, at, bytes);
      if (account->isThere)
        std::memcpy(value, at, bytes);
    }
  }
  void store(std::byte *at, const void *value, uint32_t bytes, Account::ByWidth Account::*accesses) {
    if (Account *account = accounts.at(at, bytes)) {
      account->note(account->*accesses, account->stored, at, bytes);
      if (account->isThere)
        std::memcpy(at, value, bytes);
    }
  }

  Accounts &accounts;
  const uint32_t ownThread, threadCount;
};

} // namespace gc3::test
