/// The results of an observed query, and the steps from the former ones.
public struct ListUpdate<Item: Sendable>: Sendable {
  /// The results in their order.
  public let items: [Item]
  /// The steps from the last results to these.
  public let diff: ListDiff
}

/// The results of a query: now, and whenever they have changed. Of several changes in a row only the
/// last can show.
public struct Observation<Item: Sendable>: AsyncSequence, Sendable {
  public typealias Element = ListUpdate<Item>

  let larder: Larder
  let query: EntityQuery
  let decode: @Sendable (JSONValue) throws -> Item

  public func makeAsyncIterator() -> Iterator {
    Iterator(observation: self, signals: larder.store.commits.signals().makeAsyncIterator())
  }

  public struct Iterator: AsyncIteratorProtocol {
    private let observation: Observation
    private var signals: AsyncStream<Void>.Iterator
    private var before: [(id: String, content: String)]?

    init(observation: Observation, signals: AsyncStream<Void>.Iterator) {
      self.observation = observation
      self.signals = signals
    }

    /// The next result; nil once the task is cancelled. Without an active profile the list is empty.
    public mutating func next() async throws -> ListUpdate<Item>? {
      while true {
        if before != nil {
          guard await signals.next() != nil else { return nil }
        }
        if Task.isCancelled { return nil }
        let after = try await observation.rows()
        let diff = ListDiff(from: before ?? [], to: after)
        let isFirst = before == nil
        before = after
        guard isFirst || !diff.isEmpty else { continue }
        let items = try after.map { try observation.decode(JSONValue(parsing: $0.content)) }
        return ListUpdate(items: items, diff: diff)
      }
    }
  }

  private func rows() async throws -> [(id: String, content: String)] {
    let query = query
    do {
      return try await larder.read { db in
        try db.rows(query).map { (id: $0.id, content: $0.text) }
      }
    } catch LarderError.signedOut {
      return []
    }
  }
}
