import Filtering
import LosslessJSON
import Model
import Storage
import SyncScheduler
import Traces

/// Lists of local writes in a device's queue: `{"write": […]}` in place of an operation.
///
/// A list is validated when it is enqueued, like a mutation, and applied when its turn comes. It is
/// written under its own id as the idempotency key, so an attempt that is made again after a crash
/// writes nothing twice.
///
/// A list that is about upstream's entities, to write their local fields or in a filter, is stored with the
/// scopes that its submitter saw: the credentials that these come from are not known when it is applied.
struct QueuedWrites: Sendable {
  /// The member of a request, and of the stored payload, with the operations.
  private static let member = "write"
  /// The member of the stored payload with the submitter's scopes, see ``ViewerCodec``.
  private static let viewerMember = "viewer"
  /// The maximum number of entities in the footprint. Later mutations wait for a list in any case; these
  /// are for the mutations before it.
  private static let touchedMax = 100

  let own: OwnDataWrites

  // MARK: Enqueueing

  /// Converts a request for the queue; nil if it has faults.
  ///
  /// - Parameters:
  ///   - references: the entities in `refs`.
  ///   - fingerprint: that of the request.
  func newMutation(
    _ request: MutationRequest, _ write: JSONValue, id: MutationID, key: String,
    references: [EntityKey], fingerprint: PayloadFingerprint, caller: Caller, device: String,
    _ faults: inout [Failure.Detail]
  ) throws(Failure) -> NewMutation? {
    let pointer = "\(request.pointer)/\(Self.member)"
    guard let items = write.array, (1...EntityWrites.operationsMax).contains(items.count) else {
      faults.append(
        Failure.Detail(
          place: .pointer(pointer),
          detail: "must be a list of 1 to \(EntityWrites.operationsMax) operations"))
      return nil
    }
    let list = EntityWriteList.read(items, at: pointer)
    var misread = list.faults
    for request in list.requests where !own.takes(request) {
      misread.append(untaken(request))
    }
    guard misread.isEmpty else {
      faults += misread
      return nil
    }
    let operations: [LocalOperation]
    do throws(Failure) {
      operations = try own.operations(list.requests, misread: [], by: caller)
    } catch {
      guard !error.details.isEmpty else { throw error }
      faults += error.details
      return nil
    }
    let (touched, creates) = Self.entities(of: zip(list.requests, operations))
    let submission = Mutation.Submission(
      id: id, key: key, fingerprint: fingerprint, operation: Mutation.writeOperation,
      upstream: Mutation.writeUpstream, mode: request.mode,
      effect: creates.isEmpty ? .update : .create, unknownRule: .sendAgain, object: nil,
      footprint: Footprint(
        object: nil, references: references + touched.prefix(Self.touchedMax),
        mentions: TemporaryID.mentioned(in: write), creates: creates))
    var payload = [JSONMember(Self.member, write)]
    if operations.contains(where: isAboutUpstream) {
      payload.append(JSONMember(Self.viewerMember, ViewerCodec.encode(caller.viewer)))
    }
    return NewMutation(
      submission, expiresIn: request.expiresIn,
      payload: MutationPayload(
        variables: JSONValue.object(payload).text,
        scope: .ownData(ofDevice: device), user: caller.user, partitions: "{}",
        sealedCredential: nil, overlays: [],
        trace: CurrentTrace.active?.context.traceparent))
  }

  /// Returns the fault of an operation that is not a write to own data.
  private func untaken(_ request: EntityWriteRequest) -> Failure.Detail {
    var (place, detail) = (
      "\(request.origin)/type", "is not the name of a local type, or of a type with local fields"
    )
    if let refusal = own.refusal(ofInterface: request.type) {
      detail = refusal
    } else if let fields = own.localFields(of: request.type) {
      place = request.pointer
      detail =
        "names no local field of \(request.type); in the queue only these are written: "
        + fields.joined(separator: ", ")
    }
    return Failure.Detail(place: .pointer(place), detail: detail)
  }

  /// Whether an operation depends on what its submitter sees of upstream's entities.
  private func isAboutUpstream(_ operation: LocalOperation) -> Bool {
    if operation.type.extended != nil { return true }
    guard case .filter(let filter) = operation.target else { return false }
    return filter.reachedTypes.contains { !own.knows($0) }
  }

  /// Returns the entities that a list writes or refers to, and those that it inserts under temporary
  /// ids.
  private static func entities(
    of operations: some Sequence<(EntityWriteRequest, LocalOperation)>
  ) -> (touched: [EntityKey], creates: [TemporaryEntity]) {
    var touched: [EntityKey] = []
    var creates: [TemporaryEntity] = []
    for (request, operation) in operations {
      for value in operation.body.fields.values { collect(value, into: &touched) }
      // An id that the service makes up is another one when the list is applied.
      guard case .one(let given) = request.target, given != nil || operation.body.id != nil,
        case .key(let id) = operation.target
      else { continue }
      let type = operation.type.name
      guard operation.action == .insert, operation.type.madeKeyField != nil,
        let temporary = TemporaryID(id)
      else {
        touched.append(EntityKey(type: type, key: id))
        continue
      }
      if !creates.contains(where: { $0.id == temporary }) {
        creates.append(TemporaryEntity(id: temporary, type: type))
      }
    }
    return (touched, creates)
  }

