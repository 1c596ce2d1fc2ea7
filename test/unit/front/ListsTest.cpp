// SPDX-License-Identifier: Apache-2.0
// Tests lists: they are values although they share storage, and a budget limits their memory.
#include "Lists.h"
#include <gtest/gtest.h>

using namespace gc3::sema;

namespace {

struct ListsTest : testing::Test {
  ListBudget budget{1000, 0};

  ListRef make(std::initializer_list<int64_t> values) {
    ListRef list;
    List *own = gc3::sema::own(list, File::Int, values.size(), budget);
    own->ints = values;
    return list;
  }
};

} // namespace

TEST_F(ListsTest, WritingASharedListCopiesIt) {
  ListRef a = make({1, 2, 3});
  ListRef b = a;
  own(b, File::Int, 0, budget)->ints[0] = 9;
  EXPECT_EQ(a.get()->ints[0], 1);
  EXPECT_EQ(b.get()->ints[0], 9);
  EXPECT_EQ(own(b, File::Int, 0, budget), b.get());
}

TEST_F(ListsTest, AppendToItself) {
  ListRef a = make({1, 2});
  ASSERT_TRUE(append(a, a, budget));
  EXPECT_EQ(a.get()->ints, (std::vector<int64_t>{1, 2, 1, 2}));
}

TEST_F(ListsTest, EqualityIsByValue) {
  EXPECT_TRUE(equal(make({1, 2}), make({1, 2})));
  EXPECT_FALSE(equal(make({1, 2}), make({2, 1})));
  EXPECT_TRUE(equal(ListRef(), ListRef()));
  EXPECT_FALSE(equal(ListRef(), make({1})));
}

TEST_F(ListsTest, TheBudgetHoldsAndIsGivenBack) {
  {
    ListRef a = make({1, 2, 3});
    EXPECT_EQ(budget.alive, ListBudget::ListCost + 3);
    EXPECT_EQ(own(a, File::Int, 10000, budget), nullptr);
    ListRef b = a;
    EXPECT_EQ(budget.alive, ListBudget::ListCost + 3);
    b = ListRef();
  }
  EXPECT_EQ(budget.alive, 0u);
}
