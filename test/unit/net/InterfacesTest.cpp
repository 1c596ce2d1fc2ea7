// SPDX-License-Identifier: Apache-2.0
// The order of a machine's addresses, and the form of NCCL_SOCKET_IFNAME.
#include "net/Interfaces.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace gc3::net;

namespace {

TEST(Interfaces, AListSelectsAsNcclDoes) {
  EXPECT_FALSE(isSelected("", "eth0"));
  EXPECT_TRUE(isSelected("eth", "eth0"));
  EXPECT_TRUE(isSelected("ib,eth", "eth1"));
  EXPECT_FALSE(isSelected("ib,eth", "docker0"));
  EXPECT_FALSE(isSelected("eth0", "eth"));
  EXPECT_TRUE(isSelected("=eth0,ib1", "ib1"));
  EXPECT_FALSE(isSelected("=eth0,ib1", "ib10"));
  EXPECT_FALSE(isSelected("^docker,lo", "docker0"));
  EXPECT_TRUE(isSelected("^docker,lo", "eth0"));
  EXPECT_TRUE(isSelected("^=eth0", "eth01"));
  EXPECT_FALSE(isSelected("^=eth0", "eth0"));
  EXPECT_FALSE(isSelected(",", "eth0"));
}

TEST(Interfaces, SelectedOnesComeFirstAndDockerLast) {
  std::vector<InterfaceAddress> addresses{{"docker0", {1}}, {"eth0", {2}}, {"ib0", {3}}, {"eth0", {4}}, {"ib1", {5}}};
  auto order = [&](const char *list) {
    std::vector<InterfaceAddress> sorted = addresses;
    sortAddresses(sorted, list);
    std::string text;
    for (const InterfaceAddress &each : sorted)
      text += std::to_string(each.address[0]);
    return text;
  };
  EXPECT_EQ(order(""), "23451");
  EXPECT_EQ(order("ib"), "35241");
  EXPECT_EQ(order("^eth"), "13524");
}

TEST(Interfaces, NoLoopbackIsFound) {
  constexpr Address mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
  const std::vector<InterfaceAddress> addresses = findAddresses();
  EXPECT_TRUE(std::none_of(addresses.begin(), addresses.end(),
                           [&](const InterfaceAddress &each) { return each.address == mapped; }));
}

} // namespace
