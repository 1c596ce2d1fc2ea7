// SPDX-License-Identifier: Apache-2.0
// What the instructions do. A table maps the name of an instruction to a function.
#include "Floats.h"
#include "Thread.h"

#include <type_traits>
#include <unordered_map>

namespace gc3::ptx {

namespace {

using Table = std::unordered_map<std::string, Execute>;

template <typename T>
constexpr uint32_t bitsOf = 8 * sizeof(T);

/// The type with twice as many bits.
template <typename T>
struct WideOf;
template <>
struct WideOf<uint16_t> {
  using Type = uint32_t;
};
template <>
struct WideOf<int16_t> {
  using Type = int32_t;
};
template <>
struct WideOf<uint32_t> {
  using Type = uint64_t;
};
template <>
struct WideOf<int32_t> {
  using Type = int64_t;
};
template <>
struct WideOf<uint64_t> {
  __extension__ using Type = unsigned __int128;
};
template <>
struct WideOf<int64_t> {
  __extension__ using Type = __int128;
};
template <typename T>
using Wide = typename WideOf<T>::Type;

// Functions of values. Integers wrap: a sum or product is computed in an unsigned type of at least 32 bits.
template <typename T>
auto wrapping(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return value;
  else
    return static_cast<std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>>(value);
}
struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) + wrapping(b));
  }
};
struct Subtract {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) - wrapping(b));
  }
};
struct Multiply {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(wrapping(a) * wrapping(b));
  }
};
struct MultiplyHigh {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>((static_cast<Wide<T>>(a) * b) >> bitsOf<T>);
  }
};
struct Divide {
  template <typename T>
  T operator()(T a, T b) const {
    if (std::is_integral_v<T> && b == 0)
      throw Fault("a division by 0");
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0)
      throw Fault("a division by 0");
    return static_cast<T>(a % b);
  }
};
struct Minimum {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return smallerOf(a, b);
    else
      return a < b ? a : b;
  }
};
struct Maximum {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return largerOf(a, b);
    else
      return a < b ? b : a;
  }
};
struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Negate {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return static_cast<T>(0 - wrapping(a));
  }
};
struct Absolute {
  template <typename T>
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else if constexpr (std::is_signed_v<T>)
      return a < 0 ? Negate()(a) : a;
    else
      return a;
  }
};
struct Not {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};

