// SPDX-License-Identifier: Apache-2.0
// Tests the interpreter of PTX with small kernels: what instructions compute, and which programs it refuses.
#include "Alone.h"

#include <gtest/gtest.h>

using namespace gc3;

namespace {

/// Returns the text of a kernel with the parameters `to` and `from`, which are addresses. The registers %rd1 and %rd2
/// hold them, as global addresses.
std::string kernelOf(const std::string &body) {
  return R"(
.version 9.0
.target sm_90
.address_size 64
.visible .entry test(
	.param .u64 to,
	.param .u64 from
)
{
	.reg .pred 	%p<9>;
	.reg .b16 	%rs<9>;
	.reg .b32 	%r<9>;
	.reg .b64 	%rd<9>;
	.shared .align 8 .b8 memory[64];
	ld.param.u64 	%rd1, [to];
	ld.param.u64 	%rd2, [from];
	cvta.to.global.u64 	%rd1, %rd1;
	cvta.to.global.u64 	%rd2, %rd2;
)" + body +
         R"(
	ret;
}
)";
}

using Words = std::array<uint64_t, 4>;

/// Runs a kernel with one thread. Returns what it has stored.
Words resultOf(const std::string &body, const Words &from = {}) {
  const ptx::Module module = ptx::parse("test.ptx", kernelOf(body));
  alignas(16) Words to{}, source = from;
  const std::vector<uint64_t> arguments{reinterpret_cast<uintptr_t>(to.data()),
                                        reinterpret_cast<uintptr_t>(source.data())};
  ptx::runAlone({&module, &module.kernels.at(0)}, 1, 1, arguments, [] { return uint64_t{42}; });
  return to;
}

/// Returns the result of an instruction with a 32-bit result: the operands after it are in `operands`.
uint32_t word(const std::string &name, const std::string &operands) {
  return static_cast<uint32_t>(resultOf(name + " %r1, " + operands + ";\n\tst.global.u32 [%rd1], %r1;")[0]);
}
uint64_t longWord(const std::string &name, const std::string &operands) {
  return resultOf(name + " %rd3, " + operands + ";\n\tst.global.u64 [%rd1], %rd3;")[0];
}

/// Returns the message of the Fault of a kernel, without its beginning.
std::string faultOf(const std::string &body) {
  try {
    resultOf(body);
  } catch (const ptx::Fault &fault) {
    return fault.what();
  }
  return "no fault";
}

} // namespace

TEST(Ptx, movesData) {
  EXPECT_EQ(
      resultOf("ld.global.v2.u64 {%rd3, %rd4}, [%rd2+16];\n\tst.global.v2.u64 [%rd1], {%rd4, %rd3};", {1, 2, 3, 4}),
      (Words{4, 3}));
  EXPECT_EQ(resultOf("ld.global.s8 %r1, [%rd2];\n\tcvt.s64.s32 %rd3, %r1;\n\tst.global.u64 [%rd1+8], %rd3;", {0xfe}),
            (Words{0, UINT64_MAX - 1}));
  EXPECT_EQ(resultOf("mov.b64 %rd3, {1, 2};\n\tmov.b64 {%r1, %r2}, %rd3;\n\tst.global.v2.u32 [%rd1], {%r2, %r1};"),
            (Words{2 | uint64_t{1} << 32}));
  EXPECT_EQ(resultOf("mov.u32 %r1, memory;\n\tst.shared.u64 [%r1+56], 7;\n\tld.shared.u64 %rd3, [memory+56];\n\t"
                     "cvta.shared.u64 %rd4, 56;\n\tld.u64 %rd5, [%rd4];\n\tst.global.v2.u64 [%rd1], {%rd3, %rd5};"),
            (Words{7, 7}));
}

TEST(Ptx, branches) {
  // Adds 1 to 10. Inside of the braces %p1 is another register.
  EXPECT_EQ(resultOf(R"(mov.u64 %rd3, 0; mov.u32 %r1, 10; setp.eq.u32 %p1, %r1, 10;
$L: cvt.u64.u32 %rd4, %r1; add.s64 %rd3, %rd3, %rd4; add.s32 %r1, %r1, -1;
{ .reg .pred %p1; setp.ne.u32 %p1, %r1, 0; @%p1 bra $L; }
@!%p1 bra $M; st.global.u64 [%rd1], %rd3;
$M:)"),
            (Words{55}));
}

