import Synchronization

/// The results of a service's connections until it ended. Guarded by one lock, since all connections write to
/// it.
final class DrainTally: Sendable {
  private let state = Mutex((answered: 0, isOver: false, faults: [String]()))

  var answered: Int { state.withLock { $0.answered } }
  /// Whether clients should stop.
  var isOver: Bool { state.withLock { $0.isOver } }
  var faults: [String] { state.withLock { $0.faults } }

  func end() { state.withLock { $0.isOver = true } }
  func noteResponse() { state.withLock { $0.answered += 1 } }
  func noteFault(_ text: String) { state.withLock { $0.faults.append(text) } }
}
