// SPDX-License-Identifier: Apache-2.0
#include "Show.h"
#include "gc3/Support/Quantity.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>
#include <tuple>

namespace gc3::tune {

using select::TuneFile;
using select::TuneRow;

/// Returns the smallest size of the bucket, such as "4 KiB".
static std::string sizeOf(uint32_t bucket) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return std::to_string(1u << bucket % 10) + " " + units[bucket / 10];
}

static void printContext(llvm::raw_ostream &out, const select::TuneContext &context) {
  out << "# " << context.collective << ", " << context.type << ", " << quantity(context.ranks, "rank") << " on "
      << quantity(context.hosts, "host") << ", " << (context.inPlace ? "in place" : "out of place")
      << "\n#      from  median (us)  spread         calls   share  program\n";
}

void printLearned(llvm::raw_ostream &out, const TuneFile &file) {
  out << "# machine: " << file.machine << "\n# bundle: " << select::digestText(file.bundle) << '\n';
  std::vector<const TuneRow *> rows;
  std::map<std::pair<uint32_t, uint32_t>, double> calls; // by context and bucket
  for (const TuneRow &row : file.rows) {
    rows.push_back(&row);
    calls[{row.context, row.bucket}] += static_cast<double>(row.calls);
  }
  std::sort(rows.begin(), rows.end(), [](const TuneRow *a, const TuneRow *b) {
    return std::tie(a->context, a->bucket, b->calls, a->arm) < std::tie(b->context, b->bucket, a->calls, b->arm);
  });
  uint32_t context = UINT32_MAX;
  for (const TuneRow *row : rows) {
    if (row->context != context)
      printContext(out, file.contexts[context = row->context]);
    out << llvm::format("%11s %12.2f %6.1f%% %13llu %6.1f%%  ", sizeOf(row->bucket).c_str(),
                        static_cast<double>(row->microseconds), 100 * static_cast<double>(row->spread),
                        static_cast<unsigned long long>(row->calls),
                        100 * static_cast<double>(row->calls) / calls[{row->context, row->bucket}])
        << row->arm << '\n';
  }
}

} // namespace gc3::tune
