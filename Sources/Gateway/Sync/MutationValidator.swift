import Cryptography
import GraphQL
import LosslessJSON
import Model
import Storage
import Upstream

/// Validates submitted mutations against the schema of their operations and converts them for the
/// queue: a mutation that could never be sent is not stored.
struct MutationValidator: Sendable {
  private let registry: OperationRegistry
  private let localTypes: Set<String>
  private let callers: QueuedCaller
  private let makeID: @Sendable () -> MutationID

  init(
    registry: OperationRegistry, localTypes: Set<String>, callers: QueuedCaller,
    makeID: @escaping @Sendable () -> MutationID
  ) {
    self.registry = registry
    self.localTypes = localTypes
    self.callers = callers
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
    let sealed = try callers.sealedCredential(of: caller, device: device)
    for (request, key) in requests {
      faults += request.faults
      guard let operation = operation(of: request, &faults) else { continue }
      try AccessGate.admit(caller, to: operation)
      let newMutation = try newMutation(
        request, key: key, operation, caller: caller, device: device, sealedCredential: sealed,
        &faults)
      if let newMutation { newMutations.append(newMutation) }
    }
    guard faults.isEmpty else {
      throw Failure(.invalidMutation, "The mutation is invalid.", details: faults)
    }
    return newMutations
  }

  private func operation(
    of request: MutationRequest, _ faults: inout [Failure.Detail]
  ) -> RegisteredOperation? {
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
    let overlays = optimistic.read(request.optimistic, at: "\(request.pointer)/optimistic")
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
    let target = Self.target(
      of: operation, variables: variables, named: named ?? nil, references: references,
      overlays: overlays, mentions: TemporaryID.mentioned(in: request.variables ?? [:]))
    let submission = Mutation.Submission(
      id: makeID(), key: key, fingerprint: try Self.fingerprint(of: request),
      operation: operation.name, upstream: operation.upstream, mode: request.mode,
      effect: target.effect, unknownRule: Self.unknownRule(of: operation),
      overtakesAll: request.goesAheadOfAll, object: target.object, footprint: target.footprint)
    return NewMutation(
      submission, expiresIn: request.expiresIn,
      payload: MutationPayload(
        variables: variables.json, scope: caller.scope(of: operation), user: caller.user,
        partitions: try callers.partitions(of: caller, device: device),
        sealedCredential: sealedCredential, overlays: overlays))
  }

  private func variables(
    of request: MutationRequest, _ operation: RegisteredOperation,
    _ faults: inout [Failure.Detail]
  ) -> Variables? {
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
