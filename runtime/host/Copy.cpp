// SPDX-License-Identifier: Apache-2.0
// Streaming stores go past the caches in whole lines.
#include "host/Copy.h"

#include "host/Simd.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gc3::host {

void copyBytes(void *to, const void *from, size_t bytes) {
  if (to != from && bytes != 0)
    std::memcpy(to, from, bytes);
}

#if defined(__x86_64__)

namespace {

constexpr size_t line = 64;

/// Whole lines, to an aligned place.
using LineCopy = void (*)(std::byte *to, const std::byte *from, size_t lines);

void streamLinesSse2(std::byte *to, const std::byte *from, size_t lines) {
  for (; lines != 0; --lines, to += line, from += line)
    for (size_t part = 0; part < line; part += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i *>(to + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + part)));
}

GC3_SIMD_AVX512 void streamLinesAvx512(std::byte *to, const std::byte *from, size_t lines) {
  for (; lines != 0; --lines, to += line, from += line)
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to), _mm512_loadu_si512(from));
}

} // namespace

void streamBytes(void *to, const void *from, size_t bytes) {
  if (to == from || bytes == 0)
    return;
  static const LineCopy streamLines = bestSimd() == Simd::Avx512 ? streamLinesAvx512 : streamLinesSse2;
  auto *target = static_cast<std::byte *>(to);
  auto *source = static_cast<const std::byte *>(from);
  size_t head = std::min(bytes, (line - reinterpret_cast<uintptr_t>(target) % line) % line);
  std::memcpy(target, source, head);
  size_t lines = (bytes - head) / line;
  streamLines(target + head, source + head, lines);
  size_t done = head + lines * line;
  std::memcpy(target + done, source + done, bytes - done);
}

void finishStreams() {
  _mm_sfence();
}

#else

void streamBytes(void *to, const void *from, size_t bytes) {
  copyBytes(to, from, bytes);
}

void finishStreams() {}

#endif

} // namespace gc3::host
