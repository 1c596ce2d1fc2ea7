// SPDX-License-Identifier: Apache-2.0
// Loads and stores as fast as one thread can make them, with plain or with non-temporal stores.
#pragma once

#include <atomic>
#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace bench {

#if defined(__AVX512F__)
using Vector = __m512;
inline void stream(float *to, Vector value) {
  _mm512_stream_ps(to, value);
}
#elif defined(__AVX__)
using Vector = __m256;
inline void stream(float *to, Vector value) {
  _mm256_stream_ps(to, value);
}
#elif defined(__SSE__)
using Vector = __m128;
inline void stream(float *to, Vector value) {
  _mm_stream_ps(to, value);
}
#else
typedef float Vector __attribute__((vector_size(16)));
inline void stream(float *to, Vector value) {
  *reinterpret_cast<Vector *>(to) = value;
}
#endif

/// Stores a + b, or a if `add` is false, to `to1`, and also to `to2` if `twice` is true. The arrays have `n` elements.
template <bool streaming, bool add, bool twice>
void traffic(float *to1, float *to2, const float *a, const float *b, size_t n) {
  constexpr size_t width = sizeof(Vector) / sizeof(float);
  auto store = [](float *to, Vector value) {
    if constexpr (streaming)
      stream(to, value);
    else
      *reinterpret_cast<Vector *>(to) = value;
  };
  for (size_t i = 0; i + width <= n; i += width) {
    Vector value = *reinterpret_cast<const Vector *>(a + i);
    if constexpr (add)
      value += *reinterpret_cast<const Vector *>(b + i);
    store(to1 + i, value);
    if constexpr (twice)
      store(to2 + i, value);
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// Stores the sum of `count` arrays to `count` arrays, for elements `begin` to `end` - 1.
template <bool streaming>
void sumTraffic(float *const *to, const float *const *from, size_t count, size_t begin, size_t end) {
  constexpr size_t width = sizeof(Vector) / sizeof(float);
  for (size_t i = begin; i + width <= end; i += width) {
    Vector value = *reinterpret_cast<const Vector *>(from[0] + i);
    for (size_t k = 1; k < count; ++k)
      value += *reinterpret_cast<const Vector *>(from[k] + i);
    for (size_t k = 0; k < count; ++k)
      if constexpr (streaming)
        stream(to[k] + i, value);
      else
        *reinterpret_cast<Vector *>(to[k] + i) = value;
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

} // namespace bench
