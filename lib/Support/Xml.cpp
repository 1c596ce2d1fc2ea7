// SPDX-License-Identifier: Apache-2.0
// Configures Expat to reject every dangerous feature of XML. A text with a DOCTYPE is an error, so the only entities
// are the five predefined ones.
#include "gc3/Support/Xml.h"
#include "llvm/ADT/StringExtras.h"
#include <expat.h>
#include <memory>

using namespace gc3;

const char *XmlTag::find(llvm::StringRef key) const {
  for (const char *const *pair = pairs; *pair; pair += 2)
    if (key == pair[0])
      return pair[1];
  return nullptr;
}

/// Parses the tag, which is well-formed: `<name key="value" key='value'>`, with optional blanks.
SourceRange XmlTag::place(llvm::StringRef key) const {
  llvm::StringRef rest = text.drop_front(1 + name.size());
  for (;;) {
    rest = rest.ltrim(" \t\r\n");
    llvm::StringRef own = rest.take_while([](char c) { return c != '=' && !llvm::isSpace(c); });
    size_t quote = rest.find_first_of("\"'");
    if (quote == llvm::StringRef::npos)
      return range;
    llvm::StringRef value = rest.drop_front(quote + 1);
    value = value.take_front(value.find(rest[quote]));
    auto begin = range.begin + static_cast<uint32_t>(value.data() - text.data());
    if (own == key)
      return {begin, begin + static_cast<uint32_t>(value.size())};
    rest = rest.drop_front(std::min(rest.size(), quote + value.size() + 2));
  }
}

namespace {

/// One parse. Expat's callbacks receive it as user data.
class Parse {
public:
  Parse(llvm::StringRef text, uint32_t base, Diagnostics &diags, llvm::function_ref<bool(const XmlTag &)> begin,
        llvm::function_ref<bool()> end)
      : text(text), base(base), diags(diags), begin(begin), end(end),
        parser(XML_ParserCreate("UTF-8"), XML_ParserFree) {}

  bool run();

private:
  static Parse &self(void *data) { return *static_cast<Parse *>(data); }
  static void XMLCALL onBegin(void *data, const XML_Char *name, const XML_Char **pairs);
  static void XMLCALL onEnd(void *data, const XML_Char *name);
  static void XMLCALL onText(void *data, const XML_Char *characters, int length);
  static void XMLCALL onDoctype(void *data, const XML_Char *name, const XML_Char *, const XML_Char *, int);

  /// Returns the place of the current event.
  SourceRange place() const;
  void refuse(const std::string &message) {
    diags.error(DiagId::Syntax, place(), message);
    stop();
  }
  void stop() {
    stopped = true;
    XML_StopParser(parser.get(), XML_FALSE);
  }

  llvm::StringRef text;
  uint32_t base;
  Diagnostics &diags;
  llvm::function_ref<bool(const XmlTag &)> begin;
  llvm::function_ref<bool()> end;
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser;
  bool stopped = false;
};

} // namespace

SourceRange Parse::place() const {
  auto at = static_cast<uint32_t>(std::max<XML_Index>(0, XML_GetCurrentByteIndex(parser.get())));
  return {base + at, base + at + static_cast<uint32_t>(XML_GetCurrentByteCount(parser.get()))};
}

void Parse::onBegin(void *data, const XML_Char *name, const XML_Char **pairs) {
  Parse &parse = self(data);
  if (parse.stopped) // Expat still reports the end of an empty element after a stop
    return;
  SourceRange range = parse.place();
  llvm::StringRef text = parse.text.substr(range.begin - parse.base, range.end - range.begin);
  if (!parse.begin({name, pairs, text, range}))
    parse.stop();
}

void Parse::onEnd(void *data, const XML_Char *) {
  Parse &parse = self(data);
  if (parse.stopped)
    return;
  if (!parse.end())
    parse.stop();
}

void Parse::onText(void *data, const XML_Char *characters, int length) {
  Parse &parse = self(data);
  bool blank = llvm::StringRef(characters, static_cast<size_t>(length)).trim(" \t\r\n").empty();
  if (!blank && !parse.stopped)
    parse.refuse("expected an element, found text");
}

void Parse::onDoctype(void *data, const XML_Char *, const XML_Char *, const XML_Char *, int) {
  self(data).refuse("a DOCTYPE is not supported; remove it");
}

bool Parse::run() {
  XML_SetUserData(parser.get(), this);
  XML_SetElementHandler(parser.get(), onBegin, onEnd);
  XML_SetCharacterDataHandler(parser.get(), onText);
  XML_SetStartDoctypeDeclHandler(parser.get(), onDoctype);
  // Pass the whole text at once: Expat would copy and rescan tokens that are split between calls.
  XML_Status status = XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
  if (stopped || status == XML_STATUS_OK)
    return !stopped;
  XML_Error error = XML_GetErrorCode(parser.get());
  diags.error(DiagId::Syntax, place(),
              error == XML_ERROR_JUNK_AFTER_DOC_ELEMENT
                  ? "expected the end of the file, or a comment, after the root element"
                  : std::string("invalid XML: ") + XML_ErrorString(error));
  return false;
}

bool gc3::readXml(llvm::StringRef text, uint32_t base, Diagnostics &diags,
                  llvm::function_ref<bool(const XmlTag &)> begin, llvm::function_ref<bool()> end) {
  size_t skipped = std::min(text.find('<'), text.size());
  return Parse(text.drop_front(skipped), base + static_cast<uint32_t>(skipped), diags, begin, end).run();
}
