#pragma once

namespace torchtrace::flush {

/// Where operators come from, as far as the flush thread has a say in it. It does not see the
/// observer: the agent wires the two. Either function may be called again and again, and is, once
/// per period on the flush thread. nullptr: operators come whether or not they are wanted.
struct OperatorSource {
  /// Nothing records operators: need not report them. True if it does not from now on.
  bool (*pause)() noexcept = nullptr;
  /// Has to report them, and to see to it that it can.
  void (*keep_reporting)() noexcept = nullptr;
};

}  // namespace torchtrace::flush
