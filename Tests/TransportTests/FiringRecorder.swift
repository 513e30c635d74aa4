import Synchronization
import Transport

/// Sets timers and notes which fired, when due and when in fact.
final class FiringRecorder: Sendable {
  struct Firing {
    let due: LoopInstant
    let at: LoopInstant
  }

  private let firings = Mutex<[Firing]>([])
  // SAFETY: touched only in the reactor's isolation, since timers are made and fire there.
  private nonisolated(unsafe) var entries: [Entry] = []

  var fired: [Firing] { firings.withLock { $0 } }

  func add(_ delay: Duration, on reactor: isolated Reactor) {
    let entry = Entry(recorder: self)
    entries.append(entry)
    entry.set(reactor.now + delay, on: reactor)
  }

  func timer(_ index: Int) -> LoopTimer? { entries[index].timer }

  fileprivate func note(_ firing: Firing) {
    firings.withLock { $0.append(firing) }
  }

  private final class Entry: TimerDelegate {
    unowned let recorder: FiringRecorder
    var timer: LoopTimer?
    private var due = LoopInstant.distantFuture

    init(recorder: FiringRecorder) {
      self.recorder = recorder
    }

    func set(_ due: LoopInstant, on reactor: isolated Reactor) {
      self.due = due
      let timer = LoopTimer(delegate: self, on: reactor)
      self.timer = timer
      timer.set(due)
    }

    func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
      recorder.note(Firing(due: due, at: reactor.now))
    }
  }
}
