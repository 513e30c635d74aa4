/// The receiver of a timer's deadlines.
package protocol TimerDelegate: AnyObject {
  /// Called at the deadline. The timer is unset and can be set again from here.
  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor)
}

/// A timer on a loop whose deadline can be moved very often.
///
/// Moving it further away writes one word: the heap keeps the earlier time and, at that time, finds the
/// later one. So resetting an idle deadline for each request costs nothing.
/// Resolution is a millisecond, never early. The delegate is held weakly.
package final class LoopTimer {
  package private(set) var deadline: LoopInstant?
  weak var delegate: (any TimerDelegate)?
  /// The timer's index and time in the heap; both belong to `TimerHeap`.
  var heapIndex: Int?
  var scheduledFor = LoopInstant.distantFuture
  private let core: ReactorCore

  package init(delegate: any TimerDelegate, on reactor: isolated Reactor) {
    self.delegate = delegate
    core = reactor.core
  }

  package func set(_ deadline: LoopInstant) {
    self.deadline = deadline
    if heapIndex != nil, scheduledFor <= deadline { return }
    core.timers.schedule(self, for: deadline)
  }

  /// Sets the deadline `duration` from the turn's own time.
  package func set(after duration: Duration) {
    set(core.now.advanced(by: duration))
  }

  package func cancel() {
    deadline = nil
    core.timers.remove(self)
  }

  /// Clears the deadline if it is due. Returns false if it has moved.
  func takeDue(until now: LoopInstant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    self.deadline = nil
    return true
  }
}

/// A loop's timers by time: a binary heap that tracks each timer's index, so that one can be removed.
/// Equal deadlines fire in no particular order.
struct TimerHeap {
  private var timers: ContiguousArray<LoopTimer> = []

  /// The earliest time at which a timer may be due.
  var earliest: LoopInstant? { timers.first?.scheduledFor }

  mutating func schedule(_ timer: LoopTimer, for instant: LoopInstant) {
    timer.scheduledFor = instant
    if let index = timer.heapIndex {
      restore(at: index)
    } else {
      timer.heapIndex = timers.count
      timers.append(timer)
      siftUp(from: timers.count - 1)
    }
  }

  mutating func remove(_ timer: LoopTimer) {
    guard let index = timer.heapIndex else { return }
    timer.heapIndex = nil
    let last = timers.removeLast()
    guard last !== timer else { return }
    place(last, at: index)
    restore(at: index)
  }

  mutating func removeAll() {
    for timer in timers { timer.heapIndex = nil }
    timers.removeAll()
  }

  /// Removes the next due timer and returns it. Timers whose deadline has moved are rescheduled.
  mutating func popExpired(until now: LoopInstant) -> LoopTimer? {
    while let timer = timers.first, timer.scheduledFor <= now {
      if timer.takeDue(until: now) {
        remove(timer)
        return timer
      }
      if let moved = timer.deadline { schedule(timer, for: moved) } else { remove(timer) }
    }
    return nil
  }

  private mutating func restore(at index: Int) {
    siftUp(from: index)
    siftDown(from: index)
  }

  private mutating func siftUp(from start: Int) {
    var index = start
    let timer = timers[index]
    while index > 0 {
      let parent = (index - 1) / 2
      guard timer.scheduledFor < timers[parent].scheduledFor else { break }
      place(timers[parent], at: index)
      index = parent
    }
    place(timer, at: index)
  }

  private mutating func siftDown(from start: Int) {
    var index = start
    let timer = timers[index]
    while true {
      var child = 2 * index + 1
      guard child < timers.count else { break }
      if child + 1 < timers.count,
        timers[child + 1].scheduledFor < timers[child].scheduledFor
      {
        child += 1
      }
      guard timers[child].scheduledFor < timer.scheduledFor else { break }
      place(timers[child], at: index)
      index = child
    }
    place(timer, at: index)
  }

  private mutating func place(_ timer: LoopTimer, at index: Int) {
    timers[index] = timer
    timer.heapIndex = index
  }
}

extension ReactorCore {
  /// Fires the due timers, one at a time, since each can set or cancel others. Returns whether any
  /// delegate was called.
  func fireTimers(on reactor: isolated Reactor) -> Bool {
    var hasFired = false
    while let timer = timers.popExpired(until: now) {
      hasFired = true
      LoopWatch.step("timer") { timer.delegate?.timerFired(timer, on: reactor) }
    }
    return hasFired
  }
}
