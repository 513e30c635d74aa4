import Synchronization

/// What the connections of a service saw until it ended. Guarded by one lock: all write to it.
final class DrainTally: Sendable {
  private let state = Mutex((answered: 0, isOver: false, faults: [String]()))

  var answered: Int { state.withLock { $0.answered } }
  /// Whether clients are to stop.
  var isOver: Bool { state.withLock { $0.isOver } }
  var faults: [String] { state.withLock { $0.faults } }

  func end() { state.withLock { $0.isOver = true } }
  func noteAnswer() { state.withLock { $0.answered += 1 } }
  func noteFault(_ text: String) { state.withLock { $0.faults.append(text) } }
}
