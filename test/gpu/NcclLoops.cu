// SPDX-License-Identifier: Apache-2.0
// Kernels of NCCL's own loops, one for each, so that budget.py can count their instructions beside gc3's. NCCL's source
// supplies all that this file includes. NCCL_ELEMENT is the element type.
#include "device.h"

#include "collectives.h"
#include "common.h"
#include "primitives.h"

__shared__ ncclShmemData ncclShmem;

using Element = NCCL_ELEMENT;
using Sum = FuncSum<Element>;
using Product = FuncProd<Element>;
using Extreme = FuncMinMax<Element>;

template <typename Operation, int Sources, int Targets>
__global__ void simple(void **sources, void **targets, int elements, uint64_t argument) {
  reduceCopy<COLL_UNROLL, Operation, Element, 0, Sources, Sources, 0, Targets, Targets, 0>(
      threadIdx.x, blockDim.x, argument, nullptr, false, Sources, sources, Targets, targets, elements);
}
template __global__ void simple<Sum, 1, 1>(void **, void **, int, uint64_t);
template __global__ void simple<Sum, 1, 2>(void **, void **, int, uint64_t);
template __global__ void simple<Sum, 2, 1>(void **, void **, int, uint64_t);
template __global__ void simple<Sum, 2, 2>(void **, void **, int, uint64_t);
template __global__ void simple<Product, 2, 1>(void **, void **, int, uint64_t);
template __global__ void simple<Product, 2, 2>(void **, void **, int, uint64_t);
template __global__ void simple<Extreme, 2, 1>(void **, void **, int, uint64_t);
template __global__ void simple<Extreme, 2, 2>(void **, void **, int, uint64_t);

template <typename Protocol, typename Operation>
__global__ void messages(const void *input, void *output, int elements, uint64_t argument) {
  int peer = 0;
  Primitives<Element, Operation, FanSymmetric<1>, 0, Protocol, 0> primitives(threadIdx.x, blockDim.x, &peer, &peer,
                                                                             input, output, argument);
  primitives.recvReduceCopySend(0, 0, elements);
}
template __global__ void messages<ProtoLL, Sum>(const void *, void *, int, uint64_t);
template __global__ void messages<ProtoLL, Product>(const void *, void *, int, uint64_t);
template __global__ void messages<ProtoLL, Extreme>(const void *, void *, int, uint64_t);
template __global__ void messages<ProtoLL128, Sum>(const void *, void *, int, uint64_t);
template __global__ void messages<ProtoLL128, Product>(const void *, void *, int, uint64_t);
template __global__ void messages<ProtoLL128, Extreme>(const void *, void *, int, uint64_t);
