import Synchronization

/// The lists that clients may have, by their tags, under a byte budget: the oldest go first.
///
/// A tag is a digest of the whole vector, so a vector found by it is the client's, whoever else has
/// it too.
final class ListMemory: Sendable {
  private struct State {
    var vectors: [String: ListVector] = [:]
    var order: [String] = []
    var byteCount = 0
  }

  private let byteLimit: Int
  private let state = Mutex(State())

  init(byteLimit: Int) {
    self.byteLimit = byteLimit
  }

  func vector(tagged tag: String) -> ListVector? { state.withLock { $0.vectors[tag] } }

  func keep(_ vector: ListVector, tag: String) {
    guard vector.byteCount <= byteLimit / 4 else { return }
    state.withLock { state in
      guard state.vectors.updateValue(vector, forKey: tag) == nil else { return }
      state.order.append(tag)
      state.byteCount += vector.byteCount
      while state.byteCount > byteLimit, !state.order.isEmpty {
        let oldest = state.order.removeFirst()
        state.byteCount -= state.vectors.removeValue(forKey: oldest)?.byteCount ?? 0
      }
    }
  }
}
