package import Model

/// Writes the events of hooks that are called after writes, in the transaction of the write.
package struct HookOutbox: Sendable {
  package let subscriptions: HookSubscriptions
  let limits: HookOutboxLimits
  /// Renders an entity as its owner reads it.
  let render: @Sendable (EntityKey, EntityRecord) throws -> [UInt8]?
  let makeID: @Sendable () -> String

  /// - Parameters:
  ///   - render: called on the writer's thread; it does no I/O.
  ///   - makeID: makes the values of `webhook-id`, unique for all time.
  package init(
    _ subscriptions: HookSubscriptions, limits: HookOutboxLimits = HookOutboxLimits(),
    render: @escaping @Sendable (EntityKey, EntityRecord) throws -> [UInt8]?,
    makeID: @escaping @Sendable () -> String
  ) {
    self.subscriptions = subscriptions
    self.limits = limits
    self.render = render
    self.makeID = makeID
  }

  func hasHooks(for trigger: HookTrigger) -> Bool { !subscriptions.hooks(for: trigger).isEmpty }

  /// Adds the events of a list of local writes.
  func write(_ changes: [LocalChange], in context: WriteContext, at now: Timestamp) throws {
    for change in changes where hasHooks(for: change.trigger) {
      let body = try Self.body(of: change, render: render)
      let owner = "\(change.owner.kind.rawValue) \(change.owner.subject)"
      try write(
        body, for: change.trigger, entity: "\(owner)\n\(change.key.type)\n\(change.key.key)",
        owner: owner, in: context, at: now)
    }
  }

  /// Adds the events of a mutation's outcome.
  func write(_ outcome: SettledOutcome, in context: WriteContext, at now: Timestamp) throws {
    guard hasHooks(for: outcome.trigger) else { return }
    let entity = outcome.object.map { "object\n\($0.type)\n\($0.key)" } ?? "mutation\n\(outcome.id)"
    let owner =
      outcome.user.map { "mutations of user \($0)" }
      ?? outcome.device.map { "mutations of device \($0)" } ?? "mutations"
    try write(
      HookBody.outcome(outcome), for: outcome.trigger, entity: entity, owner: owner, in: context,
      at: now)
  }

  private func write(
    _ body: [UInt8], for trigger: HookTrigger, entity: String, owner: String,
    in context: WriteContext, at now: Timestamp
  ) throws {
    let tables = HookOutboxTables(database: context.database)
    var counts = HookEventCounts()
    for hook in subscriptions.hooks(for: trigger) {
      try tables.insert(
        hook: hook, entity: entity, owner: owner, id: makeID(), body: body, at: now)
      counts.added[hook, default: 0] += 1
      let dropped = try tables.makeRoom(in: limits, hook: hook)
      if dropped > 0 { counts.dropped[hook, default: 0] += dropped }
    }
    context.note(counts)
  }

  /// Returns the body that reports a change to hooks, before or after it.
  ///
  /// - Parameter render: returns an entity as its owner reads it.
  package static func body<Fault: Error>(
    of change: LocalChange, render: (EntityKey, EntityRecord) throws(Fault) -> [UInt8]?
  ) throws(Fault) -> [UInt8] {
    var states: [[UInt8]?] = []
    for stored in [change.before, change.after] {
      guard let stored else {
        states.append(nil)
        continue
      }
      states.append(try render(change.key, EntityRecord(layers: [stored])))
    }
    return HookBody.write(change, before: states[0], after: states[1])
  }
}

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
}
