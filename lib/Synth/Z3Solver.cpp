// SPDX-License-Identifier: Apache-2.0
// Implements Solver with Z3's C++ API: the SAT solver for finite domains, with cardinalities. No other file includes
// Z3.
#include "Solver.h"
#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <z3++.h>

namespace gc3::synth {

namespace {

/// Interrupts Z3 while this object lives, if the time is up or an interrupt was requested.
class Watch {
public:
  Watch(z3::context &context, const Options &options)
      : thread([&context, &options, this] {
          std::unique_lock lock(mutex);
          while (!ended.wait_for(lock, std::chrono::milliseconds(50), [this] { return isEnded; }))
            if (options.isOver())
              context.interrupt(); // repeated, because an interrupt before the search begins has no effect
        }) {}
  ~Watch() {
    {
      std::lock_guard lock(mutex);
      isEnded = true;
    }
    ended.notify_one();
    thread.join();
  }
  Watch(const Watch &) = delete;
  Watch &operator=(const Watch &) = delete;

private:
  std::mutex mutex;
  std::condition_variable ended;
  bool isEnded = false;
  std::thread thread;
};

class Z3Solver : public Solver {
public:
  Z3Solver(uint32_t seed, const Options &options)
      : options(options), solver(context, "QF_FD"), parameters(context), variables(context) {
    parameters.set("random_seed", seed);
    parameters.set("ctrl_c", false); // the tool has its own handler
    // Nearly all sends are false in an algorithm. Times vary widely between runs, so frequent restarts help.
    parameters.set("phase", context.str_symbol("always_false"));
    parameters.set("restart", context.str_symbol("luby"));
    parameters.set("branching.heuristic", context.str_symbol(seed % 2 ? "chb" : "vsids"));
  }

  Literal newVariable() override {
    variables.push_back(context.bool_const(("v" + std::to_string(variables.size())).c_str()));
    return static_cast<Literal>(variables.size());
  }

  void addClause(const std::vector<Literal> &literals) override {
    z3::expr_vector clause(context);
    for (Literal literal : literals)
      clause.push_back(expression(literal));
    solver.add(z3::mk_or(clause));
  }

  void addAtMost(const std::vector<Term> &terms, uint32_t bound) override {
    z3::expr_vector literals(context);
    std::vector<int> weights;
    for (const Term &term : terms) {
      literals.push_back(expression(term.literal));
      weights.push_back(static_cast<int>(term.weight));
    }
    solver.add(z3::pble(literals, weights.data(), static_cast<int>(bound)));
  }

  Verdict solve(uint32_t maxConflicts) override {
    parameters.set("max_conflicts", maxConflicts);
    solver.set(parameters);
    Watch watch(context, options);
    try {
      switch (solver.check()) {
      case z3::sat: model = std::make_unique<z3::model>(solver.get_model()); return Verdict::Satisfiable;
      case z3::unsat: return Verdict::Unsatisfiable;
      case z3::unknown: break;
      }
    } catch (const z3::exception &problem) { // Z3 throws after some interrupts, and if memory runs out
      if (!options.isOver())
        throw std::runtime_error("Z3: " + std::string(problem.msg()));
    }
    return Verdict::Unknown;
  }

  bool isTrue(Literal literal) const override { return model->eval(expression(literal), true).is_true(); }

private:
  z3::expr expression(Literal literal) const {
    const z3::expr variable = variables[static_cast<int>(std::abs(literal)) - 1];
    return literal > 0 ? variable : !variable;
  }

  const Options &options;
  z3::context context;
  z3::solver solver;
  z3::params parameters;
  z3::expr_vector variables;
  std::unique_ptr<z3::model> model;
};

} // namespace

std::unique_ptr<Solver> makeSolver(uint32_t seed, const Options &options) {
  return std::make_unique<Z3Solver>(seed, options);
}

std::string solverVersion() {
  unsigned major = 0, minor = 0, build = 0, revision = 0;
  Z3_get_version(&major, &minor, &build, &revision);
  return "Z3 " + std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(build);
}

} // namespace gc3::synth