// Functions of instructions.
template <typename T, typename F>
void unary(Thread &thread, const Instruction &of) {
  thread.set(of, 0, F()(thread.get<T>(of, 1)));
}
template <typename T, typename F>
void binary(Thread &thread, const Instruction &of) {
  thread.set(of, 0, F()(thread.get<T>(of, 1), thread.get<T>(of, 2)));
}
template <typename T>
void multiplyWide(Thread &thread, const Instruction &of) {
  thread.set(of, 0, static_cast<Wide<T>>(static_cast<Wide<T>>(thread.get<T>(of, 1)) * thread.get<T>(of, 2)));
}
template <typename T>
void multiplyAdd(Thread &thread, const Instruction &of) {
  thread.set(of, 0, Add()(Multiply()(thread.get<T>(of, 1), thread.get<T>(of, 2)), thread.get<T>(of, 3)));
}
template <typename T>
void multiplyAddWide(Thread &thread, const Instruction &of) {
  const auto product = static_cast<Wide<T>>(static_cast<Wide<T>>(thread.get<T>(of, 1)) * thread.get<T>(of, 2));
  thread.set(of, 0, Add()(product, thread.get<Wide<T>>(of, 3)));
}
template <typename T>
void fusedMultiplyAdd(Thread &thread, const Instruction &of) {
  thread.set(of, 0, std::fma(thread.get<T>(of, 1), thread.get<T>(of, 2), thread.get<T>(of, 3)));
}
/// Shifts by more than all bits give what a shift by all bits gives.
template <typename T>
void shiftLeft(Thread &thread, const Instruction &of) {
  const auto by = thread.get<uint32_t>(of, 2);
  thread.set(of, 0, by >= bitsOf<T> ? T{0} : static_cast<T>(thread.get<T>(of, 1) << by));
}
template <typename T>
void shiftRight(Thread &thread, const Instruction &of) {
  const auto by = thread.get<uint32_t>(of, 2);
  const auto value = thread.get<T>(of, 1);
  const T last = std::is_signed_v<T> && value < 0 ? static_cast<T>(-1) : T{0};
  thread.set(of, 0, by >= bitsOf<T> ? last : static_cast<T>(value >> by));
}
template <typename T, typename F>
void compare(Thread &thread, const Instruction &of) {
  thread.set(of, 0, uint32_t{F()(thread.get<T>(of, 1), thread.get<T>(of, 2))});
}
/// A comparison that is true if an operand is a NaN.
template <typename F>
struct OrNan {
  template <typename T>
  bool operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) || F()(a, b);
  }
};
struct IsNan {
  template <typename T>
  bool operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b);
  }
};
/// As != of C++, but false if an operand is a NaN.
struct Differs {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b || a > b;
  }
};
template <typename T>
void select(Thread &thread, const Instruction &of) {
  thread.set(of, 0, thread.get<T>(of, (thread.get<uint32_t>(of, 3) & 1) != 0 ? 1 : 2));
}
template <typename T>
void move(Thread &thread, const Instruction &of) {
  thread.set(of, 0, thread.get<T>(of, 1));
}
template <typename To, typename From>
void convert(Thread &thread, const Instruction &of) {
  thread.set(of, 0, static_cast<To>(thread.get<From>(of, 1)));
}
/// Moves the parts of a vector into a register, or the other way.
template <typename T, uint32_t Count>
void pack(Thread &thread, const Instruction &of) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < Count; ++i)
    all |= uint64_t{thread.get<T>(of, 1 + i)} << i * bitsOf<T>;
  thread.set(of, 0, all);
}
template <typename T, uint32_t Count>
void unpack(Thread &thread, const Instruction &of) {
  const auto all = thread.get<uint64_t>(of, Count);
  for (uint32_t i = 0; i < Count; ++i)
    thread.set(of, i, static_cast<T>(all >> i * bitsOf<T>));
}
template <typename T>
T lowBits(uint32_t count) {
  return count >= bitsOf<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
}
/// Inserts the low bits of the first source into the second one.
template <typename T>
void insertBits(Thread &thread, const Instruction &of) {
  const uint32_t at = thread.get<uint32_t>(of, 3) & 0xff, count = thread.get<uint32_t>(of, 4) & 0xff;
  const auto into = thread.get<T>(of, 2);
  const T mask = at >= bitsOf<T> ? T{0} : static_cast<T>(lowBits<T>(count) << at);
  const T value = at >= bitsOf<T> ? T{0} : static_cast<T>(thread.get<T>(of, 1) << at);
  thread.set(of, 0, static_cast<T>((into & ~mask) | (value & mask)));
}
/// Only for unsigned types.
template <typename T>
void extractBits(Thread &thread, const Instruction &of) {
  const uint32_t at = thread.get<uint32_t>(of, 2) & 0xff, count = thread.get<uint32_t>(of, 3) & 0xff;
  thread.set(of, 0, at >= bitsOf<T> ? T{0} : static_cast<T>((thread.get<T>(of, 1) >> at) & lowBits<T>(count)));
}
/// Chooses four bytes of the eight bytes of two sources.
void permute(Thread &thread, const Instruction &of) {
  const uint64_t bytes = thread.get<uint32_t>(of, 1) | uint64_t{thread.get<uint32_t>(of, 2)} << 32;
  const auto selector = thread.get<uint32_t>(of, 3);
  uint32_t result = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t choice = selector >> 4 * i & 15;
    auto byte = static_cast<uint8_t>(bytes >> 8 * (choice & 7));
    if ((choice & 8) != 0) // copies of the sign
      byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= uint32_t{byte} << 8 * i;
  }
  thread.set(of, 0, result);
}
/// Adds the products of four pairs of bytes.
void dotProduct(Thread &thread, const Instruction &of) {
  const auto a = thread.get<uint32_t>(of, 1), b = thread.get<uint32_t>(of, 2);
  auto result = thread.get<uint32_t>(of, 3);
  for (uint32_t shift = 0; shift < 32; shift += 8)
    result += (a >> shift & 0xff) * (b >> shift & 0xff);
  thread.set(of, 0, result);
}
/// Looks up each bit of the three sources in a table of eight bits.
void lookUp(Thread &thread, const Instruction &of) {
  const auto a = thread.get<uint32_t>(of, 1), b = thread.get<uint32_t>(of, 2), c = thread.get<uint32_t>(of, 3);
  const auto table = thread.get<uint32_t>(of, 4);
  uint32_t result = 0;
  for (uint32_t i = 0; i < 8; ++i)
    if ((table >> i & 1) != 0)
      result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  thread.set(of, 0, result);
}
template <bool Left>
void funnelShift(Thread &thread, const Instruction &of) {
  const uint64_t both = thread.get<uint32_t>(of, 1) | uint64_t{thread.get<uint32_t>(of, 2)} << 32;
  const uint32_t by = thread.get<uint32_t>(of, 3) & 31;
  thread.set(of, 0, static_cast<uint32_t>(Left ? both << by >> 32 : both >> by));
}
void countOnes(Thread &thread, const Instruction &of) {
  thread.set(of, 0, static_cast<uint32_t>(std::popcount(thread.get<uint32_t>(of, 1))));
}

