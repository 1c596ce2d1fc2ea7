// SPDX-License-Identifier: Apache-2.0
#include "ReadResults.h"
#include "gc3/Topology/Json.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <cmath>

namespace gc3::sim {

namespace json = llvm::json;

namespace {

/// A place in a file, for messages.
std::string placed(const std::string &place, const std::string &message) {
  return place + ": " + message;
}

/// Returns true for a finite number above 0.
bool isTime(double time) {
  return std::isfinite(time) && time > 0;
}

class JsonRows {
public:
  explicit JsonRows(std::vector<Measured> &found) : rows(found) {}

  std::string read(const json::Object &file) {
    const bool hasPoints = file.getArray("points") != nullptr;
    const json::Array *array = file.getArray(hasPoints ? "points" : "rows");
    if (!array)
      return "the object has neither 'rows' nor 'points'";
    for (size_t i = 0; i < array->size(); ++i) {
      const std::string place = std::string(hasPoints ? "points[" : "rows[") + std::to_string(i) + "]";
      const json::Object *object = (*array)[i].getAsObject();
      if (!object)
        return placed(place, "must be an object");
      if (std::string problem = readRow(*object); !problem.empty())
        return placed(place, problem);
    }
    return {};
  }

private:
  static std::string textOf(const json::Object &object, llvm::StringRef name) {
    const auto text = object.getString(name);
    return text ? text->str() : "";
  }

  /// Sets `time` to a member that is a number of microseconds, if there is one.
  static std::string readTime(const json::Object &object, llvm::StringRef name, double &time) {
    const json::Value *value = object.get(name);
    if (!value || value->getAsNull())
      return {};
    const auto number = value->getAsNumber();
    if (!number || !(*number >= 0) || !std::isfinite(*number))
      return placed(name.str(), "must be a number of microseconds of at least 0");
    time = *number;
    return {};
  }

  std::string readTimes(const json::Object &object, Measured &row) {
    if (object.get("time")) {
      std::string problem = readTime(object, "time", row.outOfPlace);
      row.inPlace = row.outOfPlace;
      return problem;
    }
    const std::pair<llvm::StringRef, double *> placements[] = {{"out_of_place", &row.outOfPlace},
                                                               {"in_place", &row.inPlace}};
    bool isThere = false;
    for (const auto &[name, time] : placements) {
      isThere |= object.get(name) != nullptr;
      if (const json::Object *placement = object.getObject(name))
        if (std::string problem = readTime(*placement, "time_us", *time); !problem.empty())
          return placed(name.str(), problem);
    }
    return isThere ? "" : "'time' is missing";
  }

  std::string readRow(const json::Object &object) {
    Measured row;
    row.machine = textOf(object, "machine"), row.collective = textOf(object, "collective");
    row.program = textOf(object, object.get("kernel") ? "kernel" : "program");
    if (const std::string type = textOf(object, "type"); !type.empty())
      row.type = type;
    const auto bytes = object.getInteger(object.get("bytes") ? "bytes" : "size");
    if (!bytes || *bytes < 0)
      return "'size' must be a whole number of at least 0";
    row.bytes = static_cast<uint64_t>(*bytes);
    if (object.get("ranks")) {
      const auto ranks = object.getInteger("ranks");
      if (!ranks || *ranks < 1 || *ranks > INT32_MAX)
        return "'ranks' must be a whole number above 0";
      row.ranks = static_cast<uint32_t>(*ranks);
    }
    if (const auto root = object.getInteger("root"); root && *root >= 0 && *root <= INT32_MAX)
      row.root = static_cast<int32_t>(*root);
    if (std::string problem = readTimes(object, row); !problem.empty())
      return problem;
    if (row.bytes > 0 && (row.outOfPlace > 0 || row.inPlace > 0))
      rows.push_back(std::move(row));
    return {};
  }

