#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace torchtrace::cli {

enum class Verdict {
  kOk,
  kWarning,  ///< Programs are traced, but not all works, or not as well as it could.
  kProblem   ///< Nothing is traced, or what is traced is wrong.
};

/// What one check found.
struct Finding {
  std::string group;  ///< Heading under which it stands.
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string found;   ///< Without a final stop.
  std::string advice;  ///< What to do about it; empty where nothing needs to be done.
};

/// Collects findings, and shows each as soon as it is there: the whole takes seconds.
class Findings {
 public:
  using Listener = std::function<void(const Finding&)>;

  explicit Findings(Listener listener) : listener_(std::move(listener)) {}

  /// Later findings belong to this group.
  void begin(std::string group) { group_ = std::move(group); }

  void ok(std::string name, std::string found) {
    add(Verdict::kOk, std::move(name), std::move(found), {});
  }
  void warning(std::string name, std::string found, std::string advice) {
    add(Verdict::kWarning, std::move(name), std::move(found), std::move(advice));
  }
  void problem(std::string name, std::string found, std::string advice) {
    add(Verdict::kProblem, std::move(name), std::move(found), std::move(advice));
  }
  void add(Verdict verdict, std::string name, std::string found, std::string advice) {
    all_.push_back({group_, std::move(name), verdict, std::move(found), std::move(advice)});
    listener_(all_.back());
  }

  const std::vector<Finding>& all() const { return all_; }
  std::size_t count(Verdict verdict) const;

 private:
  Listener listener_;
  std::string group_;
  std::vector<Finding> all_;
};

}  // namespace torchtrace::cli
