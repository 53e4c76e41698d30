#include "recovery/process_copy.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "flush/thread_buffers.h"
#include "recovery/clock.h"
#include "recovery/error.h"
#include "recovery/ring_copy.h"

namespace torchtrace::recovery {

namespace {

using core::ProcessHeader;
using core::Record;
using core::ThreadBuffer;

constexpr std::uint64_t kMaxNamesBytes = 1U << 30U;
/// config: buffer.size is at most 1 GiB.
constexpr std::uint64_t kMaxSlots = (1U << 30U) / sizeof(Record);

ThreadBuffer* new_buffer() {
  void* memory = std::aligned_alloc(alignof(ThreadBuffer), sizeof(ThreadBuffer));
  if (memory == nullptr) throw std::bad_alloc();
  return new (memory) ThreadBuffer;
}

/// Leaves only the entries that are the same in two copies, one made after the other: a copy of
/// one that was being written may look whole, but the next one is then different.
void keep_what_agrees(core::OpenOp* first, const core::OpenOp* second, std::size_t count) {
  for (std::size_t at = 0; at < count; ++at) {
    if (std::memcmp(static_cast<const void*>(&first[at]), &second[at], sizeof(first[at])) == 0) {
      continue;
    }
    first[at].op_id.store(0, std::memory_order_relaxed);
  }
}

template <std::size_t size>
void end_text(char (&text)[size]) noexcept {
  text[size - 1] = '\0';
}

[[noreturn]] void fail(const MappingFile& mapping, const std::string& why) {
  throw Error(mapping.folder + "/" + core::kMappingFile + " cannot be recovered: " + why);
}

void end_texts(core::ProcessFacts& facts) noexcept {
  end_text(facts.command);
  end_text(facts.host);
  end_text(facts.torch_version);
  end_text(facts.torch_path);
  end_text(facts.torch_layout);
  end_text(facts.agent_version);
  end_text(facts.config_digest);
  end_text(facts.output_directory);
  end_text(facts.trace_name);
}

std::unique_ptr<ProcessHeader> read_header(const MappingFile& mapping) {
  auto header = std::make_unique<ProcessHeader>();
  void* memory = header.get();
  const std::size_t length = mapping.file.read(0, memory, sizeof(ProcessHeader));
  if (length < offsetof(ProcessHeader, pid)) fail(mapping, "it is cut off");
  if (std::memcmp(header->magic, core::kMappingMagic, sizeof(core::kMappingMagic)) != 0) {
    fail(mapping, "it is not one of torchtrace's, or was just being made");
  }
  if (header->version != core::kMappingVersion || header->header_bytes != sizeof(ProcessHeader)) {
    fail(mapping,
         "it was made by another version of torchtrace; use that one's `torchtrace recover`");
  }
  if (length != sizeof(ProcessHeader)) fail(mapping, "it is cut off");
  end_texts(header->facts);
  return header;
}

}  // namespace

void ThreadCopy::FreeLater::operator()(ThreadBuffer* buffer) const noexcept {
  buffer->~ThreadBuffer();
  std::free(buffer);
}

ProcessCopy::ProcessCopy(const MappingFile& mapping) : mapping_(&mapping) {
  struct stat info {};
  if (fstat(mapping.file.fd(), &info) != 0) fail(mapping, "it cannot be read");
  file_bytes_ = static_cast<std::uint64_t>(info.st_size);
  header_ = read_header(mapping);
  check_header();
  read_names();
  read_threads();
  mapping_ = nullptr;
}

void ProcessCopy::read_or_throw(std::uint64_t offset, void* to, std::size_t bytes) const {
  if (mapping_->file.read(offset, to, bytes) != bytes) fail(*mapping_, "it is cut off");
}

void ProcessCopy::check_header() const {
  const ProcessHeader& header = *header_;
  const std::uint64_t slots = header.slots_per_buffer;
  const bool is_sane = header.names_offset >= sizeof(ProcessHeader) &&
                       header.names_bytes <= kMaxNamesBytes && header.names_offset <= file_bytes_ &&
                       header.names_bytes <= file_bytes_ - header.names_offset &&
                       header.buffers_offset >= header.names_offset + header.names_bytes &&
                       slots != 0 && slots <= kMaxSlots && (slots & (slots - 1)) == 0 &&
                       header.buffer_bytes == sizeof(ThreadBuffer) + slots * sizeof(Record);
  if (!is_sane) fail(*mapping_, "its header is damaged, or it is cut off");
}

void ProcessCopy::read_names() {
  const std::uint64_t used =
      std::min(header_->names_used.load(std::memory_order_acquire), header_->names_bytes);
  names_.resize(used);
  read_or_throw(header_->names_offset, names_.data(), names_.size());
}

std::uint32_t ProcessCopy::find_name(const char* text) const noexcept {
  const std::size_t wanted = std::strlen(text);
  for (std::uint64_t at = 8; at + sizeof(core::NameEntry) < names_.size();) {
    core::NameEntry entry{};
    std::memcpy(&entry, names_.data() + at, sizeof(entry));
    const auto id = static_cast<std::uint32_t>(at / 8);
    if (entry.length == wanted && names().text(id) == text) return id;
    at += (sizeof(entry) + std::uint64_t{entry.length} + 1 + 7) / 8 * 8;
  }
  return core::NameTable::kOverflowId;
}

void ProcessCopy::read_threads() {
  const std::uint64_t room = file_bytes_ < header_->buffers_offset
                                 ? 0
                                 : (file_bytes_ - header_->buffers_offset) / header_->buffer_bytes;
  const std::uint64_t count = header_->buffer_count.load(std::memory_order_acquire);
  const std::uint64_t present = std::min(count, room);
  for (std::uint64_t index = 0; index < present; ++index) {
    read_thread(header_->buffers_offset + index * header_->buffer_bytes);
  }
  missing_buffers_ += static_cast<std::uint32_t>(count - present);
}

void ProcessCopy::read_thread(std::uint64_t offset) {
  ThreadCopy copy;
  copy.buffer.reset(new_buffer());
  const decltype(copy.buffer) second(new_buffer());
  read_or_throw(offset, copy.buffer.get(), sizeof(ThreadBuffer));
  const core::ThreadHeader& header = copy.buffer->header;
  if (header.slot == 0) {  // no thread has had it here
    if (header.state.load(std::memory_order_acquire) == core::kBufferAbsent) ++missing_buffers_;
    return;
  }
  read_or_throw(offset, second.get(), sizeof(ThreadBuffer));
  keep_what_agrees(copy.buffer->frames, second->frames, core::kMaxFrames + 1);
  keep_what_agrees(copy.buffer->scopes, second->scopes, core::kMaxScopes);
  if (const auto repair = make_repair(*header_)) {
    for (core::OpenOp& frame : copy.buffer->frames) repair->repair(frame);
    for (core::OpenOp& scope : copy.buffer->scopes) repair->repair(scope);
  }
  copy.records = read_records(offset, header);
  threads_.push_back(std::move(copy));
}

std::vector<Record> ProcessCopy::read_records(std::uint64_t offset,
                                              const core::ThreadHeader& before) {
  const std::uint64_t slots = header_->slots_per_buffer;
  std::vector<Record> records(slots);
  read_or_throw(offset + sizeof(ThreadBuffer), records.data(), slots * sizeof(Record));
  const std::unique_ptr<core::ThreadHeader> after(new core::ThreadHeader);
  read_or_throw(offset, after.get(), sizeof(*after));
  const RingIndexes first = RingIndexes::read(before, slots);
  const RingIndexes last = RingIndexes::read(*after, slots);
  const auto repair = make_repair(*header_);
  std::size_t kept = 0;
  for (std::uint64_t index = 0; index < slots; ++index) {
    Record& record = records[index];
    if (!is_whole_slot(index, slots, first, last)) continue;
    if (repair) repair->repair(record);
    if (record.op_id == 0 || record.t1_ticks < record.t0_ticks) continue;
    records[kept++] = record;
  }
  records.resize(kept);
  records.shrink_to_fit();
  return records;
}

std::string read_command(const MappingFile& mapping) { return read_header(mapping)->facts.command; }

std::string read_output_directory(const MappingFile& mapping) {
  return read_header(mapping)->facts.output_directory;
}

}  // namespace torchtrace::recovery
