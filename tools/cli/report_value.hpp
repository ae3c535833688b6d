// A value that a verb reports: what a member of its JSON object holds. Used by Report, so that a verb that
// reports needs no JSON library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace keysieve {

struct ReportMember;

template <typename Value>
concept Number = std::is_arithmetic_v<Value>;

class ReportValue {
 public:
  using Texts = std::vector<std::string>;
  using Members = std::vector<ReportMember>;

  ReportValue(std::nullptr_t null) noexcept;
  template <Number Value>
  ReportValue(Value number) noexcept : value_(WidestOf<Value>{number}) {}
  ReportValue(const char* text);
  ReportValue(std::string_view text);
  ReportValue(std::string text) noexcept;
  ReportValue(Texts texts) noexcept;
  ReportValue(std::initializer_list<ReportMember> members);
  // Null where there is none.
  template <typename Value>
  ReportValue(const std::optional<Value>& value) : ReportValue(value ? ReportValue(*value) : nullptr) {}

  // Calls `visitor` with std::monostate for null, bool, std::int64_t, std::uint64_t, double, std::string,
  // Texts or Members.
  template <typename Visitor>
  auto visit(const Visitor& visitor) const {
    return std::visit(visitor, value_);
  }

 private:
  template <Number Value>
  using WidestOf = std::conditional_t<
      std::is_same_v<Value, bool>, bool,
      std::conditional_t<std::is_floating_point_v<Value>, double,
                         std::conditional_t<std::is_signed_v<Value>, std::int64_t, std::uint64_t>>>;

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Texts, Members> value_;
};

struct ReportMember {
  std::string name;
  ReportValue value;
};

// Defined here because a constructor needs to know how members are destroyed.
inline ReportValue::ReportValue(std::nullptr_t /*null*/) noexcept {}
inline ReportValue::ReportValue(const char* text) : value_(std::string(text)) {}
inline ReportValue::ReportValue(std::string_view text) : value_(std::string(text)) {}
inline ReportValue::ReportValue(std::string text) noexcept : value_(std::move(text)) {}
inline ReportValue::ReportValue(Texts texts) noexcept : value_(std::move(texts)) {}
inline ReportValue::ReportValue(std::initializer_list<ReportMember> members) : value_(Members(members)) {}

}  // namespace keysieve
