// SPDX-License-Identifier: Apache-2.0
// Chooses the arms of a communicator's calls from the times of its earlier calls (docs/selection.md). Maps requests to
// contexts and buckets, and has a selector for each context.
//
// Not thread-safe.
#pragma once

#include "core/Arm.h"
#include "core/ArmSource.h"
#include "core/TuneOptions.h"
#include "select/Selector.h"
#include "select/TuneFile.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace gc3::core {

/// Whether a call is in place. Ranks can differ in this, so a choice uses what all ranks announced with an earlier
/// call: InPlace if that call was in place on at least one rank.
enum class CallPlace : uint8_t { Apart, InPlace };

/// Whether calls of other communicators of the process are in flight.
enum class Traffic : uint8_t { Alone, Shared };

/// What times depend on, and ranks can see differently: a call has it if at least one rank sees it.
struct CallConditions {
  static CallConditions of(bool isInPlace, bool isShared) {
    return {isInPlace ? CallPlace::InPlace : CallPlace::Apart, isShared ? Traffic::Shared : Traffic::Alone};
  }
  CallPlace place{};
  Traffic traffic{};
  bool operator==(const CallConditions &) const = default;
};

/// What times of a communicator depend on, except its machine and its bundle.
struct CommunicatorShape {
  uint32_t ranks = 1, hosts = 1;
};

class OnlineSelection {
public:
  /// `source` must outlive this object. `earlier` is what earlier jobs have learned on this machine with the same
  /// bundles, for communicators of any shape. It must be identical on all ranks. `shapes` has the shapes of programs,
  /// if the options want them; empty: all programs have the default shape.
  OnlineSelection(ArmSource &source, const TuneOptions &options, const CommunicatorShape &shape = {},
                  select::TuneFile earlier = {}, ShapeRule shapes = {});

  /// Calls that have the same arms, datatype, operation and traffic.
  struct Family {
    std::string collective;      ///< such as "broadcast(root = 1)"
    std::string type;            ///< datatype and operation, such as "float/sum"
    std::vector<Arm> arms;       ///< first each program in its default shape
    std::vector<bool> hasChoice; ///< by bucket: several arms can run before any is excluded
    select::Arms known;          ///< what is known about `arms` before the first call
    std::array<std::unique_ptr<select::Selector>, 2> selectors; ///< by CallPlace; null: not needed yet
  };
  /// Calls of a family that have about the same size. `family` is null if their arm is fixed.
  struct Kind {
    Family *family = nullptr;
    uint32_t bucket = 0;
  };
  /// Returns the kind of a valid request, or an error of ArmSource::arms(). The kind of a call that is an error has no
  /// family. The kinds of a request have the same arms for any traffic.
  Result<Kind> find(const Request &request, Traffic traffic = Traffic::Alone);

  /// The choice for one call, and for `repeats` next calls of the kind.
  struct Decision {
    Kind kind;
    CallPlace place{};
    uint32_t arm = 0;
    uint32_t favourite = 0; ///< the arm of the repeats
    uint32_t repeats = 0;   ///< they are not timed
  };
  /// Chooses the arm of a call. The kind must have a family.
  Decision choose(const Kind &kind, CallPlace place);
  /// Adds the time of a call, in microseconds; NaN: unknown. Logs changes of choices if GC3_DEBUG is INFO.
  void add(const Decision &decision, float microseconds) {
    add(decision, microseconds, decision.kind, select::Timing::Cheap);
  }
  /// Adds the time of a call of a kind: the choice may have expected other traffic. The time counts for the place that
  /// the choice expected. Otherwise, if a choice for one place always meets a call in the other, it gets no times.
  void add(const Decision &decision, float microseconds, const Kind &kind, select::Timing timing);
  /// Returns where a kind's first calls probably are: in place if most calls of earlier jobs were.
  CallPlace usualPlace(const Kind &kind) const;
  /// Returns the index of the arm of the next call that does not explore.
  uint32_t favouriteIndex(const Kind &kind, CallPlace place) const;
  /// Returns the arm of the next call that does not explore.
  Arm favourite(const Kind &kind, CallPlace place) const;

  /// Returns what earlier jobs have learned, with the times of this job.
  select::TuneFile learned() const;

  /// Removes a program that turned out not to run, because the ranks could not load it.
  void exclude(uint32_t program);

  /// Returns the name of a program, or "NCCL".
  const char *nameOf(uint32_t program) const;
  /// Returns a hash of all choices and times so far.
  uint64_t digest() const;

  struct Counters {
    uint64_t calls = 0, explored = 0, changes = 0;
    double microseconds = 0, explorationMicroseconds = 0;
  };
  Counters counters() const;

private:
  select::Selector &selectorOf(Family &family, CallPlace place);
  std::unique_ptr<select::Selector> makeSelector(const Family &family, CallPlace place, select::Budget &budget) const;
  select::TuneContext contextOf(const Family &family, CallPlace place) const;
  void teach(select::Selector &selector, const Family &family, CallPlace place) const;
  void addRows(select::TuneFile &own, const Family &family, CallPlace place) const;
  std::string nameInFiles(const Arm &arm) const;
  Family makeFamily(const Request &request, std::string collective, std::string type,
                    const std::vector<uint32_t> &programs) const;
  void predict(const std::vector<uint32_t> &programs, select::Arms &known) const;
  void addShapes(const Request &request, Family &family) const;
  uint32_t fixedFor(const std::vector<uint32_t> &programs, double bytes) const;
  void logChange(const Kind &kind, uint32_t before, const select::Selector &selector) const;

  ArmSource &source;
  const TuneOptions options;
  const CommunicatorShape shape;
  const select::TuneFile earlier;
  const ShapeRule shapes;
  select::Budget budget;
  /// By collective, type and kind of calls: only calls by name can have programs with other buffers. Then by the only
  /// program that may run the calls, or `anyProgram`.
  std::map<std::tuple<std::string, std::string, CallKind, int64_t>, Family> families;
  /// Ranks can see the first request of a family at different times, so later families exclude these programs, too.
  std::vector<uint32_t> excluded;
  uint64_t calls = 0, explored = 0, changes = 0;
};

} // namespace gc3::core
