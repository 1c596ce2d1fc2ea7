// SPDX-License-Identifier: Apache-2.0
// Times are written as microseconds with three decimals.
#include "trace/Events.h"

#include <cstdio>

namespace gc3::trace {

namespace {
constexpr size_t flushBytes = 1 << 20;

std::string microseconds(uint64_t nanoseconds) {
  char value[40];
  std::snprintf(value, sizeof value, "%llu.%03llu", static_cast<unsigned long long>(nanoseconds / 1000),
                static_cast<unsigned long long>(nanoseconds % 1000));
  return value;
}

/// Returns the first members of an event, which has no closing bracket yet.
std::string head(char phase, const Row &row, std::string_view name) {
  return std::string("{\"ph\":\"") + phase + "\",\"pid\":" + std::to_string(row.process) +
         ",\"tid\":" + std::to_string(row.thread) + ",\"name\":" + jsonString(name);
}
} // namespace

std::string jsonString(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (code < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", code);
      out += escape;
    } else
      out += c;
  }
  return out + "\"";
}

Arguments &Arguments::addJson(std::string_view key, const std::string &value) {
  if (!members.empty())
    members += ',';
  members.append(jsonString(key)).append(":").append(value);
  return *this;
}

void Events::separate() {
  if (text.size() >= flushBytes) {
    file.append(text);
    text.clear();
  }
  if (!text.empty())
    text += ",\n";
}

void Events::begin(char phase, const Row &row, std::string_view name) {
  separate();
  text += head(phase, row, name);
}

void Events::end(std::string_view arguments) {
  text.append(",\"args\":{").append(arguments).append("}}");
}

void Events::addTime(std::string_view key, uint64_t nanoseconds) {
  text.append(",\"").append(key).append("\":").append(microseconds(nanoseconds));
}

void Events::nameProcess(uint32_t process, std::string_view name) {
  begin('M', {process, 0}, "process_name");
  end(Arguments().add("name", name).text());
  begin('M', {process, 0}, "process_sort_index");
  end(Arguments().add("sort_index", process).text());
}

void Events::nameThread(const Row &row, std::string_view name, uint32_t position) {
  begin('M', row, "thread_name");
  end(Arguments().add("name", name).text());
  begin('M', row, "thread_sort_index");
  end(Arguments().add("sort_index", position).text());
}

void Events::addSpan(const Row &row, const Span &span, std::string_view name, std::string_view arguments) {
  begin('X', row, name);
  addTime("ts", span.begin - file.origin());
  addTime("dur", span.end - span.begin);
  end(arguments);
}

void Events::addNote(const Row &row, uint64_t when, std::string_view name, std::string_view arguments) {
  begin('i', row, name);
  addTime("ts", when - file.origin());
  text += ",\"s\":\"p\"";
  end(arguments);
}

/// Perfetto reads an id that is a string as a hexadecimal number. JavaScript would round a long number.
std::string arrowText(const ArrowEnd &end, std::string_view time) {
  char id[24];
  std::snprintf(id, sizeof id, "0x%llx", static_cast<unsigned long long>(end.id));
  return head(end.isHead ? 'f' : 's', end.row, "message") + ",\"cat\":\"message\",\"id\":\"" + id + "\"" +
         (end.isHead ? ",\"bp\":\"e\"" : "") + ",\"ts\":" + std::string(time) + "}";
}

void Events::addArrow(const ArrowEnd &end, uint64_t when) {
  separate();
  text += arrowText(end, microseconds(when - file.origin()));
}

} // namespace gc3::trace
