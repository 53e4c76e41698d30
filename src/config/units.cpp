#include "config/units.h"

#include <array>
#include <cstddef>
#include <limits>

#include "config/text.h"

namespace torchtrace::config {
namespace {

struct Unit {
  const char* name;
  std::uint64_t factor;
};

// Binary and decimal units side by side, by size.
constexpr std::array<Unit, 7> kByteUnits{{{"B", 1},
                                          {"KB", 1000},
                                          {"KiB", 1ULL << 10U},
                                          {"MB", 1000ULL * 1000},
                                          {"MiB", 1ULL << 20U},
                                          {"GB", 1000ULL * 1000 * 1000},
                                          {"GiB", 1ULL << 30U}}};
constexpr std::array<Unit, 6> kTimeUnits{{{"ns", 1},
                                          {"us", 1000},
                                          {"ms", 1000ULL * 1000},
                                          {"s", 1000ULL * 1000 * 1000},
                                          {"min", 60ULL * 1000 * 1000 * 1000},
                                          {"h", 3600ULL * 1000 * 1000 * 1000}}};

// 10^6 times the largest factor (an hour) still fits 64 bits.
constexpr std::size_t kMaxDecimals = 6;

struct Units {
  const Unit* first;
  std::size_t count;
  const Unit* begin() const { return first; }
  const Unit* end() const { return first + count; }
};

Units units_of(Dimension dimension) {
  if (dimension == Dimension::kBytes) return {kByteUnits.data(), kByteUnits.size()};
  return {kTimeUnits.data(), kTimeUnits.size()};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

bool to_number(std::string_view digits, std::uint64_t& out) {
  out = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(out, std::uint64_t{10}, &out)) return false;
    if (__builtin_add_overflow(out, static_cast<std::uint64_t>(c - '0'), &out)) return false;
  }
  return true;
}

const Unit* find_unit(std::string_view name, Dimension dimension) {
  for (const Unit& unit : units_of(dimension)) {
    if (name == unit.name) return &unit;
  }
  return nullptr;
}

const Unit* find_unit_in_any_case(std::string_view name, Dimension dimension) {
  for (const Unit& unit : units_of(dimension)) {
    if (lower(name) == lower(unit.name)) return &unit;
  }
  return nullptr;
}

std::string example(Dimension dimension) {
  return dimension == Dimension::kBytes ? "a size such as \"4MiB\"" : "a duration such as \"10ms\"";
}

std::string unknown_unit(std::string_view name, Dimension dimension) {
  std::string what = "unknown unit " + quoted(name);
  if (const Unit* near = find_unit_in_any_case(name, dimension)) {
    return what + "; did you mean \"" + near->name + "\"?";
  }
  return what + "; the units are " + unit_names(dimension);
}

/// `digits` of a fraction, times `factor`; false if that is not a whole number.
bool scale_fraction(std::string_view digits, std::uint64_t factor, std::uint64_t& out) {
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) power *= 10;
  to_number(digits, out);
  out *= factor;
  const bool whole = out % power == 0;
  out /= power;
  return whole;
}

struct Number {
  std::string_view whole;
  std::string_view decimals;
};

std::string scale(const Number& number, const Unit& unit, Dimension dimension, std::uint64_t& out) {
  std::uint64_t fraction = 0;
  if (number.decimals.size() > kMaxDecimals) return "more than six decimals";
  if (!scale_fraction(number.decimals, unit.factor, fraction)) {
    return std::string{"not a whole number of "} +
           (dimension == Dimension::kBytes ? "bytes" : "nanoseconds");
  }
  if (!to_number(number.whole, out) || __builtin_mul_overflow(out, unit.factor, &out) ||
      __builtin_add_overflow(out, fraction, &out)) {
    return "too large to represent";
  }
  return {};
}

}  // namespace

std::string parse_quantity(std::string_view text, Dimension dimension, std::uint64_t& out) {
  text = trim(text);
  Number number{take_digits(text), {}};
  if (number.whole.empty()) return "expected " + example(dimension);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    number.decimals = take_digits(text);
    if (number.decimals.empty()) return "expected digits after the decimal point";
  }
  std::string_view unit_name = trim(text);
  if (unit_name.empty() && dimension == Dimension::kTime) {
    return "a duration needs a unit (" + unit_names(dimension) + "), such as \"10ms\"";
  }
  if (unit_name.empty()) unit_name = "B";
  const Unit* unit = find_unit(unit_name, dimension);
  if (unit == nullptr) return unknown_unit(unit_name, dimension);
  return scale(number, *unit, dimension, out);
}

std::string format_quantity(std::uint64_t value, Dimension dimension) {
  const Units units = units_of(dimension);
  const Unit* best = units.begin();
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) best = &unit;
  }
  return std::to_string(value / best->factor) + best->name;
}

std::string unit_names(Dimension dimension) {
  std::string names;
  for (const Unit& unit : units_of(dimension)) {
    if (!names.empty()) names += ' ';
    names += unit.name;
  }
  return names;
}

}  // namespace torchtrace::config
