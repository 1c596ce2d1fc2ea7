// SPDX-License-Identifier: Apache-2.0
// Groups: every call is made once, by the engine or by NCCL, and errors come out at the outermost end.
#include "Front.h"

using namespace gc3::ncclapi;
using namespace gc3::nccl::test;

using Groups = Front;

// As PyTorch calls, and with other things in between.
TEST_F(Groups, KeepServedCallsUntilTheOutermostEnd) {
  Comm c0 = makeComm(4, 0), c1 = makeComm(4, 1);
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(allReduce(c0, 2), Result::Success);
  EXPECT_EQ(allReduce(c1, 3), Result::Success);
  EXPECT_EQ(ncclGroupStart(), Result::Success);
  EXPECT_EQ(allReduce(c1, 4), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(allReduce(c0, 6), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 3, 7, 0, c1, 0x0)", "GroupStart()", "GroupEnd()"}));
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupEnd()", "together 3", "run 7 AllReduce 8 B float sum on c0",
                            "run 7 AllReduce 16 B float sum on c1", "run 7 AllReduce 24 B float sum on c0"}));
  EXPECT_EQ(allReduce(c0, 2), Result::Success);
  EXPECT_EQ(take(), Events{"run 7 AllReduce 8 B float sum on c0"}) << "the group is over";
}

TEST_F(Groups, EndOfNoneIsNcclsToRefuse) {
  EXPECT_EQ(ncclGroupEnd(), Result::InvalidUsage);
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), Result::InvalidUsage);
  EXPECT_EQ(take(), (Events{"GroupEnd()", "GroupSimulateEnd(0x0)"}));
}

TEST_F(Groups, WhoseStartFailsIsNone) {
  Comm comm = makeComm();
  fakeNcclFail("GroupStart", Result::SystemError);
  EXPECT_EQ(ncclGroupStart(), Result::SystemError);
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupStart()", "run 7 AllReduce 8 B float sum on c0"}));
}

TEST_F(Groups, AreDroppedIfNcclsPartFails) {
  Comm comm = makeComm();
  for (const char *failing : {"AllReduce", "GroupEnd"}) {
    fakeNcclFail(failing, Result::InvalidArgument);
    ncclGroupStart();
    EXPECT_EQ(allReduce(comm, 2), Result::Success);
    allReduce(comm, 3);
    EXPECT_EQ(ncclGroupEnd(), Result::InvalidArgument);
    EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)", "GroupEnd()"}));
    EXPECT_EQ(ncclGroupStart(), Result::Success);
    EXPECT_EQ(ncclGroupEnd(), Result::Success);
    EXPECT_EQ(take(), (Events{"GroupStart()", "GroupEnd()"})) << "nothing is left for the next one";
  }
}

TEST_F(Groups, GiveTheEnginesFirstError) {
  Comm comm = makeComm();
  fakeEngine().runResult = Result::SystemError;
  ncclGroupStart();
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(allReduce(comm, 4), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::SystemError);
  EXPECT_EQ(take(), (Events{"GroupStart()", "GroupEnd()", "together 2", "run 7 AllReduce 8 B float sum on c0",
                            "run 7 AllReduce 16 B float sum on c0"}));
}

// Communicators that do not block are under way when NCCL's part ends; our calls are on others.
TEST_F(Groups, GoOnIfNcclsPartIsInProgress) {
  Comm comm = makeComm();
  fakeNcclFail("GroupEnd", Result::InProgress);
  ncclGroupStart();
  allReduce(comm, 2);
  EXPECT_EQ(ncclGroupEnd(), Result::InProgress);
  EXPECT_EQ(take(), (Events{"GroupStart()", "GroupEnd()", "run 7 AllReduce 8 B float sum on c0"}));
}

TEST_F(Groups, SimulatedAreNcclsAltogether) {
  Comm comm = makeComm();
  ncclGroupStart();
  ncclGroupStart();
  allReduce(comm, 2);
  allReduce(comm, 3);
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), Result::Success);
  EXPECT_EQ(take(),
            (Events{"GroupStart()", "GroupStart()", "AllReduce(0x0, 0x0, 3, 7, 0, c0, 0x0)", "GroupSimulateEnd(0x0)"}));
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), Result::Success);
  EXPECT_EQ(take(), (Events{"AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)", "GroupSimulateEnd(0x0)"}));
  allReduce(comm, 2);
  EXPECT_EQ(take(), Events{"run 7 AllReduce 8 B float sum on c0"});
}

