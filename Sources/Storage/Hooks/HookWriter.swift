import GRDB
import LosslessJSON
import Model

/// Writes one webhook's message: what it brings is public, and every other copy of the same entities
/// becomes due, or is deleted too.
///
/// A message that reports an older change than the last one of the same entity and webhook is late
/// and changes nothing. Where the order cannot be known (equal times, or a response of upstream that
/// was stored after the change was made), the entity becomes due.
struct HookWriter {
  /// How many copies of an entity are deleted one by one. If more callers have one, everything that
  /// contains the type becomes due.
  static let copiesMax = 1_000

  let context: WriteContext
  let delivery: HookDelivery
  private let tables: HookTables
  private var receipt = HookReceipt()
  /// Entities whose public copy becomes due.
  private var disputed: Set<EntityKey> = []
  /// Entities whose stored values this message changes.
  private var settled: Set<EntityKey> = []

  init(_ delivery: HookDelivery, _ context: WriteContext) {
    self.delivery = delivery
    self.context = context
    tables = HookTables(database: context.database)
  }

  mutating func write() throws -> HookReceipt {
    guard
      try tables.insert(event: delivery.event, of: delivery.hook, at: delivery.received)
    else {
      receipt.isRepeated = true
      return receipt
    }
    var response = NormalisedResponse(
      call: CallNumber(context.call), horizon: CallNumber(context.horizon),
      received: delivery.received, scope: .public, bytes: delivery.bytes)
    var reported: [EntityKey] = []
    for entity in delivery.entities {
      switch try place(of: entity.key, fields: entity.fields) {
      case .late: continue
      case .next: response.entities.append(entity)
      case .equal:
        response.entities.append(entity)
        disputed.insert(entity.key)
      case .unknown: disputed.insert(entity.key)
      }
      if response.entities.last?.key == entity.key, try changes(entity) {
        settled.insert(entity.key)
      }
      if try isWithheld(entity.key) { disputed.insert(entity.key) }
      reported.append(entity.key)
    }
    var due = 0
    var isNamed = Set(delivery.entities.map(\.key))
    for key in delivery.changed where isNamed.insert(key).inserted {
      guard try place(of: key, fields: []) != .late else { continue }
      if try isWithheld(key) { disputed.insert(key) } else { due += 1 }
      reported.append(key)
    }
    var deleted: [EntityKey] = []
    for key in delivery.deletions + delivery.privateDeletions {
      switch try place(of: key, fields: nil) {
      case .late: continue
      case .equal: disputed.insert(key)
      case .next, .unknown: break
      }
      deleted.append(key)
      settled.insert(key)
    }
    let shown = Set(delivery.deletions)
    for key in deleted {
      guard try shown.contains(key) || isStored(key) else { continue }
      response.deletions.append(key)
    }
    receipt.written = response.entities.count
    receipt.deleted = deleted.count
    receipt.disputed = disputed.count + due
    let writer = try NormalisedResponseWriter(response, context)
    try writer.write()
    try note(reported + deleted)
    try writer.markOtherCopies(of: reported)
    for key in deleted { try deleteCopies(of: key) }
    try invalidate(with: writer)
    return receipt
  }

  // MARK: Order

  private enum Place {
    /// An older change than the last one reported.
    case late
    /// As old as the last one reported, or a deletion older than what is stored: it is applied, and the entity
    /// is fetched again.
    case equal
    /// The stored values may be newer.
    case unknown
    case next
  }

  /// Compares a reported change with what is stored.
  ///
  /// - Parameter fields: nil for a deletion.
  private mutating func place(
    of key: EntityKey, fields: [NormalisedResponse.Field]?
  ) throws -> Place {
    guard let moment = delivery.moment else { return .next }
    let table = try context.table(of: key.type)
    let last = try tables.moment(of: key.key, type: table.id, hook: delivery.hook)
    if let last, moment.microseconds < last.microseconds {
      receipt.outdated += 1
      return .late
    }
    // Attempts are often sent in the same second.
    if let last, moment.isExact, moment.microseconds == last.microseconds { return .equal }
    guard
      let row = try StoredRow.find(
        key.key, scope: ScopeTable.publicID, table, context.database),
      row.call > (last?.call ?? 0), isOlder(moment, than: row.received)
    else { return .next }
    // Upstream's responses do not show deletions reliably: it counts, and is checked.
    guard let fields else { return row.fields == nil ? .next : .equal }
    guard try differ(row, fields) else { return .next }
    return .unknown
  }

