import LosslessJSON
package import Model
package import Storage

/// Writes to the types that live here alone, in the name of a device or a signed-in user.
///
/// A request says which entities; whose they are follows from who asks, so no request can reach
/// another's. Bodies are judged whole before the store is asked, all faults at once.
package struct OwnDataWrites: Sendable {
  private let schema: LocalSchema
  private let store: Store
  private let entities: EntityRenderer
  private let identifiers: IdentifierMaker
  private let clock: WallClock
  private let deadline: QueryDeadline
  private let quota: DataQuota

  package init(
    schema: LocalSchema, store: Store, entities: EntityRenderer, identifiers: IdentifierMaker,
    clock: WallClock, deadline: QueryDeadline, quota: DataQuota
  ) {
    self.quota = quota
    self.schema = schema
    self.store = store
    self.entities = entities
    self.identifiers = identifiers
    self.clock = clock
    self.deadline = deadline
  }

  func knows(_ type: String) -> Bool { schema.types[type] != nil }

  /// Does all of it or nothing.
  ///
  /// - Parameter misread: see ``EntityWrites/write(_:misread:by:)``.
  /// - Returns: an answer for each write, in their order.
  func write(
    _ requests: [EntityWriteRequest], misread: [Failure.Detail], by caller: Caller
  ) async throws(Failure) -> [EntityWriteOutcome] {
    let operations = try operations(requests, misread: misread, by: caller)
    let result: Result<WriteCommit, WriteRefusal>
    do throws(StorageError) {
      result = try await store.writeLocal(
        operations, schema: schema, owner: Self.owner(caller), now: clock.now(),
        quota: quota, deadline: deadline)
    } catch {
      throw Failure(writing: error, deadline: deadline)
    }
    return try entities.answers(result)
  }

  private static func owner(_ caller: Caller) -> LocalOwner {
    LocalOwner(
      device: caller.device.map { .ownData(ofDevice: $0.id) },
      user: caller.user.map { .ownData(ofUser: $0) })
  }

  // MARK: Checking

  private func operations(
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
        operations.append(try operation(request, type, &reader))
      } catch {
        try refusal.note(error)
      }
    }
    try refusal.check(with: reader.faults)
    return operations
  }

  private func operation(
    _ request: EntityWriteRequest, _ type: LocalType, _ reader: inout LocalValueReader
  ) throws(Failure) -> LocalOperation {
    let isPatch = request.action == .update || request.action == .updateOrInsert
    var body = LocalBody()
    if request.action != .delete {
      body = LocalBody(
        request.body, type: type, isPatch: isPatch, reader: &reader, pointer: request.pointer)
    }
    switch request.action {
    case .insert, .insertOrUpdate, .findOrInsert:
      body.checkWhole(type, reader: &reader, pointer: request.pointer)
    case .update, .updateOrInsert, .delete: break
    }
    let target: WriteTarget
    switch request.target {
    case .one(let id):
      target = .key(key(id, of: request, body, &reader))
    case .many(let parameters):
      target = .filter(try request.filter(parameters, type: type.entityType))
      if body.id != nil {
        reader.note(
          "names one entity, and many are written",
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
      if let told = body.id, told != id { reader.note("is not the id in the path", at: place) }
      return id
    }
    if let id = body.id { return id }
    let isMeant = request.action == .update || request.action == .delete
    if isMeant, !body.named.contains(LocalType.keyField) {
      reader.note("is required", at: place)
    }
    return identifiers.make()
  }
}
