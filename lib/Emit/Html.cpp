// SPDX-License-Identifier: Apache-2.0
// Fills title, style, scripts and the program's data into the page template.
#include "gc3/Emit/Html.h"
#include "PageData.h"
#include "gc3/Emit/Replay.h"
#include "gc3/Support/PageTemplate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <numeric>

using namespace gc3;
using namespace gc3::ir;

/// The scripts of the page, in the order in which the browser executes them.
static constexpr const char *scripts[] = {"model.js",    "colors.js", "layout.js",  "board.js",  "flights.js",
                                          "timeline.js", "source.js", "details.js", "player.js", "main.js"};

static llvm::StringRef fileText(llvm::StringRef name) {
  return llvm::find_if(emit::pageFiles(), [&](const EmbeddedFile &file) { return file.name == "html/" + name.str(); })
      ->text;
}

static void fill(llvm::raw_ostream &out, llvm::StringRef place, const Program &program, const emit::Replay &played,
                 const SourceManager &sources) {
  if (place == "title")
    llvm::printHTMLEscaped(program.info->name, out);
  else if (place == "style")
    out << fileText("page.css");
  else if (place == "data")
    emit::writePageData(out, program, played, sources);
  else if (place == "script")
    for (llvm::StringRef script : scripts)
      out << fileText(script);
  else
    llvm_unreachable("the template names a place that nothing fills");
}

void emit::writeHtml(llvm::raw_ostream &out, const Program &program, const SourceManager &sources) {
  const Replay played = replay(program);
  fillPage(out, fileText("page.html"), [&](llvm::StringRef place) { fill(out, place, program, played, sources); });
}

size_t emit::htmlSize(const Program &program) {
  size_t size = std::accumulate(program.bufferSizes.begin(), program.bufferSizes.end(), size_t(0));
  for (const Step &step : program.steps)
    size += step.count;
  return size;
}