  /// Whether a change happened before a response was received. The time of an attempt has whole seconds: a
  /// message of the response's own second is taken for the newer one, as most are that come so soon.
  private func isOlder(_ moment: HookDelivery.Moment, than received: Timestamp) -> Bool {
    let milliseconds = moment.microseconds / 1_000
    return received.milliseconds > (moment.isExact ? milliseconds : milliseconds + 999)
  }

  /// Whether the message changes the public copy.
  private func changes(_ entity: NormalisedResponse.Entity) throws -> Bool {
    guard let row = try publicRow(entity.key) else { return true }
    return try differ(row, entity.fields)
  }

  /// Whether a stored field has another value than the message brings.
  private func differ(_ row: StoredRow, _ fields: [NormalisedResponse.Field]) throws -> Bool {
    guard let stored = row.fields else { return true }
    let root = try JSONDocument(checked: stored).root
    return delivery.bytes.withUnsafeBufferPointer { bytes in
      fields.contains { field in
        guard let value = root[field.name] else { return false }
        let written = UnsafeBufferPointer(rebasing: bytes[field.range])
        return !value.withRawBytes { $0.elementsEqualFast(written) }
      }
    }
  }

  private func note(_ keys: [EntityKey]) throws {
    guard let moment = delivery.moment else { return }
    for key in keys {
      let type = try context.table(of: key.type).id
      // A message that did not write the entity is no reason to take the stored values for older than the
      // next message: they may still be those of a later response.
      let call =
        settled.contains(key)
        ? context.call
        : try tables.moment(of: key.key, type: type, hook: delivery.hook)?.call ?? 0
      try tables.note(
        moment, of: key.key, type: type, hook: delivery.hook, call: call,
        received: delivery.received)
    }
  }

  private func publicRow(_ key: EntityKey) throws -> StoredRow? {
    let table = try context.table(of: key.type)
    return try StoredRow.find(key.key, scope: ScopeTable.publicID, table, context.database)
  }

  private func isStored(_ key: EntityKey) throws -> Bool { try publicRow(key) != nil }

  /// Whether the public copy has a field that changed and is not stored from messages: it was fetched
  /// for a caller without a credential.
  private func isWithheld(_ key: EntityKey) throws -> Bool {
    guard let names = delivery.withheld[key], let stored = try publicRow(key)?.fields else {
      return false
    }
    let root = try JSONDocument(checked: stored).root
    return names.contains { root[$0] != nil }
  }

  // MARK: Other copies

  /// Deletes the copies of callers; a response that began earlier arrives due.
  private func deleteCopies(of key: EntityKey) throws {
    context.memory.note(invalidation: context.call)
    context.memory.pendingInvalidations.add(
      .entity(key), scope: nil, call: context.call, effect: .due, horizon: context.horizon)
    guard let scopes = try scopes(holding: key) else {
      try Invalidator(context).invalidate(.type(key.type), scopes: nil)
      return
    }
    let table = try context.table(of: key.type)
    for id in scopes {
      guard let scope = try ScopeTable.scope(id, context.database) else { continue }
      try EntityDeletion(key: key, scope: scope, id: id, table: table, call: context.call)
        .run(in: context, received: delivery.received)
    }
  }

  /// Returns the scopes besides the public one that can hold a copy; nil if there are too many.
  private func scopes(holding key: EntityKey) throws -> [Int64]? {
    let statement = try PreparedStatement(
      context.database,
      """
      SELECT private_row.scope FROM private_row CROSS JOIN scope ON scope.id = private_row.scope \
      WHERE private_row.type = ?1 AND private_row.key = ?2 \
      AND scope.kind IN (\(ScopeTable.upstreamKinds)) LIMIT ?3
      """)
    statement.bind(try context.table(of: key.type).id, at: 1)
    statement.bind(key.key, at: 2)
    statement.bind(Int64(Self.copiesMax + 1), at: 3)
    defer { statement.reset() }
    var scopes: [Int64] = []
    while try statement.step() { scopes.append(statement.int64(0)) }
    return scopes.count > Self.copiesMax ? nil : scopes
  }

  private func invalidate(with writer: NormalisedResponseWriter) throws {
    let invalidator = Invalidator(context)
    for key in disputed.sorted(by: { ($0.type, $0.key) < ($1.type, $1.key) }) {
      try invalidator.invalidate(.entity(key), scopes: [ScopeTable.publicID])
    }
    for target in delivery.invalidations {
      switch target {
      case .entity(let key):
        try invalidator.invalidate(target, scopes: [ScopeTable.publicID])
        try writer.markOtherCopies(of: [key])
      case .type, .operation, .tag: try invalidator.invalidate(target, scopes: nil)
      }
    }
  }
}
