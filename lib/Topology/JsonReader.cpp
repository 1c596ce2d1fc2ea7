// SPDX-License-Identifier: Apache-2.0
#include "JsonReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace gc3::topology {

static constexpr LinkKind kinds[] = {LinkKind::Other, LinkKind::NvLink, LinkKind::NvSwitch,
                                     LinkKind::Xgmi,  LinkKind::Pcie,   LinkKind::Network};
static_assert(std::size(kinds) == LinkKinds);

void JsonReader::fail(const std::string &path, const std::string &message) {
  if (!failed())
    error = path.empty() ? message : path + ": " + message;
}

std::optional<Members> JsonReader::object(const Value &value, std::initializer_list<llvm::StringRef> names) {
  const json::Object *result = value.value->getAsObject();
  if (!result) {
    fail(value.path, "must be an object");
    return {};
  }
  for (const auto &[key, unused] : *result)
    if (llvm::find(names, llvm::StringRef(key)) == names.end())
      fail(value.path, "unknown member '" + key.str() + "'; the members are " + llvm::join(names, ", "));
  return failed() ? std::nullopt : std::optional<Members>({result, value.path});
}

std::vector<Value> JsonReader::array(const Value &value) {
  const json::Array *values = value.value->getAsArray();
  std::vector<Value> result;
  if (!values) {
    fail(value.path, "must be an array");
    return result;
  }
  for (size_t i = 0; i < values->size(); ++i)
    result.push_back({&(*values)[i], value.path + "[" + std::to_string(i) + "]"});
  return result;
}

std::optional<Value> JsonReader::member(const Members &members, llvm::StringRef name, bool isNeeded) {
  if (const json::Value *value = members.object->get(name))
    return Value{value, members.path.empty() ? name.str() : members.path + "." + name.str()};
  if (isNeeded)
    fail(members.path, "'" + name.str() + "' is missing");
  return {};
}

uint32_t JsonReader::number(const Value &value, int64_t lowest, int64_t highest, const char *what) {
  std::optional<int64_t> result;
  if (auto integer = value.value->getAsInteger())
    result = *integer;
  if (!result || *result < lowest || *result > highest)
    fail(value.path, std::string(what) + " must be a whole number from " + std::to_string(lowest) + " to " +
                         std::to_string(highest) + (result ? ", not " + std::to_string(*result) : ""));
  return static_cast<uint32_t>(result.value_or(0));
}

double JsonReader::quantity(const Value &value, const char *what) {
  auto result = value.value->getAsNumber();
  if (!result || !std::isfinite(*result) || *result < 0)
    fail(value.path, std::string(what) + " must be a number of at least 0");
  return result ? *result : 0;
}

double JsonReader::rate(const Value &value, const char *what) {
  auto result = value.value->getAsNumber();
  if (!result || !std::isfinite(*result) || *result <= 0)
    fail(value.path, std::string(what) + " must be a number above 0");
  return result ? *result : 1;
}

bool JsonReader::flag(const Value &value) {
  if (auto boolean = value.value->getAsBoolean())
    return *boolean;
  fail(value.path, "must be true or false");
  return false;
}

std::string JsonReader::line(const Value &value) {
  auto text = value.value->getAsString();
  if (text && !text->empty() && llvm::none_of(*text, [](unsigned char c) { return c < 0x20; }))
    return text->str();
  fail(value.path, "must be a string of one line");
  return {};
}

LinkKind JsonReader::kind(const Value &value) {
  auto text = value.value->getAsString();
  std::string all;
  for (LinkKind kind : kinds) {
    if (text && *text == llvm::StringRef(name(kind)))
      return kind;
    all += (all.empty() ? "" : ", ") + std::string(name(kind));
  }
  fail(value.path, "must be one of " + all);
  return LinkKind::Other;
}

} // namespace gc3::topology