// Pairs of narrow floats. The result of each operation is exact in double, so it is rounded once.
template <typename F, typename Op>
void pairOf(Thread &thread, const Instruction &of) {
  const auto a = thread.get<uint32_t>(of, 1), b = thread.get<uint32_t>(of, 2);
  const auto apply = [](uint32_t x, uint32_t y) { return F::encode(Op()(F::decode(x), F::decode(y)), false); };
  thread.set(of, 0, apply(a & 0xffff, b & 0xffff) | apply(a >> 16, b >> 16) << 16);
}
/// Sums of narrow products need up to 80 bits, so this rounds twice if the exact sum has more than 53 bits.
template <typename F>
void pairOfProductsAndSums(Thread &thread, const Instruction &of) {
  const auto a = thread.get<uint32_t>(of, 1), b = thread.get<uint32_t>(of, 2), c = thread.get<uint32_t>(of, 3);
  const auto apply = [](uint32_t x, uint32_t y, uint32_t z) {
    return F::encode(std::fma(F::decode(x), F::decode(y), F::decode(z)), false);
  };
  thread.set(of, 0, apply(a & 0xffff, b & 0xffff, c & 0xffff) | apply(a >> 16, b >> 16, c >> 16) << 16);
}
template <typename F>
void toFloat(Thread &thread, const Instruction &of) {
  thread.set(of, 0, static_cast<float>(F::decode(thread.get<uint16_t>(of, 1))));
}
template <typename F>
void fromFloat(Thread &thread, const Instruction &of) {
  thread.set(of, 0, static_cast<uint16_t>(F::encode(double{thread.get<float>(of, 1)}, false)));
}
template <typename F>
void halvesOfBytes(Thread &thread, const Instruction &of) {
  const auto bytes = thread.get<uint16_t>(of, 1);
  const auto one = [](uint32_t byte) { return Half::encode(F::decode(byte), false); };
  thread.set(of, 0, one(bytes & 0xffu) | one(bytes >> 8) << 16);
}
template <typename F>
void bytesOfHalves(Thread &thread, const Instruction &of) {
  const auto halves = thread.get<uint32_t>(of, 1);
  const auto one = [](uint32_t half) { return F::encode(Half::decode(half), true); };
  thread.set(of, 0, static_cast<uint16_t>(one(halves & 0xffff) | one(halves >> 16) << 8));
}