  private static func collect(_ value: JSONValue, into found: inout [EntityKey]) {
    if let key = value.referencedKey { found.append(key) }
    for element in value.array ?? [] { collect(element, into: &found) }
  }

  // MARK: Applying

  /// An insertion under a temporary id.
  private struct Creation {
    /// The place of the operation in its list.
    let index: Int
    let id: TemporaryID
  }

  /// Applies a claimed list.
  func attempt(_ claimed: ClaimedMutation) async -> MutationSender.Attempt {
    let payload = claimed.payload
    let stored = OperationFit.substituting(claimed.known, in: payload.variables)
    let items = stored[Self.member]?.array ?? []
    let (creations, made) = creations(in: items)
    let list = EntityWriteList.read(
      items.map { TemporaryID.substituting(made, in: $0) }, at: "/\(Self.member)")
    let caller = Caller(
      user: payload.user,
      device: Caller.Device(id: claimed.mutation.device, tokenDigest: ""))
    do throws(Failure) {
      let answer = try await own.write(
        list.requests, misread: list.faults, by: caller,
        key: EntityWriteKey(
          // With a blank, so that no client's key is the same.
          "write \(claimed.mutation.id.value)", content: Array(payload.variables.utf8)),
        seeing: Self.viewer(in: payload))
      return MutationSender.Attempt(
        outcome: .applied(created: Self.created(creations, answer.outcomes)), result: answer.body)
    } catch {
      return Self.attempt(after: error)
    }
  }

  /// Returns what the submitter of a list saw; nil for a list that is about own data alone.
  private static func viewer(in payload: MutationPayload) -> Viewer? {
    // As stored: a subject is never replaced as a temporary id.
    (try? JSONValue(checked: payload.variables))?[viewerMember].flatMap(ViewerCodec.decode)
  }

  /// Makes real ids for the entities that a list inserts under temporary ones.
  private func creations(
    in items: [JSONValue]
  ) -> (creations: [Creation], made: [TemporaryID: EntityKey]) {
    var creations: [Creation] = []
    var made: [TemporaryID: EntityKey] = [:]
    for (index, item) in items.enumerated() {
      guard item["op"]?.string == WriteAction.insert.rawValue, let type = item["type"]?.string,
        let keyField = own.madeKeyField(of: type),
        let text = (item["id"] ?? item["data"]?[keyField])?.string,
        let id = TemporaryID(text), made[id] == nil
      else { continue }
      made[id] = EntityKey(type: type, key: own.makeIdentifier())
      creations.append(Creation(index: index, id: id))
    }
    return (creations, made)
  }

  /// Returns the entities as they were written, by this attempt or by an earlier one.
  private static func created(
    _ creations: [Creation], _ outcomes: [EntityWriteOutcome]
  ) -> [TemporaryID: EntityKey] {
    var created: [TemporaryID: EntityKey] = [:]
    for creation in creations where outcomes.indices.contains(creation.index) {
      switch outcomes[creation.index] {
      case .written(let document, _): created[creation.id] = document.key
      case .deleted(let key): created[creation.id] = key
      case .matched: break
      }
    }
    return created
  }

  private static func attempt(after failure: Failure) -> MutationSender.Attempt {
    if failure.retry == .after {
      return MutationSender.Attempt(outcome: .transient(retryAfter: failure.retryAfter))
    }
    return MutationSender.Attempt(
      outcome: .permanent,
      result: MutationRecord.problem(
        code: failure.code.rawValue, detail: failure.message, errors: failure.details))
  }
}

/// Encodes the scopes that the submitter of a list saw: `[[kind, subject, partition], …]`, with the kinds'
/// raw values.
enum ViewerCodec {
  static func encode(_ viewer: Viewer) -> JSONValue {
    .array(
      viewer.layers.map { scope in
        [
          .number(JSONNumber(Int64(scope.kind.rawValue))), .string(scope.subject),
          .string(scope.partition),
        ]
      })
  }

  /// Returns nil for another form, whose viewer is unknown.
  static func decode(_ value: JSONValue) -> Viewer? {
    guard let items = value.array else { return nil }
    var layers: [Scope] = []
    for item in items {
      guard let kind = item[0]?.int64.flatMap({ Scope.Kind(rawValue: Int($0)) }),
        let subject = item[1]?.string, let partition = item[2]?.string
      else { return nil }
      layers.append(Scope(kind: kind, subject: subject, partition: partition))
    }
    return Viewer(layers: layers)
  }
}
