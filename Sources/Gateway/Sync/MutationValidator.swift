import Cryptography
import GraphQL
import LosslessJSON
import Model
import Storage
import Traces
import Upstream

/// Validates submitted mutations against the schema of their operations and converts them for the
/// queue: a mutation that could never be sent is not stored.
struct MutationValidator: Sendable {
  private let registry: OperationRegistry
  private let localTypes: Set<String>
  private let callers: QueuedCaller
  private let writes: QueuedWrites?
  private let makeID: @Sendable () -> MutationID

  /// - Parameter writes: nil without local types and local fields.
  init(
    registry: OperationRegistry, localTypes: Set<String>, callers: QueuedCaller,
    writes: QueuedWrites?,
    makeID: @escaping @Sendable () -> MutationID
  ) {
    self.registry = registry
    self.localTypes = localTypes
    self.callers = callers
    self.writes = writes
    self.makeID = makeID
  }

  /// Validates requests.
  ///
  /// - Parameters:
  ///   - requests: the requests with their idempotency keys.
  ///   - device: the caller's device.
  /// - Throws: every fault of every request at once.
  func newMutations(
    _ requests: [(request: MutationRequest, key: String)], caller: Caller, device: String
  ) throws(Failure) -> [NewMutation] {
    var faults: [Failure.Detail] = []
    var newMutations: [NewMutation] = []
    var sealed: [UpstreamName: String?] = [:]
    for (request, key) in requests {
      faults += request.faults
      if let write = request.write {
        let newWrite = try newWrite(
          request, write, key: key, caller: caller, device: device, &faults)
        if let newWrite { newMutations.append(newWrite) }
        continue
      }
      guard let operation = operation(of: request, &faults) else { continue }
      try AccessGate.admit(caller, to: operation)
      let upstream = operation.upstream
      let credential: String?
      if let known = sealed[upstream] {
        credential = known
      } else {
        credential = try callers.sealedCredential(of: caller.seen(by: upstream), device: device)
        sealed[upstream] = .some(credential)
      }
      let newMutation = try newMutation(
        request, key: key, operation, caller: caller, device: device, sealedCredential: credential,
        &faults)
      if let newMutation { newMutations.append(newMutation) }
    }
    guard faults.isEmpty else {
      throw Failure(.invalidMutation, "The mutation is invalid.", details: faults)
    }
    return newMutations
  }

  private func newWrite(
    _ request: MutationRequest, _ write: JSONValue, key: String, caller: Caller, device: String,
    _ faults: inout [Failure.Detail]
  ) throws(Failure) -> NewMutation? {
    guard let writes else {
      faults.append(
        fault(
          "\(request.pointer)/write", "needs local types or local fields, and there are none"))
      return nil
    }
    let references = request.references.enumerated().compactMap {
      entity($1, at: "\(request.pointer)/refs/\($0)", &faults)
    }
    return try writes.newMutation(
      request, write, id: makeID(), key: key, references: references,
      fingerprint: try Self.fingerprint(of: request), caller: caller, device: device, &faults)
  }

  private func operation(
    of request: MutationRequest, _ faults: inout [Failure.Detail]
  ) -> RegisteredOperation? {
    if let bound = request.bound { return bound.operation }
    guard let name = request.operation else { return nil }
    if let found = registry.operation(named: name), found.kind == .mutation { return found }
    let names = registry.operations.filter { $0.kind == .mutation }.map(\.name)
    let hint = NearestNames.didYouMean(name, among: names)
    faults.append(fault("\(request.pointer)/operation", "is not the name of a mutation.\(hint)"))
    return nil
  }

  private func newMutation(
    _ request: MutationRequest, key: String, _ operation: RegisteredOperation, caller: Caller,
    device: String, sealedCredential: String?, _ faults: inout [Failure.Detail]
  ) throws(Failure) -> NewMutation? {
    let countBefore = faults.count
    let variables = variables(of: request, operation, &faults)
    var optimistic = OptimisticReader(catalogue: registry.catalogue, localTypes: localTypes)
    let given = optimistic.read(request.optimistic ?? [], at: "\(request.pointer)/optimistic")
    faults += optimistic.faults
    let named = request.object.map { entity($0, at: "\(request.pointer)/object", &faults) }
    let references = request.references.enumerated().compactMap {
      entity($1, at: "\(request.pointer)/refs/\($0)", &faults)
    }
    if request.goesAheadOfAll, operation.sync?.isIndependent != true {
      faults.append(
        fault("\(request.pointer)/ahead", "requires \(operation.name) to be declared independent"))
    }
    guard let variables, faults.count == countBefore else { return nil }
    let overlays =
      request.optimistic == nil
      ? declared(by: operation, variables: variables, object: named ?? nil) : given
    let target = Self.target(
      of: operation, variables: variables, named: named ?? nil, references: references,
      overlays: overlays, mentions: TemporaryID.mentioned(in: request.variables ?? [:]))
    let submission = Mutation.Submission(
      id: makeID(), key: key, fingerprint: try Self.fingerprint(of: request),
      operation: operation.name, upstream: operation.upstream.text, mode: request.mode,
      effect: target.effect, unknownRule: Self.unknownRule(of: operation),
      overtakesAll: request.goesAheadOfAll, object: target.object, footprint: target.footprint)
    let seen = caller.seen(by: operation.upstream)
    return NewMutation(
      submission, expiresIn: request.expiresIn,
      payload: MutationPayload(
        variables: variables.json, scope: caller.scope(of: operation), user: caller.user,
        partitions: try callers.partitions(of: seen, device: device),
        sealedCredential: sealedCredential, overlays: overlays,
        trace: CurrentTrace.active?.context.traceparent))
  }

