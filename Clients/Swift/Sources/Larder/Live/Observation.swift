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
    private let index: ListIndex?
    private var signals: AsyncStream<Void>.Iterator
    /// As of the last read; nil before the first.
    private var before: [(id: [UInt8], content: [UInt8])]?
    private var items: [Item] = []
    private var version = 0
    private var hasIndex = false

    init(observation: Observation, signals: AsyncStream<Void>.Iterator) {
      self.observation = observation
      self.signals = signals
      index = ListIndex(observation.query)
    }

    /// The next result; nil once the task is cancelled. Without an active profile the list is empty.
    public mutating func next() async throws -> ListUpdate<Item>? {
      while true {
        if before != nil {
          guard await waitForChange() else { return nil }
        }
        if Task.isCancelled { return nil }
        // Before the read: a later change has another version.
        version = observation.version
        let after = try await observation.rows()
        let diff = ListDiff(from: before ?? [], to: after)
        let isFirst = before == nil
        before = after
        guard isFirst || !diff.isEmpty else { continue }
        let decode = observation.decode
        items = try diff.applied(to: items) { try decode(JSONValue(parsing: after[$0].content)) }
        return ListUpdate(items: items, diff: diff)
      }
    }

    /// Waits until entities of the type have changed. False once the task is cancelled.
    private mutating func waitForChange() async -> Bool {
      if let index {
        // Here and not before the first read: the app has its result while an index is made.
        let store = observation.larder.store
        hasIndex = await store.use(index, canMake: !hasIndex) || hasIndex
      }
      repeat {
        guard await signals.next() != nil else { return false }
      } while observation.version == version
      return true
    }
  }

  private var version: Int { larder.store.version(of: query.type) }

  private func rows() async throws -> [(id: [UInt8], content: [UInt8])] {
    let query = query
    while true {
      do {
        return try await larder.read { db in try db.rows(query, isRepeated: true) }
      } catch LarderError.signedOut {
        // Another profile can have become active during the read.
        if await larder.profiles.active == nil { return [] }
      }
    }
  }
}
