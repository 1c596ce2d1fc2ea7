// SPDX-License-Identifier: Apache-2.0
// Writes the data of a report as JSON, and fills it into the page with its style and scripts. Linear in the data.
#include "gc3/Report/Report.h"
#include "PageFiles.h"
#include "gc3/Support/JsonWriter.h"
#include "gc3/Support/PageTemplate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace gc3::report {

namespace {

/// The scripts of the page, in the order in which the browser executes them.
constexpr const char *scripts[] = {"dom.js", "scale.js", "plot.js", "grid.js", "table.js", "main.js"};

class DataWriter {
public:
  explicit DataWriter(llvm::raw_ostream &out) : json(out) {}

  void page(const Page &page) {
    json.object([&] {
      text("title", page.title);
      text("subtitle", page.subtitle);
      list("notes", page.notes, [&](const std::string &note) { json.value(note); });
      list("sections", page.sections, [&](const Section &each) { section(each); });
    });
  }

private:
  template <typename Range, typename Write>
  void list(const char *name, const Range &range, Write write) {
    json.key(name);
    json.array([&] {
      for (const auto &each : range)
        write(each);
    });
  }
  void text(const char *name, const std::string &value) {
    json.key(name);
    json.value(value);
  }
  void numbers(const char *name, const std::vector<double> &values) {
    list(name, values, [&](double value) { json.real(value); });
  }
  void number(const char *name, double value) {
    json.key(name);
    json.real(value);
  }

  void curve(const Curve &curve) {
    json.object([&] {
      text("name", curve.name);
      numbers("times", curve.times);
      json.key("isBackground");
      json.boolean(curve.isBackground);
      list("labels", curve.labels, [&](const std::string &label) { json.value(label); });
    });
  }
  void grid(const char *name, const Grid &grid) {
    json.key(name);
    json.object([&] {
      list("rows", grid.rows, [&](const std::string &row) { json.value(row); });
      numbers("values", grid.values);
      text("note", grid.note);
    });
  }
  void section(const Section &section) {
    json.object([&] {
      text("title", section.title);
      list("sizes", section.sizes, [&](uint64_t size) { json.real(static_cast<double>(size)); });
      list("curves", section.curves, [&](const Curve &each) { curve(each); });
      list("baseline", section.baseline, [&](const Curve &each) { curve(each); });
      list("ranges", section.ranges, [&](const Range &range) {
        json.object([&] {
          number("curve", range.curve == Range::Baseline ? -1.0 : range.curve);
          number("begin", static_cast<double>(range.begin));
          number("end", static_cast<double>(range.end));
        });
      });
      list("details", section.details, [&](const Detail &detail) {
        json.object([&] {
          text("name", detail.name);
          grid("resources", detail.resources);
          grid("path", detail.path);
        });
      });
      list("histories", section.histories, [&](const History &history) {
        json.object([&] {
          number("bytes", static_cast<double>(history.bytes));
          list("calls", history.calls, [&](uint64_t call) { json.real(static_cast<double>(call)); });
          grid("shares", history.shares);
        });
      });
    });
  }

  JsonWriter json;
};

llvm::StringRef fileText(llvm::StringRef name) {
  return llvm::find_if(pageFiles(), [&](const EmbeddedFile &file) { return file.name == "page/" + name.str(); })->text;
}

} // namespace

void writePage(llvm::raw_ostream &out, const Page &page) {
  fillPage(out, fileText("page.html"), [&](llvm::StringRef place) {
    if (place == "title")
      llvm::printHTMLEscaped(page.title, out);
    else if (place == "style")
      out << fileText("page.css");
    else if (place == "data")
      DataWriter(out).page(page);
    else if (place == "script")
      for (const llvm::StringRef script : scripts)
        out << fileText(script);
    else
      llvm_unreachable("the template names a place that nothing fills");
  });
}

} // namespace gc3::report
