// SPDX-License-Identifier: Apache-2.0
// Copies in loops over whole cache lines, with streaming stores where data should bypass the caches.
#include "host/Copy.h"

#include "host/Simd.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace gc3::host {

#if defined(__x86_64__)

namespace {

constexpr size_t line = 64;
/// From this size on, the C library may use `rep movsb`, and loops can be faster.
constexpr size_t bytesWorthLoops = 2048;
/// From this size on, `rep movsb` is worth its begin on processors where it is fast.
constexpr size_t bytesWorthStrings = 4096;

/// Returns whether `rep movsb` is faster than a loop, because it overwrites lines that another core has without reading
/// them: AMD's processors with FSRM copy 32 KiB to another core's reader 2.7 times as fast. On Intel's virtual
/// machines, loops are faster.
bool hasFastStrings() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned fsrm = 1 << 4;
  return __builtin_cpu_is("amd") && __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & fsrm) != 0;
}

/// Copies whole lines. `to` is aligned to a line.
using LineCopy = void (*)(std::byte *to, const std::byte *from, size_t lines);

void copyLinesSse2(std::byte *to, const std::byte *from, size_t lines) {
  for (; lines != 0; --lines, to += line, from += line)
    for (size_t part = 0; part < line; part += sizeof(__m128i))
      _mm_store_si128(reinterpret_cast<__m128i *>(to + part),
                      _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + part)));
}

void streamLinesSse2(std::byte *to, const std::byte *from, size_t lines) {
  for (; lines != 0; --lines, to += line, from += line)
    for (size_t part = 0; part < line; part += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i *>(to + part),
                       _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + part)));
}

GC3_SIMD_AVX512 void copyLinesAvx512(std::byte *to, const std::byte *from, size_t lines) {
  for (; lines != 0; --lines, to += line, from += line)
    _mm512_store_si512(to, _mm512_loadu_si512(from));
}

GC3_SIMD_AVX512 void streamLinesAvx512(std::byte *to, const std::byte *from, size_t lines) {
  for (; lines != 0; --lines, to += line, from += line)
    _mm512_stream_si512(reinterpret_cast<__m512i *>(to), _mm512_loadu_si512(from));
}

void copyAround(void *to, const void *from, size_t bytes, LineCopy copyLines) {
  auto *target = static_cast<std::byte *>(to);
  auto *source = static_cast<const std::byte *>(from);
  size_t head = std::min(bytes, (line - reinterpret_cast<uintptr_t>(target) % line) % line);
  std::memcpy(target, source, head);
  size_t lines = (bytes - head) / line;
  copyLines(target + head, source + head, lines);
  size_t done = head + lines * line;
  std::memcpy(target + done, source + done, bytes - done);
}

} // namespace

void copyBytes(void *to, const void *from, size_t bytes) {
  static const LineCopy copyLines = bestSimd() == Simd::Avx512 ? copyLinesAvx512 : copyLinesSse2;
  static const size_t worthStrings = hasFastStrings() ? bytesWorthStrings : SIZE_MAX;
  if (to == from || bytes == 0)
    return;
  if (bytes < bytesWorthLoops || bytes >= worthStrings)
    std::memcpy(to, from, bytes);
  else
    copyAround(to, from, bytes, copyLines);
}

void streamBytes(void *to, const void *from, size_t bytes) {
  static const LineCopy streamLines = bestSimd() == Simd::Avx512 ? streamLinesAvx512 : streamLinesSse2;
  if (to != from && bytes != 0)
    copyAround(to, from, bytes, streamLines);
}

void finishStreams() {
  _mm_sfence();
}

#else

void copyBytes(void *to, const void *from, size_t bytes) {
  if (to != from && bytes != 0)
    std::memcpy(to, from, bytes);
}

void streamBytes(void *to, const void *from, size_t bytes) {
  copyBytes(to, from, bytes);
}

void finishStreams() {}

#endif

} // namespace gc3::host
