// SPDX-License-Identifier: Apache-2.0
// Mutates bundles for libFuzzer: changes one section, or the set of sections, and corrects the checksums. Every 16th
// mutation on average changes the file without correcting it.
#include "MendBundle.h"
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

using gc3::test::Section;

/// Numbers near the limits of integer types.
static constexpr std::array<uint32_t, 10> edges = {0,      1,          2,          255,        256,
                                                   0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

/// Changes four bytes at an aligned offset, because most fields are 32-bit numbers.
static void changeNumber(std::string &bytes, std::minstd_rand &random) {
  if (bytes.size() < sizeof(uint32_t))
    return;
  char *at = bytes.data() + random() % (bytes.size() / sizeof(uint32_t)) * sizeof(uint32_t);
  uint32_t number;
  std::memcpy(&number, at, sizeof number);
  switch (random() % 3) {
  case 0: number = edges[random() % edges.size()]; break;
  case 1: ++number; break;
  default: --number; break;
  }
  std::memcpy(at, &number, sizeof number);
}

static void changeBytes(std::string &bytes, size_t room) {
  size_t size = bytes.size();
  bytes.resize(std::max<size_t>(size + room, 1));
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(bytes.data()), size, bytes.size()));
}

static void change(std::vector<Section> &sections, size_t room, std::minstd_rand &random) {
  size_t at = random() % sections.size(), other = random() % sections.size();
  switch (random() % 8) {
  case 0: std::swap(sections[at].bytes, sections[other].bytes); break;
  case 1: sections[at].bytes = sections[other].bytes; break;
  case 2: sections.erase(sections.begin() + static_cast<ptrdiff_t>(at)); break;
  case 3: changeBytes(sections[at].bytes, room); break;
  default: changeNumber(sections[at].bytes, random); break;
  }
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  auto sections = gc3::test::splitBundle({reinterpret_cast<const char *>(data), size});
  if (!sections || sections->empty() || random() % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  change(*sections, maxSize > size ? maxSize - size : 0, random);
  std::string mended = gc3::test::joinBundle(std::move(*sections));
  if (mended.size() > maxSize) // padding has made the file too long
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, mended.data(), mended.size());
  return mended.size();
}
