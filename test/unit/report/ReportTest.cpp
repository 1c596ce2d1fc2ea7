// SPDX-License-Identifier: Apache-2.0
// Checks the data inside a page. test/browser/report_test.py checks what a browser shows of it.
#include "gc3/Report/Report.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace gc3::report;

namespace {

std::string written(const Page &page) {
  std::string text;
  llvm::raw_string_ostream out(text);
  writePage(out, page);
  return out.str();
}

/// Returns the JSON of a page.
std::string dataOf(const std::string &text) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const size_t first = text.find(begin) + begin.size();
  return text.substr(first, text.find("</script>", first) - first);
}

TEST(Report, Data) {
  Page page;
  page.title = "t", page.subtitle = "s", page.notes = {"a", "b"};
  Section section;
  section.title = "allreduce on 2 ranks", section.sizes = {1, uint64_t(1) << 40};
  section.curves = {{"p", {0.5, NoValue}}, {"q", {1e9, 1.0 / 3}, true, {"x", "y"}}};
  section.baseline = {{"NCCL", {2, 3}}};
  section.ranges = {{1, 1, 1024}, {Range::Baseline, 1024, UINT64_MAX}};
  section.details = {{"p", {{"port"}, {0.25, 1}, "note"}, {}}};
  section.histories = {{1024, {0, 5}, {{"p"}, {1, 0.5}}}};
  page.sections = {section};
  EXPECT_EQ(
      dataOf(written(page)),
      R"({"title":"t","subtitle":"s","notes":["a","b"],"sections":[{"title":"allreduce on 2 ranks","sizes":[1,1099511627776],)"
      R"("curves":[{"name":"p","times":[0.5,null],"isBackground":false,"labels":[]},)"
      R"({"name":"q","times":[1000000000,0.333333333333333],"isBackground":true,"labels":["x","y"]}],)"
      R"("baseline":[{"name":"NCCL","times":[2,3],"isBackground":false,"labels":[]}],)"
      R"("ranges":[{"curve":1,"begin":1,"end":1024},{"curve":-1,"begin":1024,"end":1.84467440737096e+19}],)"
      R"("details":[{"name":"p","resources":{"rows":["port"],"values":[0.25,1],"note":"note"},)"
      R"("path":{"rows":[],"values":[],"note":""}}],)"
      R"("histories":[{"bytes":1024,"calls":[0,5],"shares":{"rows":["p"],"values":[1,0.5],"note":""}}]}]})");
}

TEST(Report, TextIsEscaped) {
  Page page;
  page.title = "</title><script>", page.subtitle = "</script>&";
  const std::string text = written(page);
  EXPECT_NE(text.find("<title>&lt;/title&gt;&lt;script&gt; – gc3</title>"), std::string::npos);
  EXPECT_EQ(dataOf(text),
            R"({"title":"\u003c/title>\u003cscript>","subtitle":"\u003c/script>&","notes":[],"sections":[]})");
}

TEST(Report, NeedsNoNetwork) {
  const std::string text = written({"t", "", {}, {}});
  EXPECT_NE(text.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(text.find("https:"), std::string::npos);
  EXPECT_EQ(text.find("{{"), std::string::npos); // all places are filled
}

} // namespace
