import LosslessJSON
package import Model
package import Storage

/// Writes to the types that live here alone, in the name of a device or a signed-in user.
///
/// A request says which entities; whose they are follows from who asks, so no request can reach
/// another's. Bodies are judged whole before the store is asked, all faults at once.
package struct LocalWriteService: Sendable {
  /// Operations in one list.
  package static let operationsMax = 1_000

  private let schema: LocalSchema
  private let store: Store
  private let entities: EntityRenderer
  private let identifiers: IdentifierMaker
  private let clock: WallClock

  package init(
    schema: LocalSchema, store: Store, entities: EntityRenderer, identifiers: IdentifierMaker,
    clock: WallClock
  ) {
    self.schema = schema
    self.store = store
    self.entities = entities
    self.identifiers = identifiers
    self.clock = clock
  }

  /// Does all of it or nothing.
  ///
  /// - Returns: an answer for each write, in their order.
  package func write(
    _ requests: [LocalWriteRequest], by caller: Caller
  ) async throws(Failure) -> [LocalWriteAnswer] {
    guard requests.count <= Self.operationsMax else {
      throw Failure(.malformedRequest, "A list holds at most \(Self.operationsMax) operations.")
    }
    let operations = try operations(requests, by: caller)
    let result: Result<WriteCommit, WriteRefusal>
    do throws(StorageError) {
      result = try await store.writeLocal(
        operations, schema: schema, owner: Self.owner(caller), now: clock.now())
    } catch {
      throw Failure(
        .storageUnavailable, "The store takes no writes now.", retry: .after, cause: "\(error)")
    }
    switch result {
    case .success(let commit):
      var answers: [LocalWriteAnswer] = []
      for outcome in commit.outcomes { answers.append(try answer(outcome)) }
      return answers
    case .failure(let refusal):
      throw Failure(refusal)
    }
  }

  private static func owner(_ caller: Caller) -> LocalOwner {
    LocalOwner(
      device: caller.device.map { .ownData(ofDevice: $0.id) },
      user: caller.user.map { .ownData(ofUser: $0) })
  }

  // MARK: Checking

  private func operations(
    _ requests: [LocalWriteRequest], by caller: Caller
  ) throws(Failure) -> [LocalOperation] {
    var reader = LocalValueReader(schema: schema)
    var operations: [LocalOperation] = []
    for request in requests {
      let type = try localType(of: request, caller)
      operations.append(operation(request, type, &reader))
    }
    guard reader.faults.isEmpty else {
      throw Failure(.invalidEntity, "The entity cannot be written.", details: reader.faults)
    }
    return operations
  }

  private func localType(
    of request: LocalWriteRequest, _ caller: Caller
  ) throws(Failure) -> LocalType {
    guard let type = schema.types[request.type] else {
      throw Failure(.notFound, "There is no local type \(request.type).")
    }
    switch type.scope {
    case .device where caller.device == nil:
      throw Failure(
        .unauthenticated, "\(type.name) belongs to a device: send its token in Device-Token.")
    case .user where caller.user == nil:
      throw Failure(.signInRequired, "\(type.name) belongs to a user: sign in.")
    case .device, .user, .public:
      return type
    }
  }

  private func operation(
    _ request: LocalWriteRequest, _ type: LocalType, _ reader: inout LocalValueReader
  ) -> LocalOperation {
    let isPatch = request.action == .update || request.action == .updateOrInsert
    var body = LocalBody()
    if request.action != .delete {
      body = LocalBody(
        request.body, type: type, isPatch: isPatch, reader: &reader, pointer: request.pointer)
    }
    if request.action == .insert || request.action == .insertOrUpdate {
      body.checkWhole(type, reader: &reader, pointer: request.pointer)
    }
    return LocalOperation(
      request.action, type, .key(key(of: request, body, &reader)), body: body,
      precondition: precondition(request.match, type), pointer: request.pointer)
  }

  private func key(
    of request: LocalWriteRequest, _ body: LocalBody, _ reader: inout LocalValueReader
  ) -> String {
    let place = request.pointer.appending(pointerMember: LocalType.keyField)
    if let id = request.id {
      if LocalValueReader.id(.string(id)) == nil { reader.note("is not an id", at: place) }
      if let told = body.id, told != id { reader.note("is not the id in the path", at: place) }
      return id
    }
    if let id = body.id { return id }
    if request.action == .update || request.action == .delete {
      reader.note("is required", at: place)
    }
    return identifiers.make()
  }

  private func precondition(
    _ match: LocalWriteRequest.Match?, _ type: LocalType
  ) -> (@Sendable (EntityRecord?) -> Bool)? {
    guard let match else { return nil }
    let entities = entities
    return { record in
      guard let record else { return false }
      switch match {
      case .any: return true
      case .revisions(let revisions):
        let key = EntityKey(type: type.name, key: "")
        let document = try? entities.document(key, record)
        return document.map { revisions.contains($0.revision) } ?? false
      }
    }
  }

  private func answer(_ outcome: WriteOutcome) throws(Failure) -> LocalWriteAnswer {
    switch outcome {
    case .written(let key, let record, let isNew):
      guard let document = try entities.document(key, record) else {
        throw Failure(.internal, "The entity cannot be told.", cause: "\(key.type) is not known")
      }
      return .written(document, isNew: isNew)
    case .deleted(let key): return .deleted(key)
    case .matched: throw Failure(.internal, "No write was by filter.")
    }
  }
}

extension Failure {
  /// Why a list of local writes was refused, in words for its client.
  init(_ refusal: WriteRefusal) {
    func place(_ pointer: String, _ detail: String) -> [Detail] {
      pointer.isEmpty ? [] : [Detail(place: .pointer(pointer), detail: detail)]
    }
    switch refusal {
    case .exists(let key, let pointer):
      self.init(
        .entityExists, "\(key) exists.", details: place(pointer, "exists"))
    case .missing(let key, let pointer):
      self.init(.notFound, "There is no \(key).", details: place(pointer, "is not there"))
    case .changed(let key, let pointer):
      self.init(
        .preconditionFailed, "\(key) is not what If-Match says.",
        details: place(pointer, "is another"))
    case .denied(let key, let field, let pointer):
      self.init(
        .stillReferenced, "\(key) is not deleted while its \(field) leads to others.",
        details: place(pointer, "has \(field)"))
    case .invalid(let faults):
      self.init(.invalidEntity, "The entity cannot be written.", details: faults)
    case .tooMany(let max, let pointer):
      self.init(
        .tooCostly, "The filter holds of more than \(max) entities: write them in parts.",
        details: place(pointer, "holds of too many"))
    }
  }
}