TEST(Ptx, computes) {
  EXPECT_EQ(word("prmt.b32", "0x33221100, 0x77665584, 0x7c40"), 0x77ff8400u);
  EXPECT_EQ(word("dp4a.u32.u32", "0xff000302, 0xff100504, 7"), 255u * 255 + 3 * 5 + 2 * 4 + 7);
  EXPECT_EQ(word("lop3.b32", "12, 10, 9, 0x96"), 12u ^ 10u ^ 9u);
  EXPECT_EQ(word("shl.b32", "1, 32"), 0u);
  EXPECT_EQ(word("shr.s32", "-8, 40"), UINT32_MAX);
  EXPECT_EQ(word("shf.l.wrap.b32", "0x80000000, 1, 1"), 3u);
  EXPECT_EQ(word("mul.hi.u32", "0x80000000, 6"), 3u);
  EXPECT_EQ(word("min.s32", "-1, 1"), UINT32_MAX);
  EXPECT_EQ(word("bfe.u32", "0xabcd, 4, 8"), 0xbcu);
  EXPECT_EQ(longWord("bfi.b64", "0xff, 0, 48, 16"), 0xff000000000000u);
  EXPECT_EQ(longWord("mul.wide.s32", "-2, 3"), static_cast<uint64_t>(-6));
  EXPECT_EQ(longWord("cvt.s64.s8", "0x1ff"), UINT64_MAX);
  EXPECT_EQ(longWord("rem.u64", "17, 5"), 2u);
  EXPECT_EQ(resultOf("mov.u64 %rd3, %globaltimer;\n\tst.global.u64 [%rd1], %rd3;"), (Words{42}));
}

/// Results at which the formats round, saturate or end.
TEST(Ptx, computesNarrowFloats) {
  EXPECT_EQ(word("add.rn.f16x2", "0x3c007bff, 0x10007bff"), 0x3c007c00u); // 1 + 2^-11: tie; overflow
  EXPECT_EQ(word("mul.rn.f16x2", "0x00010400, 0x38003800"), 0x00000200u); // half of the smallest; a subnormal
  EXPECT_EQ(word("min.f16x2", "0x7e008000, 0x3c000000"), 0x3c008000u);    // the number; -0
  EXPECT_EQ(word("cvt.rn.bf16.f32", "0f3F808000"), 0x3f80u);
  EXPECT_EQ(word("cvt.rn.bf16.f32", "0f3F818000"), 0x3f82u);
  EXPECT_EQ(word("cvt.f32.f16", "0x0001"), 0x33800000u);
  EXPECT_EQ(word("cvt.rn.f16x2.e4m3x2", "0x7e01"), 0x5f001800u); // 448 and 2^-9
  EXPECT_EQ(word("cvt.rn.f16x2.e5m2x2", "0xfc7b"), 0xfc007b00u);
  EXPECT_EQ(word("cvt.rn.satfinite.e4m3x2.f16x2", "0x7c00fbff"), 0x7efeu);
  EXPECT_EQ(word("cvt.rn.satfinite.e5m2x2.f16x2", "0x3d803c80"), 0x3e3cu); // ties
}

TEST(Ptx, refusesWrongAccesses) {
  EXPECT_EQ(faultOf("add.s64 %rd3, %rd1, 4;\n\tst.global.u64 [%rd3], 1;").substr(0, 50),
            "test.ptx:20: st.global.u64 [%rd3], 1;: the address");
  EXPECT_EQ(faultOf("ld.shared.u64 %rd3, [memory+64];"),
            "test.ptx:19: ld.shared.u64 %rd3, [memory+64];: the offset 64 is beyond the end of this memory");
  EXPECT_EQ(faultOf("ld.param.u64 %rd3, [from+8];"),
            "test.ptx:19: ld.param.u64 %rd3, [from+8];: the offset 16 is beyond the end of this memory");
  EXPECT_EQ(faultOf("cvta.shared.u64 %rd3, memory;\n\tld.global.u64 %rd4, [%rd3];"),
            "test.ptx:20: ld.global.u64 %rd4, [%rd3];: the address is not in global memory");
  EXPECT_EQ(faultOf("ld.volatile.shared.u64 %rd3, [memory];"), "test.ptx:19: ld.volatile.shared.u64 %rd3, [memory];: "
                                                               "a strong access to memory that no other block has");
  EXPECT_EQ(faultOf("ld.relaxed.gpu.global.u64 %rd3, [%rd1];"),
            "test.ptx:19: ld.relaxed.gpu.global.u64 %rd3, [%rd1];: the emulated GPU has no such load");
  EXPECT_EQ(faultOf("div.u32 %r1, 1, 0;"), "test.ptx:19: div.u32 %r1, 1, 0;: a division by 0");
}

TEST(Ptx, refusesWhatItDoesNotKnow) {
  EXPECT_EQ(faultOf("sin.approx.f32 %r1, %r2;"),
            "test.ptx:19: sin.approx.f32 %r1, %r2;: unknown instruction 'sin.approx.f32'");
  EXPECT_EQ(faultOf("ld.global.nc.u64 %rd3, [%rd1];"),
            "test.ptx:19: ld.global.nc.u64 %rd3, [%rd1];: unknown kind of access 'nc'");
  EXPECT_EQ(faultOf("bra $nowhere;"), "test.ptx:19: bra $nowhere;: unknown label '$nowhere'");
  EXPECT_EQ(faultOf("mov.u32 %r1, %smid;"), "test.ptx:19: mov.u32 %r1, %smid;: unknown name '%smid'");
  EXPECT_EQ(faultOf("mov.u32 %r1, elsewhere;"), "test.ptx:19: mov.u32 %r1, elsewhere;: unknown name 'elsewhere'");
}
