// SPDX-License-Identifier: Apache-2.0
// Levenberg-Marquardt over the logarithms of the constants, with a Jacobian from differences. Dependent columns of the
// Jacobian are found by Gram-Schmidt.
#include "gc3/Simulate/Fit.h"
#include <algorithm>
#include <cmath>
#include <optional>

namespace gc3::simulate {

namespace {

constexpr double Difference = 0.01;       ///< change of a constant's logarithm for the Jacobian
constexpr double LeastEffect = 1e-4;      ///< root mean square of the change of a time's logarithm, for a change by 1
constexpr double LeastAngle = 0.02;       ///< sine of the angle between a column and the space of the earlier ones
constexpr double LargestStep = 0.7;       ///< of a constant's logarithm, in one iteration
constexpr double LeastImprovement = 1e-9; ///< relative, of the sum of squares
constexpr int MostIterations = 60, MostTries = 8;

using Vector = std::vector<double>;

double dot(const Vector &a, const Vector &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

Vector exponentials(const Vector &logarithms) {
  Vector values;
  for (double each : logarithms)
    values.push_back(std::exp(each));
  return values;
}

/// Computes the logarithms of the times.
std::string evaluate(const Model &model, const Vector &logarithms, Vector &times) {
  if (std::string problem = model(exponentials(logarithms), times); !problem.empty())
    return problem;
  for (double &time : times) {
    if (!(time > 0))
      return "a predicted time is 0";
    time = std::log(time);
  }
  return {};
}

/// The change of the logarithms of all times by that of each constant: a column for each constant.
std::string jacobian(const Model &model, const Vector &point, const Vector &times, std::vector<Vector> &columns) {
  columns.assign(point.size(), {});
  for (size_t i = 0; i < point.size(); ++i) {
    Vector moved = point;
    moved[i] += Difference;
    if (std::string problem = evaluate(model, moved, columns[i]); !problem.empty())
      return problem;
    for (size_t row = 0; row < times.size(); ++row)
      columns[i][row] = (columns[i][row] - times[row]) / Difference;
  }
  return {};
}

/// Solves a symmetric positive definite system in place, by Gaussian elimination with pivots.
Vector solve(std::vector<Vector> matrix, Vector right) {
  const size_t n = right.size();
  for (size_t i = 0; i < n; ++i) {
    size_t pivot = i;
    for (size_t row = i + 1; row < n; ++row)
      if (std::abs(matrix[row][i]) > std::abs(matrix[pivot][i]))
        pivot = row;
    std::swap(matrix[i], matrix[pivot]);
    std::swap(right[i], right[pivot]);
    for (size_t row = i + 1; row < n; ++row) {
      const double factor = matrix[row][i] / matrix[i][i];
      for (size_t column = i; column < n; ++column)
        matrix[row][column] -= factor * matrix[i][column];
      right[row] -= factor * right[i];
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t column = i + 1; column < n; ++column)
      right[i] -= matrix[i][column] * right[column];
    right[i] /= matrix[i][i];
  }
  return right;
}

/// Returns the damped step from the normal equations. Constants without effect do not move.
Vector stepOf(const std::vector<Vector> &columns, const Vector &residuals, double damping) {
  const size_t n = columns.size();
  std::vector<Vector> matrix(n, Vector(n));
  Vector right(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j)
      matrix[i][j] = dot(columns[i], columns[j]);
    matrix[i][i] = matrix[i][i] * (1 + damping) + 1e-12;
    right[i] = -dot(columns[i], residuals);
  }
  Vector step = solve(std::move(matrix), std::move(right));
  for (double &each : step)
    each = std::clamp(each, -LargestStep, LargestStep);
  return step;
}

class Fitter {
public:
  Fitter(const Model &model, const Vector &measured, Vector start) : model(model), point(std::move(start)) {
    for (double time : measured)
      wanted.push_back(std::log(time));
  }

  std::string run() {
    if (std::string problem = evaluate(model, point, times); !problem.empty())
      return problem;
    for (int i = 0; i < MostIterations; ++i) {
      bool isBetter = false;
      if (std::string problem = iterate(isBetter); !problem.empty())
        return problem;
      if (!isBetter)
        break;
    }
    return {};
  }

