// SPDX-License-Identifier: Apache-2.0
#include "CheckTuneFile.h"
#include "select/TuneFile.h"
#include <cmath>

namespace gc3::test {

static bool isInRange(const select::TuneFile &file, const select::TuneRow &row) {
  return row.context < file.contexts.size() && row.bucket <= select::lastBucket && !row.arm.empty() && row.calls > 0 &&
         std::isfinite(row.microseconds) && row.microseconds > 0 && std::isfinite(row.spread) && row.spread >= 0 &&
         row.lastUse >= 0;
}

std::string checkTuneFile(const std::string &text, uint32_t &accepted) {
  const select::TuneResult file = select::readTuneText(text, "file");
  if (!file.ok())
    return file.outcome().message.rfind("file:", 0) == 0 ? "" : "an error has no line";
  ++accepted;
  for (const select::TuneRow &row : file->rows)
    if (!isInRange(*file, row))
      return "a number is out of range";
  for (const select::TuneContext &context : file->contexts)
    if (context.type.empty() || context.collective.empty() || context.hosts == 0 || context.hosts > context.ranks)
      return "a context is out of range";
  const std::string written = select::writeTuneText(*file);
  const select::TuneResult again = select::readTuneText(written, "file");
  if (!again.ok())
    return "what was written is refused: " + again.outcome().message;
  if (again->rows.size() != file->rows.size() || select::writeTuneText(*again) != written)
    return "what was written differs when it is read again";
  return {};
}

} // namespace gc3::test
