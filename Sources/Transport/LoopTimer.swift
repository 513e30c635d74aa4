/// What a timer wakes.
package protocol TimerDelegate: AnyObject {
  /// The deadline has come; the timer is unset and may be set again from here.
  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor)
}

/// A deadline on a loop that can be moved very often.
///
/// Moving it further away writes one word: the heap still holds the earlier time and, when that
/// comes, finds the later one. So an idle deadline set anew for each request costs nothing.
/// Resolution is a millisecond, never early. The delegate is held weakly.
package final class LoopTimer {
  package private(set) var deadline: LoopInstant?
  weak var delegate: (any TimerDelegate)?
  /// Where the heap keeps this timer, and for when; both belong to `TimerHeap`.
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

  /// The heap's time has come: takes the deadline if it is due, or tells that it has moved.
  func takeDue(until now: LoopInstant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    self.deadline = nil
    return true
  }
}
