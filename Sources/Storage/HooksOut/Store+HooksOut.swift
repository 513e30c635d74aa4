import GRDB
package import Model

/// The outbox of hooks that are called after writes.
extension Store {
  /// Sets the hooks whose events are written from now on. Events of other hooks stay until they are too
  /// old: a hook that comes back finds them.
  ///
  /// - Parameter waitMax: waits that are left of an earlier start become no longer than this, since the
  ///   clock can have been set back.
  package func setHooks(
    _ outbox: HookOutbox, at now: Timestamp, waitMax: Duration
  ) async throws(StorageError) {
    try await writer.write { database, memory in
      memory.hooks = outbox
      try HookOutboxTables(database: database).limitWaits(to: now.advanced(by: waitMax))
    }
  }

  /// Adds the events of a mutation that was not stored: upstream refused it.
  package func report(_ outcome: SettledOutcome, at now: Timestamp) async throws(StorageError) {
    let catalogue = catalogue
    _ = try await writer.write { database, memory in
      let context = WriteContext(
        database, memory, catalogue, call: CallNumber(memory.counters.call),
        horizon: CallNumber(memory.horizon))
      try memory.hooks?.write(outcome, in: context, at: now)
      return context.finish()
    }
  }

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

  /// Returns the number and the bytes of a hook's undelivered events.
  package func hookBacklog(
    of hook: String
  ) async throws(StorageError) -> HookBacklog {
    try await reader.read { database in
      let usage = try HookOutboxTables(database: database).usage(of: hook)
      return HookBacklog(events: Int(usage?.events ?? 0), bytes: Int(usage?.bytes ?? 0))
    }
  }
}

/// The undelivered events of a hook.
package struct HookBacklog: Hashable, Sendable {
  package let events: Int
  /// Of their bodies.
  package let bytes: Int
}
