import Filtering
import LosslessJSON
package import Model
package import Storage

/// Writes to local types on behalf of a device or a signed-in user.
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

  package init(
    schema: LocalSchema, store: Store, entities: EntityRenderer, identifiers: IdentifierMaker,
    clock: WallClock, deadline: QueryDeadline, quota: DataQuota, reach: FilterReach = .none
  ) {
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

  /// Performs all writes or none.
  ///
  /// - Parameters:
  ///   - misread: see ``EntityWrites/write(_:misread:by:key:)``.
  ///   - key: see there.
  func write(
    _ requests: [EntityWriteRequest], misread: [Failure.Detail], by caller: Caller,
    key: EntityWriteKey? = nil
  ) async throws(Failure) -> EntityWriteAnswer {
    let operations = try operations(requests, misread: misread, by: caller)
    let stored = key.flatMap { self.key($0, of: caller) }
    let result: Result<WriteCommit, WriteRefusal>
    do throws(StorageError) {
      result = try await store.writeLocal(
        operations, schema: schema, owner: Self.owner(caller), viewer: caller.viewer,
        now: clock.now(), quota: quota, deadline: deadline, key: stored)
    } catch {
      throw Failure(writing: error, deadline: deadline)
    }
    let isReplay = (try? result.get())?.replay != nil
    return EntityWriteAnswer(outcomes: try entities.outcomes(result), isReplay: isReplay)
  }

  /// Returns a key as the store knows it; nil without an owner, who has nothing to write either.
  private func key(_ key: EntityWriteKey, of caller: Caller) -> LocalWriteKey? {
    let owner = Self.owner(caller)
    return (owner.device ?? owner.user).flatMap { key.stored(for: $0, entities) }
  }

  private static func owner(_ caller: Caller) -> LocalOwner {
    LocalOwner(
      device: caller.device.map { .ownData(ofDevice: $0.id) },
      user: caller.user.map { .ownData(ofUser: $0) })
  }

  /// Makes the id of a new entity.
  func makeIdentifier() -> String { identifiers.make() }

  // MARK: Checking

  /// Checks requests as far as possible without the stored entities.
  func operations(
    _ requests: [EntityWriteRequest], misread: [Failure.Detail], by caller: Caller
  ) throws(Failure) -> [LocalOperation] {
    var reader = LocalValueReader(schema: schema)
    var refusal = ListRefusal(misread: misread)
    var operations: [LocalOperation] = []
    for request in requests {
      guard let type = schema.types[request.type] else {
        throw Failure(.notFound, "There is no local type \(request.type).")
      }
      try OwnDataGate.admit(caller, to: type)
      do throws(Failure) {
        operations.append(try operation(request, type, &reader, caller))
      } catch {
        try refusal.note(error)
      }
    }
    try refusal.check(with: reader.faults)
    return operations
  }

  private func operation(
    _ request: EntityWriteRequest, _ type: LocalType, _ reader: inout LocalValueReader,
    _ caller: Caller
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
      target = .key(key(id, of: request, body, &reader))
    case .many(let parameters):
      target = .filter(
        try request.filter(
          parameters, type: type.entityType, reach: reach, now: clock.now(), caller: caller))
      if body.id != nil {
        reader.note(
          "names one entity, but the filter selects many",
          at: request.pointer.appending(pointerMember: LocalType.keyField))
      }
    }
    return LocalOperation(
      request.action, type, target, body: body, precondition: request.precondition(entities),
      pointer: request.pointer)
  }

  private func key(
    _ id: String?, of request: EntityWriteRequest, _ body: LocalBody,
    _ reader: inout LocalValueReader
  ) -> String {
    let place = request.pointer.appending(pointerMember: LocalType.keyField)
    if let id {
      if LocalValueReader.id(.string(id)) == nil { reader.note("is not an id", at: place) }
      if let given = body.id, given != id { reader.note("is not the id in the path", at: place) }
      return id
    }
    if let id = body.id { return id }
    let mustExist = request.action == .update || request.action == .delete
    if mustExist, !body.named.contains(LocalType.keyField) {
      reader.note("is required", at: place)
    }
    return identifiers.make()
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
