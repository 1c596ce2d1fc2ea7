// SPDX-License-Identifier: Apache-2.0
// Compares gc3's declarations of NCCL's interface with NCCL's header. Compilation fails if they differ. Nothing runs.
#include "ncclapi/Abi.h"

#include <cstddef>
#include <nccl.h>
#include <nccl_device.h>
#include <type_traits>

using namespace gc3::ncclapi;

namespace {

/// True if both types are passed in the same way: pointers, numbers of equal size, or structs of equal size and
/// alignment.
template <typename A, typename B>
constexpr bool areAlike =
    sizeof(A) == sizeof(B) &&
    alignof(A) == alignof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&std::is_class_v<A> == std::is_class_v<B>;

template <typename Ours, typename Theirs>
constexpr bool areAlikeFunctions = false;
template <typename R, typename... A, typename S, typename... B>
requires(sizeof...(A) == sizeof...(B)) constexpr bool areAlikeFunctions<R(A...), S(B...)> = areAlike<R, S> &&
                                                                                            (areAlike<A, B> && ...);

#define GC3_CHECK(name) static_assert(areAlikeFunctions<signature::name, decltype(nccl##name)>, "nccl" #name);
GC3_NCCL_CALLED(GC3_CHECK)
GC3_NCCL_FOR_WINDOWS(GC3_CHECK)
// A function that only tests use:
GC3_CHECK(CommInitAll)
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 27, 3)
static_assert(offsetof(ncclConfig_t, commName) == commNameOffset);
#endif
// The header overloads ncclTeamLsa. This overload is the exported function.
constexpr ncclTeam_t (*teamLsa)(ncclComm_t) = ncclTeamLsa;
static_assert(areAlikeFunctions<signature::TeamLsa, std::remove_pointer_t<decltype(+teamLsa)>>);
#if NCCL_VERSION_CODE >= NCCL_VERSION(2, 29, 2)
GC3_CHECK(CommGrow)
GC3_CHECK(GetLsaDevicePointer)
GC3_CHECK(GetLsaMultimemDevicePointer)
#endif

template <auto Ours, auto Theirs>
constexpr bool isSame = static_cast<int>(Ours) == static_cast<int>(Theirs);

static_assert(isSame<Result::Success, ncclSuccess> && isSame<Result::UnhandledCudaError, ncclUnhandledCudaError> &&
              isSame<Result::SystemError, ncclSystemError> && isSame<Result::InternalError, ncclInternalError> &&
              isSame<Result::InvalidArgument, ncclInvalidArgument> && isSame<Result::InvalidUsage, ncclInvalidUsage> &&
              isSame<Result::RemoteError, ncclRemoteError> && isSame<Result::InProgress, ncclInProgress>);
static_assert(isSame<DataType::Int8, ncclInt8> && isSame<DataType::Uint8, ncclUint8> &&
              isSame<DataType::Int32, ncclInt32> && isSame<DataType::Uint32, ncclUint32> &&
              isSame<DataType::Int64, ncclInt64> && isSame<DataType::Uint64, ncclUint64> &&
              isSame<DataType::Float16, ncclFloat16> && isSame<DataType::Float32, ncclFloat32> &&
              isSame<DataType::Float64, ncclFloat64> && isSame<DataType::Bfloat16, ncclBfloat16> &&
              isSame<DataType::Float8e4m3, ncclFloat8e4m3> && isSame<DataType::Float8e5m2, ncclFloat8e5m2> &&
              isSame<dataTypeCount, ncclNumTypes>);
static_assert(isSame<RedOp::Sum, ncclSum> && isSame<RedOp::Prod, ncclProd> && isSame<RedOp::Max, ncclMax> &&
              isSame<RedOp::Min, ncclMin> && isSame<RedOp::Avg, ncclAvg> && isSame<redOpCount, ncclNumOps>);
static_assert(isSame<ScalarResidence::Device, ncclScalarDevice> &&
              isSame<ScalarResidence::HostImmediate, ncclScalarHostImmediate>);
static_assert(offsetof(Team, ranks) == offsetof(ncclTeam, nRanks) && offsetof(Team, rank) == offsetof(ncclTeam, rank) &&
              offsetof(Team, stride) == offsetof(ncclTeam, stride));
static_assert(offsetof(Config, size) == offsetof(ncclConfig_t, size) &&
              offsetof(Config, magic) == offsetof(ncclConfig_t, magic) &&
              offsetof(Config, version) == offsetof(ncclConfig_t, version) &&
              offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking) &&
              configUndefined == NCCL_CONFIG_UNDEF_INT && shrinkAbort == NCCL_SHRINK_ABORT);

} // namespace