  const Vector &logarithms() const { return point; }
  const Vector &predictions() const { return times; }

private:
  Vector residualsOf(const Vector &predicted) const {
    Vector residuals = predicted;
    for (size_t i = 0; i < residuals.size(); ++i)
      residuals[i] -= wanted[i];
    return residuals;
  }

  /// Tries steps with more and more damping until one reduces the sum of squares.
  std::string iterate(bool &isBetter) {
    std::vector<Vector> columns;
    if (std::string problem = jacobian(model, point, times, columns); !problem.empty())
      return problem;
    const Vector residuals = residualsOf(times);
    const double before = dot(residuals, residuals);
    for (int i = 0; i < MostTries; ++i, damping *= 4) {
      const Vector step = stepOf(columns, residuals, damping);
      Vector next = point, predicted;
      for (size_t c = 0; c < next.size(); ++c)
        next[c] += step[c];
      if (std::string problem = evaluate(model, next, predicted); !problem.empty())
        return problem;
      const Vector left = residualsOf(predicted);
      const double after = dot(left, left);
      if (!(after < before))
        continue;
      point = next, times = predicted;
      damping = std::max(damping / 8, 1e-9);
      isBetter = before - after > LeastImprovement * before && after > 1e-24;
      return {};
    }
    return {};
  }

  const Model &model;
  Vector point, times, wanted; ///< logarithms
  double damping = 1e-2;
};

/// Finds columns that depend on earlier ones.
class Dependence {
public:
  explicit Dependence(const std::vector<Vector> &all) : columns(all) {}

  /// Adds a column. Returns nothing if it is independent of those before.
  std::optional<Indistinct> add(uint32_t number) {
    Vector rest = columns[number], shares(columns.size());
    shares[number] = 1;
    const double norm = length(rest);
    if (norm < LeastEffect * std::sqrt(static_cast<double>(rest.size())))
      return Indistinct{number, {}};
    for (int pass = 0; pass < 2; ++pass) // twice, against rounding errors
      for (size_t b = 0; b < basis.size(); ++b) {
        const double part = dot(rest, basis[b].direction);
        subtract(rest, part, basis[b].direction);
        subtract(shares, part, basis[b].shares);
      }
    const double left = length(rest);
    if (left < LeastAngle * norm)
      return Indistinct{number, contributors(number, shares, norm)};
    for (Vector *each : {&rest, &shares})
      for (double &value : *each)
        value /= left;
    basis.push_back({std::move(rest), std::move(shares)});
    return std::nullopt;
  }

private:
  /// A direction of length 1: the sum of all columns times their shares.
  struct Direction {
    Vector direction, shares;
  };
  static double length(const Vector &vector) { return std::sqrt(dot(vector, vector)); }
  static void subtract(Vector &from, double factor, const Vector &vector) {
    for (size_t i = 0; i < from.size(); ++i)
      from[i] -= factor * vector[i];
  }

  /// Returns the other columns whose multiples contribute to the column noticeably.
  std::vector<uint32_t> contributors(uint32_t number, const Vector &shares, double norm) const {
    std::vector<uint32_t> found;
    for (uint32_t i = 0; i < number; ++i)
      if (std::abs(shares[i]) * length(columns[i]) > 0.1 * norm)
        found.push_back(i);
    return found;
  }

  const std::vector<Vector> &columns;
  std::vector<Direction> basis;
};

} // namespace

std::string findIndistinct(const Model &model, const std::vector<double> &values, std::vector<Indistinct> &found) {
  Vector point, times;
  for (double value : values)
    point.push_back(std::log(value));
  std::vector<Vector> columns;
  std::string problem = evaluate(model, point, times);
  if (problem.empty())
    problem = jacobian(model, point, times, columns);
  if (!problem.empty())
    return problem;
  Dependence dependence(columns);
  for (uint32_t i = 0; i < columns.size(); ++i)
    if (std::optional<Indistinct> dependent = dependence.add(i))
      found.push_back(std::move(*dependent));
  return {};
}

std::string fit(const Model &model, const std::vector<double> &measured, std::vector<double> &values,
                std::vector<double> &times) {
  Vector start;
  for (double value : values)
    start.push_back(std::log(value));
  Fitter fitter(model, measured, std::move(start));
  std::string problem = fitter.run();
  values = exponentials(fitter.logarithms());
  times = exponentials(fitter.predictions());
  return problem;
}

} // namespace gc3::simulate