  std::vector<Measured> &rows;
};

/// Removes what `mpirun --tag-output` or `srun -l` puts before a line: "[1,0]<stdout>:" or "0: ".
llvm::StringRef withoutPrefix(llvm::StringRef line) {
  const llvm::StringRef label = line.take_until([](char c) { return c == ':'; });
  const bool isMpi = label.startswith("[") && label.endswith(">");
  const bool isSlurm = !label.empty() && label.find_first_not_of("0123456789") == label.npos;
  return (isMpi || isSlurm) && label.size() < line.size() ? line.drop_front(label.size() + 1).trim() : line;
}

/// Returns the collective of a test of nccl-tests, such as "all_reduce_perf".
std::string collectiveOf(llvm::StringRef test) {
  test.consume_back("_perf");
  if (test == "all_reduce" || test == "all_gather")
    return "all" + test.drop_front(4).str();
  return test.str();
}

/// The table of nccl-tests, among other lines. gc3-run adds the name of the program, and a line such as "# allreduce on
/// 8 ranks".
class TableRows {
public:
  explicit TableRows(std::vector<Measured> &found) : rows(found) {}

  std::string read(llvm::StringRef text) {
    for (unsigned number = 1; !text.empty(); ++number) {
      auto [line, rest] = text.split('\n');
      text = rest;
      line = withoutPrefix(line.trim());
      std::string problem;
      if (line.consume_front("#"))
        readComment(line.trim());
      else
        problem = readLine(line);
      if (!problem.empty())
        return placed("line " + std::to_string(number), problem);
    }
    return {};
  }

private:
  void readComment(llvm::StringRef line) {
    uint32_t number = 0;
    if (line.consume_front("Collective test starting:"))
      return void(collective = collectiveOf(line.trim()));
    if (line.startswith("nThread")) // the first line of a test
      return void(ranks = 0);
    if (line.consume_front("Rank ")) {
      if (!line.ltrim().consumeInteger(10, number) && number < INT32_MAX)
        ranks = std::max(ranks, number + 1);
      return;
    }
    const auto [before, after] = line.split(" on ");
    const llvm::StringRef word = after.split(' ').first;
    if (word.getAsInteger(10, number) || number == 0 || !after.drop_front(word.size()).startswith(" rank"))
      return;
    collective = before.str(), ranks = number;
  }

  /// A row begins with two whole numbers. Other lines are not part of the table.
  std::string readLine(llvm::StringRef line) {
    llvm::SmallVector<llvm::StringRef, 16> words;
    line.split(words, ' ', -1, false);
    uint64_t number = 0;
    if (words.size() < 2 || words[0].getAsInteger(10, number) || words[1].getAsInteger(10, number))
      return {};
    return readRow(words);
  }

  /// size count type redop root, then for each placement time algbw busbw #wrong, then the program.
  std::string readRow(llvm::ArrayRef<llvm::StringRef> words) {
    if (words.size() < 13)
      return "a row has at least 13 columns";
    Measured row;
    row.collective = collective, row.ranks = ranks > 1 ? ranks : 0, row.type = words[2].str();
    if (words[0].getAsInteger(10, row.bytes))
      return "the size must be a whole number, not '" + words[0].str() + "'";
    if (words[4].getAsInteger(10, row.root))
      row.root = -1;
    if (!readTime(words[5], row.outOfPlace) || !readTime(words[9], row.inPlace))
      return "a time must be a number of microseconds or '-'";
    for (const llvm::StringRef wrong : {words[8], words[12]})
      if (uint64_t count = 0; !wrong.getAsInteger(10, count) && count != 0)
        return "the call has " + wrong.str() + " wrong elements";
    if (words.size() > 13)
      row.program = words[13].str();
    if (row.bytes > 0 && (row.outOfPlace > 0 || row.inPlace > 0))
      rows.push_back(std::move(row));
    return {};
  }

  static bool readTime(llvm::StringRef word, double &time) {
    return word == "-" || (!word.getAsDouble(time) && isTime(time));
  }

  std::vector<Measured> &rows;
  std::string collective;
  uint32_t ranks = 0;
};

} // namespace

std::string readResults(llvm::StringRef text, std::vector<Measured> &rows) {
  const size_t before = rows.size();
  std::string problem;
  if (text.ltrim().startswith("{")) {
    if (topology::isTooDeep(text.str()))
      return "nested too deeply";
    llvm::Expected<json::Value> value = json::parse(text);
    if (!value)
      return llvm::toString(value.takeError());
    problem = JsonRows(rows).read(*value->getAsObject());
  } else {
    problem = TableRows(rows).read(text);
  }
  return problem.empty() && rows.size() == before ? "there are no measured times" : problem;
}

} // namespace gc3::sim
