// SPDX-License-Identifier: Apache-2.0
// Fits constants of a model to measured times: finds the values with the smallest sum of squared logarithms of
// predicted / measured. Numerical only; the model is a function.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gc3::simulate {

/// Sets `times` to the predictions with these values of the constants. All values are above 0. Returns an error text,
/// or an empty string.
using Model = std::function<std::string(const std::vector<double> &values, std::vector<double> &times)>;

/// A constant that measurements can't determine.
struct Indistinct {
  uint32_t constant;
  std::vector<uint32_t> from; ///< constants that change the times in the same way; empty: no time depends on it
};

/// Finds the constants that the rows can't distinguish from earlier ones, near `values`. To a change of such a constant
/// by 1 %, the times react as to a combination of changes of the earlier constants, or not at all. Returns an error
/// text of the model, or an empty string. Calls the model once for each constant, and once more.
std::string findIndistinct(const Model &model, const std::vector<double> &values, std::vector<Indistinct> &found);

/// Changes `values` to fit `measured` (microseconds, above 0), and sets `times` to the predictions. Local: `values`
/// must be a reasonable start. Deterministic. Returns an error text of the model, or an empty string.
std::string fit(const Model &model, const std::vector<double> &measured, std::vector<double> &values,
                std::vector<double> &times);

} // namespace gc3::simulate