TEST_F(Groups, AttachCommunicatorsMadeInThemWhenTheyEnd) {
  Comm comms[3] = {};
  ncclGroupStart();
  for (int rank = 0; rank < 2; ++rank)
    EXPECT_EQ(ncclCommInitRank(&comms[rank], 2, {}, rank), Result::Success);
  ncclGroupStart();
  EXPECT_EQ(ncclCommInitRank(&comms[2], 1, {}, 0), Result::Success);
  ncclGroupEnd();
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupStart()", "CommInitRank(2, id, 0)", "CommInitRank(2, id, 1)", "GroupStart()",
                            "CommInitRank(1, id, 0)", "GroupEnd()", "GroupEnd()", "attach c0=0/2 c1=1/2"}));
  EXPECT_EQ(allReduce(comms[1], 2), Result::Success);
  EXPECT_EQ(take(), Events{"run 7 AllReduce 8 B float sum on c1"});
}

TEST_F(Groups, AttachNothingIfTheyFail) {
  Comm comm = nullptr;
  ncclGroupStart();
  ncclCommInitRank(&comm, 2, {}, 1);
  fakeNcclFail("GroupEnd", Result::SystemError);
  EXPECT_EQ(ncclGroupEnd(), Result::SystemError);
  EXPECT_EQ(take(), (Events{"GroupStart()", "CommInitRank(2, id, 1)", "GroupEnd()"}));
  EXPECT_EQ(allReduce(comm, 2), Result::Success);
  EXPECT_EQ(take().size(), 1u) << "NCCL's";
}

TEST_F(Groups, AttachNothingThatIsGoneWhenTheyEnd) {
  for (auto [death, name] :
       {std::pair(&ncclCommDestroy, "CommDestroy(c0)"), std::pair(&ncclCommAbort, "CommAbort(c0)")}) {
    fakeNcclReset();
    Comm comm = nullptr;
    ncclGroupStart();
    EXPECT_EQ(ncclCommInitRank(&comm, 2, {}, 1), Result::Success);
    EXPECT_EQ(death(comm), Result::Success);
    EXPECT_EQ(ncclGroupEnd(), Result::Success);
    EXPECT_EQ(take(), (Events{"GroupStart()", "CommInitRank(2, id, 1)", name, "GroupEnd()"}));
  }
}

// Handing calls over may fail, long before the end.
TEST_F(Groups, GiveTheErrorOfWhatIsHandedOver) {
  Comm c0 = makeComm(), c1 = makeComm();
  ncclGroupStart();
  allReduce(c0, 2);
  allReduce(c1, 4);
  fakeNcclFail("AllReduce", Result::SystemError);
  EXPECT_EQ(ncclCommDestroy(c0), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::SystemError);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)", "detach c0", "CommDestroy(c0)",
                            "GroupEnd()"}))
      << "none of the calls is made";
  ncclGroupStart();
  allReduce(c1, 4);
  fakeNcclFail("AllReduce", Result::SystemError);
  EXPECT_EQ(ncclGroupSimulateEnd(nullptr), Result::SystemError);
  EXPECT_EQ(take(), (Events{"GroupStart()", "AllReduce(0x0, 0x0, 4, 7, 0, c1, 0x0)", "GroupSimulateEnd(0x0)"}));
}

// A communicator that goes while calls on it are kept: NCCL gets them, as without us; aborted, nobody does.
TEST_F(Groups, LoseNoCallWhenACommunicatorGoes) {
  Comm c0 = makeComm(), c1 = makeComm();
  ncclGroupStart();
  allReduce(c0, 2);
  allReduce(c1, 4);
  allReduce(c0, 6);
  EXPECT_EQ(ncclCommDestroy(c0), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(),
            (Events{"GroupStart()", "AllReduce(0x0, 0x0, 2, 7, 0, c0, 0x0)", "AllReduce(0x0, 0x0, 6, 7, 0, c0, 0x0)",
                    "detach c0", "CommDestroy(c0)", "GroupEnd()", "run 7 AllReduce 16 B float sum on c1"}));
  ncclGroupStart();
  allReduce(c1, 4);
  EXPECT_EQ(ncclCommAbort(c1), Result::Success);
  EXPECT_EQ(ncclGroupEnd(), Result::Success);
  EXPECT_EQ(take(), (Events{"GroupStart()", "abort c1", "forget c1", "CommAbort(c1)", "GroupEnd()"}));
}