// Threads, blocks and memory.
void barrier(Thread &thread, const Instruction &of) {
  if (thread.get<uint32_t>(of, 0) != 0)
    throw Fault("a barrier other than 0");
  thread.machine.barrier();
}
void barrierOr(Thread &thread, const Instruction &of) {
  if (thread.get<uint32_t>(of, 1) != 0)
    throw Fault("a barrier other than 0");
  thread.set(of, 0, uint32_t{thread.machine.barrierAny((thread.get<uint32_t>(of, 2) & 1) != 0)});
}
void expectAllLanes(const Thread &thread, const Instruction &of, uint32_t mask) {
  if (thread.get<uint32_t>(of, mask) != UINT32_MAX)
    throw Fault("a mask without all lanes");
}
template <bool All>
void vote(Thread &thread, const Instruction &of) {
  expectAllLanes(thread, of, 2);
  const bool holds = (thread.get<uint32_t>(of, 1) & 1) != 0;
  thread.set(of, 0, uint32_t{All == thread.machine.warpAll(All == holds)});
}
void warpSync(Thread &thread, const Instruction &of) {
  expectAllLanes(thread, of, 0);
  thread.machine.warpSync();
}
template <kernel::Scope S>
void fence(Thread &thread, const Instruction &) {
  thread.machine.fence(S);
}
void readClock(Thread &thread, const Instruction &of) {
  thread.set(of, 0, thread.machine.now());
}
void sharedAddress(Thread &thread, const Instruction &of) {
  thread.set(of, 0, reinterpret_cast<uintptr_t>(thread.memory.shared.data()) + thread.get<uint64_t>(of, 1));
}
void parameterAddress(Thread &thread, const Instruction &of) {
  thread.set(of, 0, reinterpret_cast<uintptr_t>(thread.memory.parameters.data()) + thread.get<uint64_t>(of, 1));
}
void toShared(Thread &thread, const Instruction &of) {
  thread.set(of, 0, thread.get<uint64_t>(of, 1) - reinterpret_cast<uintptr_t>(thread.memory.shared.data()));
}
void load(Thread &thread, const Instruction &of) {
  thread.load(of);
}
void store(Thread &thread, const Instruction &of) {
  thread.store(of);
}
void branch(Thread &thread, const Instruction &of) {
  thread.jump(of);
}
void end(Thread &thread, const Instruction &) {
  thread.end();
}
void trap(Thread &, const Instruction &) {
  throw Fault("the kernel traps");
}
/// The operands of a call are the result, if there is one, then the arguments.
template <NetworkCall Call, uint32_t Arguments>
void callNetwork(Thread &thread, const Instruction &of) {
  constexpr uint32_t results = Call == NetworkCall::Read ? 1 : 0;
  std::array<uint64_t, Arguments> arguments;
  for (uint32_t i = 0; i < Arguments; ++i)
    arguments[i] = thread.get<uint64_t>(of, results + i);
  const uint64_t result = thread.machine.network(Call, arguments.data());
  if (results != 0)
    thread.set(of, 0, result);
}

