#pragma once

namespace torchtrace::agent {

/// Installs the pthread_atfork handlers, once.
///
/// The child starts afresh: it forgets the parent's mapping and flush thread, drops the frames it
/// inherited, and has no thread or file of ours until its own first operator. Nothing in it takes a
/// lock that another thread of the parent may have held.
/// LTTng: `lttng_ust_before_fork` and its sisters are called here, so that no liblttng-ust-fork has
/// to be preloaded; where it is, it does that itself, and both together would deadlock.
void install_fork_handlers() noexcept;

}  // namespace torchtrace::agent
