import GRDB
package import Model

/// The outbox of hooks that are called after writes.
extension Store {
  /// Returns the first undelivered events of entities that are due, the longest due first.
  package func dueHookEvents(
    of hook: String, at now: Timestamp, limit: Int
  ) async throws(StorageError) -> [HookEvent] {
    try await reader.read { database in
      try HookOutboxTables(database: database).due(of: hook, at: now, limit: limit)
    }
  }

  /// Returns when the next entity of a hook is due that is not due now; nil if there is none.
  package func nextHookDue(
    of hook: String, after now: Timestamp
  ) async throws(StorageError) -> Timestamp? {
    try await reader.read { database in
      try HookOutboxTables(database: database).nextDue(of: hook, after: now)
    }
  }

  /// Writes what follows an attempt to deliver an event.
  ///
  /// - Returns: false if the event is not in the outbox any more; then nothing is written.
  @discardableResult
  package func settle(
    _ event: HookEvent, as end: HookEventEnd
  ) async throws(StorageError) -> Bool {
    try await writer.write { database, _ in
      let tables = HookOutboxTables(database: database)
      return switch end {
      case .removed: try tables.remove(event.sequence)
      case .waits(let due): try tables.postpone(event, until: due)
      }
    }
  }

  /// Removes events created before a time, of all hooks, at most `limit`.
  ///
  /// - Returns: the number of removed events by hook.
  package func dropHookEvents(
    createdBefore moment: Timestamp, limit: Int
  ) async throws(StorageError) -> [String: Int] {
    try await writer.write { database, _ in
      try HookOutboxTables(database: database).remove(createdBefore: moment, limit: limit)
    }
  }

  /// Returns the undelivered events of all hooks that have some, also of those that are not in the
  /// settings any more.
  package func hookBacklogs() async throws(StorageError) -> [String: HookBacklog] {
    try await reader.read { database in
      let usages = try HookOutboxTables(database: database).usages()
      return Dictionary(
        usages.map { ($0.hook, HookBacklog(events: Int($0.events), bytes: Int($0.bytes))) },
        uniquingKeysWith: { first, _ in first })
    }
  }
}

/// The undelivered events of a hook.
package struct HookBacklog: Hashable, Sendable {
  package let events: Int
  /// Of their bodies.
  package let bytes: Int
}