// The table.
template <typename T>
std::string suffix() {
  if (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? ".f32" : ".f64";
  return (std::is_signed_v<T> ? ".s" : ".u") + std::to_string(bitsOf<T>);
}
template <typename T>
std::string untyped() {
  return ".b" + std::to_string(bitsOf<T>);
}

template <typename T>
void addNumbers(Table &table) {
  const std::string type = suffix<T>();
  table["add" + type] = binary<T, Add>;
  table["sub" + type] = binary<T, Subtract>;
  table["min" + type] = binary<T, Minimum>;
  table["max" + type] = binary<T, Maximum>;
  table["neg" + type] = unary<T, Negate>;
  table["abs" + type] = unary<T, Absolute>;
  table["mov" + type] = move<T>;
  table["selp" + type] = select<T>;
  table["setp.eq" + type] = compare<T, std::equal_to<>>;
  table["setp.lt" + type] = compare<T, std::less<>>;
  table["setp.le" + type] = compare<T, std::less_equal<>>;
  table["setp.gt" + type] = compare<T, std::greater<>>;
  table["setp.ge" + type] = compare<T, std::greater_equal<>>;
}

template <typename T>
void addIntegers(Table &table) {
  const std::string type = suffix<T>();
  addNumbers<T>(table);
  table["mul.lo" + type] = binary<T, Multiply>;
  table["mul.hi" + type] = binary<T, MultiplyHigh>;
  table["mad.lo" + type] = multiplyAdd<T>;
  table["div" + type] = binary<T, Divide>;
  table["rem" + type] = binary<T, Remainder>;
  table["shr" + type] = shiftRight<T>;
  table["setp.ne" + type] = compare<T, std::not_equal_to<>>;
  if constexpr (sizeof(T) < 8) {
    table["mul.wide" + type] = multiplyWide<T>;
    table["mad.wide" + type] = multiplyAddWide<T>;
  }
}

template <typename T>
void addFloats(Table &table) {
  const std::string type = suffix<T>();
  addNumbers<T>(table);
  table["mul" + type] = binary<T, Multiply>;
  for (const std::string rounded : {"", ".rn"}) {
    table["add" + rounded + type] = binary<T, Add>;
    table["sub" + rounded + type] = binary<T, Subtract>;
    table["mul" + rounded + type] = binary<T, Multiply>;
  }
  table["div.rn" + type] = binary<T, Divide>;
  table["fma.rn" + type] = fusedMultiplyAdd<T>;
  table["setp.ne" + type] = compare<T, Differs>;
  table["setp.equ" + type] = compare<T, OrNan<std::equal_to<>>>;
  table["setp.neu" + type] = compare<T, std::not_equal_to<>>;
  table["setp.ltu" + type] = compare<T, OrNan<std::less<>>>;
  table["setp.leu" + type] = compare<T, OrNan<std::less_equal<>>>;
  table["setp.gtu" + type] = compare<T, OrNan<std::greater<>>>;
  table["setp.geu" + type] = compare<T, OrNan<std::greater_equal<>>>;
  table["setp.nan" + type] = compare<T, IsNan>;
}

/// Adds the instructions of a type without a sign.
template <typename T>
void addBits(Table &table) {
  const std::string type = untyped<T>();
  table["and" + type] = binary<T, And>;
  table["or" + type] = binary<T, Or>;
  table["xor" + type] = binary<T, Xor>;
  table["not" + type] = unary<T, Not>;
  table["shl" + type] = shiftLeft<T>;
  table["shr" + type] = shiftRight<T>;
  table["mov" + type] = move<T>;
  table["selp" + type] = select<T>;
  table["setp.eq" + type] = compare<T, std::equal_to<>>;
  table["setp.ne" + type] = compare<T, std::not_equal_to<>>;
  if constexpr (sizeof(T) >= 4) {
    table["bfi" + type] = insertBits<T>;
    table["bfe.u" + std::to_string(bitsOf<T>)] = extractBits<T>;
  }
}

template <typename From, typename... To>
void addConversions(Table &table) {
  ((table["cvt" + suffix<To>() + suffix<From>()] = convert<To, From>), ...);
}
template <typename... T>
void addAllConversions(Table &table) {
  (addConversions<T, uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>(table), ...);
}

template <typename F>
void addPairs(Table &table, const std::string &type) {
  for (const std::string rounded : {"", ".rn"}) {
    table["add" + rounded + type + "x2"] = pairOf<F, Add>;
    table["sub" + rounded + type + "x2"] = pairOf<F, Subtract>;
    table["mul" + rounded + type + "x2"] = pairOf<F, Multiply>;
  }
  table["min" + type + "x2"] = pairOf<F, Minimum>;
  table["max" + type + "x2"] = pairOf<F, Maximum>;
  table["fma.rn" + type + "x2"] = pairOfProductsAndSums<F>;
  table["cvt.f32" + type] = toFloat<F>;
  table["cvt.rn" + type + ".f32"] = fromFloat<F>;
}

/// Names begin with "pack" and "unpack" for moves between a register and a vector.
void addRest(Table &table) {
  table["pack2.b32"] = pack<uint16_t, 2>, table["unpack2.b32"] = unpack<uint16_t, 2>;
  table["pack2.b64"] = pack<uint32_t, 2>, table["unpack2.b64"] = unpack<uint32_t, 2>;
  table["pack4.b64"] = pack<uint16_t, 4>, table["unpack4.b64"] = unpack<uint16_t, 4>;
  table["prmt.b32"] = permute, table["lop3.b32"] = lookUp, table["popc.b32"] = countOnes;
  table["dp4a.u32.u32"] = dotProduct;
  table["shf.l.wrap.b32"] = funnelShift<true>, table["shf.r.wrap.b32"] = funnelShift<false>;
  table["and.pred"] = binary<uint32_t, And>, table["or.pred"] = binary<uint32_t, Or>;
  table["xor.pred"] = binary<uint32_t, Xor>, table["not.pred"] = unary<uint32_t, Not>;
  table["mov.pred"] = move<uint32_t>;
  table["cvt.rn.f16x2.e4m3x2"] = halvesOfBytes<E4M3>, table["cvt.rn.f16x2.e5m2x2"] = halvesOfBytes<E5M2>;
  table["cvt.rn.satfinite.e4m3x2.f16x2"] = bytesOfHalves<E4M3>;
  table["cvt.rn.satfinite.e5m2x2.f16x2"] = bytesOfHalves<E5M2>;
  for (const std::string name : {"bar.sync", "barrier.sync"})
    table[name] = barrier;
  for (const std::string name : {"bar.red.or.pred", "barrier.red.or.pred"})
    table[name] = barrierOr;
  table["vote.sync.all.pred"] = vote<true>, table["vote.sync.any.pred"] = vote<false>;
  table["bar.warp.sync"] = warpSync;
  table["fence.acq_rel.gpu"] = fence<kernel::Scope::Gpu>, table["fence.acq_rel.sys"] = fence<kernel::Scope::System>;
  table["read.globaltimer"] = readClock;
  table["cvta.shared.u64"] = sharedAddress, table["cvta.param.u64"] = parameterAddress;
  table["cvta.global.u64"] = table["cvta.to.global.u64"] = move<uint64_t>; // each access checks its space
  table["cvta.to.shared.u64"] = toShared;
  table["ld"] = load, table["st"] = store, table["bra"] = branch;
  table["ret"] = table["exit"] = end, table["trap"] = trap;
  table["call.put"] = callNetwork<NetworkCall::Put, 8>, table["call.add"] = callNetwork<NetworkCall::Add, 5>;
  table["call.read"] = callNetwork<NetworkCall::Read, 3>;
}

Table makeTable() {
  Table table;
  addIntegers<uint16_t>(table), addIntegers<int16_t>(table), addIntegers<uint32_t>(table);
  addIntegers<int32_t>(table), addIntegers<uint64_t>(table), addIntegers<int64_t>(table);
  addFloats<float>(table), addFloats<double>(table);
  addBits<uint16_t>(table), addBits<uint32_t>(table), addBits<uint64_t>(table);
  table["selp.f32"] = table["selp.b32"], table["selp.f64"] = table["selp.b64"];
  addAllConversions<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t>(table);
  addPairs<Half>(table, ".f16"), addPairs<Bfloat16>(table, ".bf16");
  addRest(table);
  return table;
}

} // namespace

Execute find(const std::string &name) {
  static const Table table = makeTable();
  const auto known = table.find(name);
  return known == table.end() ? nullptr : known->second;
}

} // namespace gc3::ptx
