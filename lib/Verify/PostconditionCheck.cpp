// SPDX-License-Identifier: Apache-2.0
// Checks postconditions on slots: chunk c of the collective is slots [c s, (c + 1) s) with s slots per chunk. Part i of
// an output chunk must hold part i of every input chunk that the collective names.
#include "Stages.h"
#include "gc3/Support/Quantity.h"

using namespace gc3::ir;
using namespace gc3::verify;

static std::string place(uint64_t key, uint32_t subdivision) {
  auto rank = static_cast<uint32_t>(key >> 32);
  auto slot = static_cast<uint32_t>(key);
  return "input(" + std::to_string(rank) + ", " + std::to_string(slot / subdivision) + ")";
}

/// Describes the difference between two values. For exact values, names the first few contributions that differ.
static std::string difference(const HashDomain &, HashDomain::Value, HashDomain::Value, uint32_t) {
  return "holds the wrong contributions; --verify=exact names them";
}

static std::string difference(const ExactDomain &domain, ExactDomain::Value held, ExactDomain::Value wanted,
                              uint32_t subdivision) {
  static constexpr size_t shown = 8;
  const std::vector<ExactDomain::Element> &a = domain.elements(held);
  const std::vector<ExactDomain::Element> &b = domain.elements(wanted);
  std::vector<std::string> parts;
  size_t differences = 0;
  auto add = [&](std::string text) {
    if (++differences <= shown)
      parts.push_back(std::move(text));
  };
  for (size_t i = 0, j = 0; i != a.size() || j != b.size();) {
    if (j == b.size() || (i != a.size() && a[i].key < b[j].key)) {
      add("unexpected " + place(a[i].key, subdivision));
      ++i;
    } else if (i == a.size() || b[j].key < a[i].key) {
      add("missing " + place(b[j].key, subdivision));
      ++j;
    } else {
      if (a[i].times != b[j].times)
        add(place(a[i].key, subdivision) + " counted " + gc3::timesText(a[i].times) +
            (a[i].times == 2 && b[j].times == 1 ? "" : " instead of " + gc3::timesText(b[j].times)));
      ++i, ++j;
    }
  }
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : "; ") + part;
  if (differences > shown)
    text += "; and " + std::to_string(differences - shown) + " more";
  return text;
}

namespace {

/// The value that a slot must hold, and the position of the contribution that comes from furthest back in its block.
template <typename Domain>
struct Wanted {
  typename Domain::Value value = Domain::unset();
  uint32_t furthest = 0; ///< the largest SlotLengths::end of a contribution
};

/// Wanted values by (value of the postcondition, part of the chunk), computed on first use.
template <typename Domain>
class WantedValues {
public:
  WantedValues(const Program &program, Domain &domain)
      : post(program.info->collective.post), subdivision(program.subdivision), domain(domain), lengths(program),
        values(size_t(post.valueCount()) * subdivision), known(values.size()) {}

  const Wanted<Domain> &get(uint32_t value, uint32_t part) {
    size_t index = size_t(value) * subdivision + part;
    if (!known[index]) {
      known[index] = 1;
      values[index] = make(value, part);
    }
    return values[index];
  }

private:
  Wanted<Domain> make(uint32_t value, uint32_t part) {
    Wanted<Domain> wanted;
    typename Domain::Sum sum(domain);
    for (uint32_t i = post.valueBegin[value]; i != post.valueBegin[value + 1]; ++i) {
      const Run &run = post.runs[i];
      for (uint32_t k = 0; k != run.length; ++k) {
        uint32_t rank = run.rank + k * static_cast<uint32_t>(run.rankStride);
        uint32_t slot = (run.index + k * static_cast<uint32_t>(run.indexStride)) * subdivision + part;
        sum.add(rank, slot);
        wanted.furthest = std::max(wanted.furthest, lengths.end(InputBuffer, slot));
      }
    }
    wanted.value = sum.value();
    return wanted;
  }

  const Postcondition &post;
  uint32_t subdivision;
  Domain &domain;
  SlotLengths lengths;
  std::vector<Wanted<Domain>> values;
  std::vector<uint8_t> known;
};

} // namespace

/// Returns the name of the output chunk of a finding.
static std::string outputName(const Program &program, uint32_t rank, uint32_t index, uint32_t part) {
  std::string text = "output(" + std::to_string(rank) + ", " + std::to_string(index) + ")";
  if (program.subdivision != 1)
    text += " part " + std::to_string(part + 1) + " of " + std::to_string(program.subdivision);
  return text;
}

void gc3::verify::checkCounts(const Program &program, std::vector<Finding> &findings) {
  const Collective &collective = program.info->collective;
  std::vector<uint64_t> contributions; // by value
  for (uint32_t value = 0; value != collective.post.valueCount(); ++value)
    contributions.push_back(collective.post.contributions(value));
  if (std::all_of(contributions.begin(), contributions.end(), [](uint64_t n) { return n <= HashDomain::mostCounted; }))
    return;
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    for (uint32_t index = 0; index != collective.size(rank, OutputBuffer); ++index) {
      uint32_t number = collective.post.wanted(rank, index);
      if (number == Postcondition::Anything || contributions[number - 1] <= HashDomain::mostCounted)
        continue;
      findings.push_back({Finding::TooLarge,
                          "output(" + std::to_string(rank) + ", " + std::to_string(index) + ") is promised " +
                              std::to_string(contributions[number - 1]) +
                              " contributions, too many to count by hashes; --verify=exact counts them",
                          None,
                          {}});
      return;
    }
  }
}

template <typename Domain>
void gc3::verify::checkPostcondition(const Program &program, const SlotMap &map,
                                     const std::vector<typename Contents<Domain>::Held> &memory, Domain &domain,
                                     uint32_t maxFindings, Verdict &verdict) {
  const Collective &collective = program.info->collective;
  WantedValues<Domain> wantedValues(program, domain);
  SlotLengths lengths(program);
  verdict.wholeSlots = false;
  for (uint32_t rank = 0; rank != collective.ranks; ++rank) {
    uint32_t size = collective.size(rank, OutputBuffer);
    if (size == 0)
      continue;
    uint32_t output = map.first(collective, rank, OutputBuffer, program.subdivision);
    for (uint32_t index = 0; index != size; ++index) {
      uint32_t number = collective.post.wanted(rank, index);
      if (number == Postcondition::Anything)
        continue;
      uint32_t first = output + index * program.subdivision;
      for (uint32_t part = 0; part != program.subdivision; ++part) {
        const auto &held = memory[first + part];
        const Wanted<Domain> &wanted = wantedValues.get(number - 1, part);
        uint32_t own = lengths.end(OutputBuffer, index * program.subdivision + part);
        verdict.wholeSlots |= held.furthest > std::max(own, wanted.furthest);
        if (held.value == wanted.value)
          continue;
        if (verdict.findings.size() == maxFindings)
          return;
        verdict.findings.push_back(
            {Finding::Postcondition,
             outputName(program, rank, index, part) +
                 (held.value == Domain::unset()
                      ? " is never written"
                      : ": " + difference(domain, held.value, wanted.value, program.subdivision)),
             None,
             {}});
      }
    }
  }
}

template void gc3::verify::checkPostcondition(const Program &, const SlotMap &,
                                              const std::vector<Contents<HashDomain>::Held> &, HashDomain &, uint32_t,
                                              Verdict &);
template void gc3::verify::checkPostcondition(const Program &, const SlotMap &,
                                              const std::vector<Contents<ExactDomain>::Held> &, ExactDomain &, uint32_t,
                                              Verdict &);
