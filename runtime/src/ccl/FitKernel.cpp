// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ccl/FitKernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace iris::ccl;

static constexpr size_t numTerms = 4;
using Terms = std::array<double, numTerms>;

double FittedKernel::estimate(const FitPoint &point) const {
  const double tiles = point.iterations * iterationUs;
  const double transfer = point.linkBytes * byteUs;
  return startUs + point.programs * programUs +
         (overlaps ? std::hypot(tiles, transfer) : tiles + transfer);
}

/// Solves the equations of the terms in `active`; nothing if they depend on
/// each other.
static std::optional<Terms>
solveNormal(const std::array<Terms, numTerms> &matrix, const Terms &right,
            unsigned active) {
  std::array<Terms, numTerms> a = matrix;
  Terms b = right;
  for (size_t i = 0; i < numTerms; ++i)
    if (!(active >> i & 1)) {
      for (size_t j = 0; j < numTerms; ++j)
        a[i][j] = a[j][i] = 0;
      a[i][i] = 1;
      b[i] = 0;
    }
  // The matrix is positive semidefinite, so that no rows need be exchanged.
  for (size_t i = 0; i < numTerms; ++i) {
    constexpr double singular = 1e-12;
    if (!(a[i][i] > singular * std::max(matrix[i][i], 1e-300)))
      return std::nullopt;
    for (size_t row = i + 1; row < numTerms; ++row) {
      const double factor = a[row][i] / a[i][i];
      for (size_t j = i; j < numTerms; ++j)
        a[row][j] -= factor * a[i][j];
      b[row] -= factor * b[i];
    }
  }
  Terms x = {};
  for (size_t i = numTerms; i-- > 0;) {
    x[i] = b[i];
    for (size_t j = i + 1; j < numTerms; ++j)
      x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
  return x;
}

/// The non-negative factors of the columns with the least squares of
/// (sum - 1) * weight. There are few terms: all sets of positive ones are
/// tried.
static Terms solveNonNegative(const std::vector<Terms> &rows,
                              const std::vector<double> &weights) {
  std::array<Terms, numTerms> matrix = {};
  Terms right = {};
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t i = 0; i < numTerms; ++i) {
      right[i] += weights[r] * rows[r][i];
      for (size_t j = 0; j < numTerms; ++j)
        matrix[i][j] += weights[r] * rows[r][i] * rows[r][j];
    }
  Terms best = {};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned active = 1; active < 1u << numTerms; ++active) {
    std::optional<Terms> x = solveNormal(matrix, right, active);
    if (!x || std::any_of(x->begin(), x->end(),
                          [](double value) { return !(value >= 0); }))
      continue;
    double error = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      double sum = -1;
      for (size_t i = 0; i < numTerms; ++i)
        sum += rows[r][i] * (*x)[i];
      error += weights[r] * sum * sum;
    }
    if (error < least) {
      least = error;
      best = *x;
    }
  }
  return best;
}

/// One fit, with the iterations and the transfer of each point scaled.
static FittedKernel fitScaled(const std::vector<FitPoint> &points,
                              const std::vector<std::array<double, 2>> &scales,
                              bool overlaps) {
  std::vector<Terms> rows;
  std::vector<double> weights;
  for (size_t i = 0; i < points.size(); ++i) {
    const FitPoint &p = points[i];
    rows.push_back({1 / p.us, p.programs / p.us,
                    scales[i][0] * p.iterations / p.us,
                    scales[i][1] * p.linkBytes / p.us});
    weights.push_back(p.weight);
  }
  const Terms x = solveNonNegative(rows, weights);
  FittedKernel fitted;
  fitted.startUs = x[0];
  fitted.programUs = x[1];
  fitted.iterationUs = x[2];
  fitted.byteUs = x[3];
  fitted.overlaps = overlaps;
  return fitted;
}

static double squaresOf(const std::vector<FitPoint> &points,
                        const FittedKernel &fitted) {
  double sum = 0;
  for (const FitPoint &p : points)
    sum += p.weight * std::pow(fitted.estimate(p) / p.us - 1, 2);
  return sum;
}

std::optional<FittedKernel>
iris::ccl::fitKernel(const std::vector<FitPoint> &points) {
  if (points.size() < numTerms)
    return std::nullopt;
  std::vector<std::array<double, 2>> scales(points.size(), {1, 1});
  FittedKernel best = fitScaled(points, scales, /*overlaps=*/false);
  double least = squaresOf(points, best);
  // hypot(a, b) = (a / h) a + (b / h) b with h = hypot(a, b): solved with the
  // factors of the previous solution.
  FittedKernel current = best;
  constexpr int maxSteps = 30;
  for (int step = 0; step < maxSteps; ++step) {
    for (size_t i = 0; i < points.size(); ++i) {
      const double a = points[i].iterations * current.iterationUs;
      const double b = points[i].linkBytes * current.byteUs;
      const double h = std::hypot(a, b);
      // A term that is 0 stays possible.
      constexpr double smallest = 1e-3;
      scales[i] = {h > 0 ? std::max(a / h, smallest) : 1,
                   h > 0 ? std::max(b / h, smallest) : 1};
    }
    current = fitScaled(points, scales, /*overlaps=*/true);
    const double squares = squaresOf(points, current);
    if (squares < least) {
      least = squares;
      best = current;
    }
  }
  for (const FitPoint &p : points)
    best.meanError += std::abs(best.estimate(p) / p.us - 1) /
                      static_cast<double>(points.size());
  return best;
}
