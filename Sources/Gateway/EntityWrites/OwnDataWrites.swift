import Filtering
import LosslessJSON
package import Model
package import Storage

/// Writes to local types, and to local fields of upstream's types, on behalf of a device or a signed-in user.
///
/// A request selects the entities; their owner is always the caller, so no request can reach another
/// owner's data. Bodies are validated completely before the store is called, with all faults
/// reported at once.
package struct OwnDataWrites: Sendable {
  private let schema: LocalSchema
  private let store: Store
  private let entities: EntityRenderer
  private let identifiers: IdentifierMaker
  private let clock: WallClock
  private let deadline: QueryDeadline
  private let quota: DataQuota
  private let reach: FilterReach
  private let reviewer: HookReviewer?

  /// - Parameter reviewer: asks hooks before each write; nil for none.
  package init(
    schema: LocalSchema, store: Store, entities: EntityRenderer, identifiers: IdentifierMaker,
    clock: WallClock, deadline: QueryDeadline, quota: DataQuota, reach: FilterReach = .none,
    reviewer: HookReviewer? = nil
  ) {
    self.reviewer = reviewer
    self.reach = reach
    self.quota = quota
    self.schema = schema
    self.store = store
    self.entities = entities
    self.identifiers = identifiers
    self.clock = clock
    self.deadline = deadline
  }

  /// Returns whether there is a local type of that name.
  func knows(_ type: String) -> Bool { schema.types[type] != nil }

  /// The names of the local fields of an upstream type; nil if it has none.
  func localFields(of type: String) -> [String]? {
    schema.extensions[type]?.flatMap(\.fields).map(\.name)
  }

  /// Returns whether a write is one to own data: to a local type, or to a type of upstream with a local field
  /// in the body.
  func takes(_ request: EntityWriteRequest) -> Bool {
    if knows(request.type) { return true }
    guard let parts = schema.extensions[request.type], let members = request.body.members else {
      return false
    }
    return members.contains { member in parts.contains { $0.field(member.name) != nil } }
  }

  /// Performs all writes or none.
  ///
  /// - Parameters:
  ///   - misread: see ``EntityWrites/write(_:misread:by:key:)``.
  ///   - key: see there.
  ///   - viewer: what the caller saw of upstream's entities when it was admitted to them, for a list that is
  ///     written later; nil for what it sees now.
  func write(
    _ requests: [EntityWriteRequest], misread: [Failure.Detail], by caller: Caller,
    key: EntityWriteKey? = nil, seeing viewer: Viewer? = nil
  ) async throws(Failure) -> EntityWriteAnswer {
    let operations = try operations(
      requests, misread: misread, by: caller, isAdmitted: viewer != nil)
    let stored = key.flatMap { self.key($0, of: caller) }
    let result = try await write(
      operations, by: caller, seeing: viewer ?? caller.viewer, key: stored)
    let isReplay = (try? result.get())?.replay != nil
    return EntityWriteAnswer(outcomes: try entities.outcomes(result), isReplay: isReplay)
  }

  /// Writes once hooks have allowed it: they are asked about what the operations would change, and again
  /// if other writes have changed that since.
  private func write(
    _ operations: [LocalOperation], by caller: Caller, seeing viewer: Viewer, key: LocalWriteKey?
  ) async throws(Failure) -> Result<WriteCommit, WriteRefusal> {
    var review = reviewer.map { LocalWriteReview(hooks: $0.subscriptions) } ?? .none
    var rounds = 0
    while true {
      let result: Result<WriteCommit, WriteRefusal>
      do throws(StorageError) {
        result = try await store.writeLocal(
          operations, schema: schema, owner: Self.owner(caller), viewer: viewer,
          now: clock.now(), quota: quota, deadline: deadline, key: key, review: review)
      } catch {
        throw Failure(writing: error, deadline: deadline)
      }
      guard let reviewer, case .failure(.unreviewed(let changes)) = result else { return result }
      guard rounds < HookReviewer.roundsMax else { throw HookReviewer.conflict }
      rounds += 1
      try await reviewer.ask(changes, pointers: operations.map(\.pointer))
      review.allowed = changes
    }
  }

  /// Returns a key as the store knows it; nil without an owner, who has nothing to write either.
  private func key(_ key: EntityWriteKey, of caller: Caller) -> LocalWriteKey? {
    let owner = Self.owner(caller)
    let reader = caller.user ?? caller.subject
    return (owner.device ?? owner.user).flatMap { key.stored(for: $0, reader: reader, entities) }
  }

  private static func owner(_ caller: Caller) -> LocalOwner {
    LocalOwner(
      device: caller.device.map { .ownData(ofDevice: $0.id) },
      user: caller.user.map { .ownData(ofUser: $0) })
  }

  /// Says that a name is an interface, and which types are written instead; nil if there is no local
  /// interface of that name.
  func refusal(ofInterface name: String) -> String? {
    schema.interfaces[name].map {
      "is an interface and has no entities of its own: write "
        + $0.types.joined(separator: " or ")
    }
  }

  /// Returns the key field of a type whose keys the service makes; nil for any other.
  func madeKeyField(of type: String) -> String? { schema.types[type]?.madeKeyField }

  /// Makes the id of a new entity.
  func makeIdentifier() -> String { identifiers.make() }

  // MARK: Checking

  /// Checks requests as far as possible without the stored entities.
  ///
  /// - Parameter isAdmitted: whether the caller was admitted to upstream's entities before.
  func operations(
    _ requests: [EntityWriteRequest], misread: [Failure.Detail], by caller: Caller,
    isAdmitted: Bool = false
  ) throws(Failure) -> [LocalOperation] {
    let reach = isAdmitted ? self.reach.admitted : self.reach
    let fields = LocalFieldWrites(
      schema: schema, entities: entities, reach: reach, now: clock.now())
    var reader = LocalValueReader(schema: schema)
    var refusal = ListRefusal(misread: misread)
    var operations: [LocalOperation] = []
    for request in requests {
      do throws(Failure) {
        guard let type = schema.types[request.type] else {
          if let operation = try fields.operation(request, &reader, caller) {
            operations.append(operation)
          }
          continue
        }
        try OwnDataGate.admit(caller, to: type)
        operations.append(try operation(request, type, &reader, caller, reach))
      } catch {
        try refusal.note(error)
      }
    }
    try refusal.check(with: reader.faults)
    return operations
  }

  private func operation(
    _ request: EntityWriteRequest, _ type: LocalType, _ reader: inout LocalValueReader,
    _ caller: Caller, _ reach: FilterReach
  ) throws(Failure) -> LocalOperation {
    var body = LocalBody()
    if request.action != .delete {
      body = LocalBody(
        request.body, type: type, isPatch: request.action.isPatch, reader: &reader,
        pointer: request.pointer)
    }
    switch request.action {
    case .insert, .replace, .findOrInsert:
      body.checkWhole(type, reader: &reader, pointer: request.pointer)
    case .update, .insertOrUpdate, .updateOrInsert, .delete: break
    }
    let target: WriteTarget
    switch request.target {
    case .one(let id):
      target = .key(key(id, of: request, type, body, &reader))
    case .many(let parameters):
      target = .filter(
        try request.filter(
          parameters, type: type.entityType, reach: reach, now: clock.now(), caller: caller))
      for name in type.keyFields where body.keyValues[name] != nil {
        reader.note(
          "names one entity, but the filter selects many",
          at: request.pointer.appending(pointerMember: name))
      }
    }
    return LocalOperation(
      request.action, type, target, body: body, precondition: request.precondition(entities),
      pointer: request.pointer)
  }

  /// Returns the key that path and body give, or a new one.
  private func key(
    _ id: String?, of request: EntityWriteRequest, _ type: LocalType, _ body: LocalBody,
    _ reader: inout LocalValueReader
  ) -> String {
    func place(_ field: String) -> String { request.pointer.appending(pointerMember: field) }
    guard let id else {
      let mustExist = request.action == .update || request.action == .delete
      if mustExist || type.madeKeyField == nil {
        for name in type.keyFields where !body.named.contains(name) {
          reader.note("is required", at: place(name))
        }
      }
      guard let id = body.id else { return identifiers.make() }
      if LocalValueReader.id(.string(id)) == nil {
        reader.note(
          "forms a key of more than \(LocalValueReader.idBytesMax) bytes",
          at: place(type.keyFields[0]))
      }
      return id
    }
    guard let values = type.keyValues(of: id) else {
      let isOwn = type.keyFields == [LocalType.keyField]
      reader.note(
        isOwn ? "is not an id" : "is not a key of \(type.name)", at: place(type.keyFields[0]))
      return id
    }
    for (field, value) in values {
      if let given = body.keyValues[field.name] {
        if field.keyText(of: given) != field.keyText(of: value) {
          reader.note("is not the id in the path", at: place(field.name))
        }
      } else if request.action != .delete, !body.named.contains(field.name) {
        // Its rules apply to a key in the path too.
        let written = schema.formatted(value, field, dates: type.dates)
        _ = reader.readKey(written, field, dates: type.dates, at: place(field.name))
      }
    }
    return type.canonicalID(id) ?? id
  }
}

/// Creates ids of new entities: UUIDs of version 7 (RFC 9562 section 5.7), which begin with the time,
/// so that rows created in succession are stored next to each other.
package struct IdentifierMaker: Sendable {
  private let clock: WallClock
  private let random: RandomBytes

  package init(clock: WallClock, random: RandomBytes) {
    self.clock = clock
    self.random = random
  }

  /// Creates an id.
  package func make() -> String {
    let milliseconds = UInt64(bitPattern: clock.now().milliseconds)
    var bytes = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (8 * UInt64(5 - $0))) }
    bytes += random.bytes(10)
    bytes[6] = bytes[6] & 0x0F | 0x70
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      let digits = String(byte, radix: 16)
      text += digits.count == 1 ? "0\(digits)" : digits
    }
    return text
  }
}
