#pragma once

#include <concurrentqueue/concurrentqueue.h>
#include <readerwriterqueue/readerwriterqueue.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "ring/record_source.h"

/// What the ring is compared with. A queue is made for a number of producers; `Producer{queue,
/// index}` is what one thread pushes through; `drain(take)` hands everything to
/// `take(const Record*, count)` on the consumer's thread, while no producer pushes.
namespace torchtrace::bench {

/// The loop of the bench by itself: everything else is measured as what it adds to this.
struct NoQueue {
  static constexpr const char* kName = "none";
  explicit NoQueue(std::size_t /*producers*/) {}
  struct Producer {
    Producer(NoQueue& /*queue*/, std::size_t /*index*/) {}
    bool push(std::uint64_t /*count*/) noexcept { return true; }
  };
  template <class Take>
  void drain(Take&& /*take*/) noexcept {}
};

/// Records stored one after the other and told to nobody: what any queue has to do at least.
class ArrayStore {
  struct Lane {
    alignas(128) std::size_t tail = 0;
    alignas(128) std::size_t head = 0;
    Records records = Records(kCapacity);
  };

 public:
  static constexpr const char* kName = "array_store";
  explicit ArrayStore(std::size_t producers) : lanes_(producers) {}

  class Producer {
   public:
    Producer(ArrayStore& queue, std::size_t index) : lane_(queue.lanes_[index]) {}
    bool push(std::uint64_t count) noexcept {
      fill(lane_.records[lane_.tail++ & (kCapacity - 1)], count);
      return true;
    }

   private:
    Lane& lane_;
  };

  template <class Take>
  void drain(Take&& take) {
    for (Lane& lane : lanes_) {
      for (; lane.head != lane.tail; ++lane.head) {
        take(&lane.records[lane.head & (kCapacity - 1)], std::size_t{1});
      }
    }
  }

 private:
  std::vector<Lane> lanes_;
};

/// Blocks of 1024 records: moodycamel at its best for this use.
struct LargeBlocks : moodycamel::ConcurrentQueueDefaultTraits {
  // moodycamel looks it up by this name. NOLINTNEXTLINE(readability-identifier-naming)
  static constexpr std::size_t BLOCK_SIZE = 1024;
};

enum class Token : std::uint8_t { kWithout, kWith };

template <class Traits, Token token>
class Moodycamel {
 public:
  static constexpr const char* kName = token == Token::kWithout ? "moodycamel_no_token"
                                       : Traits::BLOCK_SIZE == LargeBlocks::BLOCK_SIZE
                                           ? "moodycamel_token_blocks_of_1024"
                                           : "moodycamel_token";

  explicit Moodycamel(std::size_t producers)
      : queue_(2 * producers * kCapacity), consumer_(queue_) {}

  class Producer {
   public:
    Producer(Moodycamel& queue, std::size_t /*index*/)
        : queue_(queue.queue_), token_(queue.queue_) {}
    bool push(std::uint64_t count) {
      core::Record record;
      fill(record, count);
      if constexpr (token == Token::kWith) return queue_.enqueue(token_, record);
      return queue_.enqueue(record);
    }

   private:
    moodycamel::ConcurrentQueue<core::Record, Traits>& queue_;
    moodycamel::ProducerToken token_;
  };

  template <class Take>
  void drain(Take&& take) {
    std::size_t count = 0;
    while ((count = queue_.try_dequeue_bulk(consumer_, taken_.data(), taken_.size())) != 0) {
      take(taken_.data(), count);
    }
  }

 private:
  moodycamel::ConcurrentQueue<core::Record, Traits> queue_;
  moodycamel::ConsumerToken consumer_;
  Records taken_ = Records(256);
};

/// moodycamel's single-producer queue, one per producer.
class ReaderWriterQueue {
 public:
  static constexpr const char* kName = "readerwriterqueue";
  explicit ReaderWriterQueue(std::size_t producers) {
    for (std::size_t i = 0; i < producers; ++i) {
      queues_.push_back(std::make_unique<moodycamel::ReaderWriterQueue<core::Record>>(kCapacity));
    }
  }

  class Producer {
   public:
    Producer(ReaderWriterQueue& queue, std::size_t index) : queue_(*queue.queues_[index]) {}
    bool push(std::uint64_t count) {
      core::Record record;
      fill(record, count);
      return queue_.try_enqueue(record);
    }

   private:
    moodycamel::ReaderWriterQueue<core::Record>& queue_;
  };

  template <class Take>
  void drain(Take&& take) {
    core::Record record;
    for (const auto& queue : queues_) {
      while (queue->try_dequeue(record)) take(&record, std::size_t{1});
    }
  }

 private:
  std::vector<std::unique_ptr<moodycamel::ReaderWriterQueue<core::Record>>> queues_;
};

/// What one writes first.
class MutexDeque {
 public:
  static constexpr const char* kName = "mutex_deque";
  explicit MutexDeque(std::size_t /*producers*/) {}

  class Producer {
   public:
    Producer(MutexDeque& queue, std::size_t /*index*/) : queue_(queue) {}
    bool push(std::uint64_t count) {
      const std::lock_guard<std::mutex> lock(queue_.mutex_);
      fill(queue_.records_.emplace_back(), count);
      return true;
    }

   private:
    MutexDeque& queue_;
  };

  template <class Take>
  void drain(Take&& take) {
    std::deque<core::Record> taken;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      taken.swap(records_);
    }
    for (const core::Record& record : taken) take(&record, std::size_t{1});
  }

 private:
  std::mutex mutex_;
  std::deque<core::Record> records_;
};

}  // namespace torchtrace::bench