  private func variables(
    of request: MutationRequest, _ operation: RegisteredOperation,
    _ faults: inout [Failure.Detail]
  ) -> Variables? {
    if let bound = request.bound { return bound.variables }
    guard let given = request.variables else { return nil }
    do throws(VariableFaults) {
      return try operation.coerce(.value(given))
    } catch {
      faults += error.all.map { detail in
        switch detail.place {
        case .pointer(let pointer):
          fault("\(request.pointer)/variables\(pointer)", detail.detail)
        case .parameter(let name):
          fault(
            "\(request.pointer)/variables".appending(pointerMember: name), detail.detail)
        }
      }
      return nil
    }
  }

  /// Returns the optimistic update that the operation's `@sync` declares. A change that does not fit is
  /// left out: the mutation itself is not about it.
  private func declared(
    by operation: RegisteredOperation, variables: Variables, object: EntityKey?
  ) -> [OverlayChange] {
    (operation.sync?.optimistic ?? []).flatMap { rule -> [OverlayChange] in
      let key: EntityKey
      if let target = rule.target {
        guard case .entity(let found)? = operation.resolve(target, with: variables) else {
          return []
        }
        key = found
      } else {
        guard let object, object.type == rule.type, TemporaryID(object.key) != nil else {
          return []
        }
        key = object
      }
      var change = [
        JSONMember("op", .string(rule.action.rawValue)), JSONMember("type", .string(key.type)),
        JSONMember("id", .string(key.key)),
      ]
      if rule.action != .delete {
        let known = registry.catalogue.shapes[key.type]?.fields
        let fields = rule.fields(with: variables).filter { known?[$0.name] != nil }
        if rule.action == .merge, fields.isEmpty { return [] }
        change.append(JSONMember("fields", .object(fields)))
      }
      var reader = OptimisticReader(catalogue: registry.catalogue, localTypes: localTypes)
      let read = reader.read([.object(change)], at: "")
      return reader.faults.isEmpty ? read : []
    }
  }

  private func entity(
    _ text: String, at pointer: String, _ faults: inout [Failure.Detail]
  ) -> EntityKey? {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[1].isEmpty, !parts[1].utf8.contains(0),
      parts[1].utf8.count <= OptimisticReader.idBytesMax,
      registry.catalogue.type(named: String(parts[0])) != nil
    else {
      faults.append(
        fault(
          pointer,
          "must be Type:id, with the name of an entity type and an id of at most "
            + "\(OptimisticReader.idBytesMax) bytes"))
      return nil
    }
    return EntityKey(type: String(parts[0]), key: String(parts[1]))
  }

  private static func fingerprint(
    of request: MutationRequest
  ) throws(Failure) -> PayloadFingerprint {
    let digest = Array(SHA256.hash(data: request.canonicalBytes))
    guard let fingerprint = PayloadFingerprint(digest) else {
      throw Failure(.internal, "The mutation's fingerprint cannot be computed.")
    }
    return fingerprint
  }

  private static func unknownRule(of operation: RegisteredOperation) -> UnknownOutcomeRule {
    guard let sync = operation.sync else { return .park }
    if sync.isRepeatable { return .sendAgain }
    return sync.verify.map { .verify(operation: $0) } ?? .park
  }

  private func fault(_ pointer: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer(pointer), detail: detail)
  }

  /// Returns a mutation's object, its effect on it, and everything that it touches.
  ///
  /// - Parameters:
  ///   - named: the object given by the client, which overrides the operation's `@sync`.
  ///   - mentions: the temporary ids among the variables.
  private static func target(
    of operation: RegisteredOperation, variables: Variables, named: EntityKey?,
    references: [EntityKey], overlays: [OverlayChange], mentions: Set<TemporaryID>
  ) -> (object: EntityKey?, effect: MutationEffect, footprint: Footprint) {
    func entity(_ target: EffectTarget) -> EntityKey? {
      guard case .entity(let key) = operation.resolve(target, with: variables) else { return nil }
      return key
    }
    let created = overlays.filter { $0.action == .create }.map(\.key)
    let object = named ?? operation.sync?.object.flatMap(entity) ?? created.first
    // An entity that the variables mention exists already, so this mutation does not create it.
    var made = created
    if let object, !made.contains(object) { made.insert(object, at: 0) }
    let creates = made.compactMap { key -> TemporaryEntity? in
      guard let id = TemporaryID(key.key), !mentions.contains(id) else { return nil }
      return TemporaryEntity(id: id, type: key.type)
    }
    let deleted = operation.effects.deletes.compactMap(entity)
    let expectedToGo = overlays.filter { $0.action == .delete }.map(\.key)
    let isDeletion = object.map { (deleted + expectedToGo).contains($0) } ?? false
    let footprint = Footprint(
      object: object,
      references: references + (operation.sync?.references.compactMap(entity) ?? []),
      mentions: mentions, creates: creates)
    return (object, isDeletion ? .delete : creates.isEmpty ? .update : .create, footprint)
  }
}
