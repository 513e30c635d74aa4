import LosslessJSON
import Model

/// Encodes the mutations of one request for the inbox, without loss: every node of a cluster can submit them,
/// and the leader enqueues them.
///
/// `{"v":1,"mutations":[…]}`. A version that a node does not know is refused, never guessed: its writer is
/// newer. Credentials stay sealed, since all nodes have the same root key.
package enum MutationCodec {
  /// The version of the layout below; a new layout needs a new number.
  package static let version: Int64 = 1

  package enum Fault: Error, Hashable, Sendable {
    /// Written by a newer Larder.
    case newerVersion(Int64)
    /// Not what any version writes.
    case malformed
  }

  // MARK: Encoding

  package static func encode(_ mutations: [NewMutation]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("v")
    writer.int(version)
    writer.name("mutations")
    writer.beginArray()
    for mutation in mutations { write(mutation, to: &writer) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private static func write(_ mutation: NewMutation, to writer: inout JSONWriter) {
    let (submission, payload) = (mutation.submission, mutation.payload)
    writer.beginObject()
    writer.member("id", submission.id.value)
    writer.member("key", submission.key)
    writer.member("fingerprint", Hexadecimal.encode(submission.fingerprint.bytes))
    writer.member("operation", submission.operation)
    writer.member("upstream", submission.upstream)
    writer.member("mode", submission.mode.rawValue)
    writer.member("effect", submission.effect.rawValue)
    writer.member("unknownRule", submission.unknownRule.text)
    writer.name("overtakesAll")
    writer.bool(submission.overtakesAll)
    if let object = submission.object { writer.member("object", [object.type, object.key]) }
    writer.name("footprint")
    writer.beginArray()
    for token in submission.footprint.tokens { writer.strings(texts(of: token)) }
    writer.endArray()
    writer.name("creates")
    writer.beginArray()
    for made in submission.footprint.creates { writer.strings([made.type, made.id.value]) }
    writer.endArray()
    if let expiresIn = mutation.expiresIn {
      // Seconds, and what is left in attoseconds.
      writer.name("expiresIn")
      writer.beginArray()
      writer.int(expiresIn.components.seconds)
      writer.int(expiresIn.components.attoseconds)
      writer.endArray()
    }
    writer.member("variables", payload.variables)
    writer.name("scope")
    writer.beginArray()
    writer.int(payload.scope.kind.rawValue)
    writer.string(payload.scope.subject)
    writer.string(payload.scope.partition)
    writer.endArray()
    if let user = payload.user { writer.member("user", user) }
    writer.member("partitions", payload.partitions)
    if let credential = payload.sealedCredential { writer.member("credential", credential) }
    writer.name("overlays")
    writer.beginArray()
    for change in payload.overlays {
      writer.strings([
        change.action.rawValue, change.key.type, change.key.key,
        String(decoding: change.fields, as: UTF8.self),
      ])
    }
    writer.endArray()
    if let trace = payload.trace { writer.member("trace", trace) }
    writer.endObject()
  }

  /// An entity is a pair of type and key, a temporary id stands alone.
  private static func texts(of token: Footprint.Token) -> [String] {
    switch token {
    case .entity(let key): [key.type, key.key]
    case .temporary(let id): [id.value]
    }
  }

  // MARK: Decoding

  package static func decode(_ bytes: [UInt8]) throws(Fault) -> [NewMutation] {
    guard let value = try? JSONValue(checked: bytes), let version = value["v"]?.int64 else {
      throw .malformed
    }
    guard version <= Self.version else { throw .newerVersion(version) }
    guard version == Self.version, let items = value["mutations"]?.array else { throw .malformed }
    var mutations: [NewMutation] = []
    for item in items {
      guard let mutation = mutation(item) else { throw .malformed }
      mutations.append(mutation)
    }
    return mutations
  }

  private static func mutation(_ value: JSONValue) -> NewMutation? {
    guard let submission = submission(value), let payload = payload(value) else { return nil }
    var expiresIn: Duration?
    if let stored = value["expiresIn"] {
      guard let seconds = stored[0]?.int64, let attoseconds = stored[1]?.int64 else { return nil }
      expiresIn = Duration(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }
    return NewMutation(submission, expiresIn: expiresIn, payload: payload)
  }

  private static func submission(_ value: JSONValue) -> Mutation.Submission? {
    guard let id = value["id"]?.string, let key = value["key"]?.string,
      let fingerprint = value["fingerprint"]?.string.flatMap(Hexadecimal.decode)
        .flatMap({ PayloadFingerprint($0) }),
      let operation = value["operation"]?.string, let upstream = value["upstream"]?.string,
      let mode = value["mode"]?.string.flatMap(MutationMode.init),
      let effect = value["effect"]?.string.flatMap(MutationEffect.init),
      let unknownRule = value["unknownRule"]?.string.flatMap(UnknownOutcomeRule.init(text:)),
      let overtakesAll = value["overtakesAll"]?.bool, let footprint = footprint(value)
    else { return nil }
    var object: EntityKey?
    if let stored = value["object"] {
      guard let type = stored[0]?.string, let key = stored[1]?.string else { return nil }
      object = EntityKey(type: type, key: key)
    }
    return Mutation.Submission(
      id: MutationID(id), key: key, fingerprint: fingerprint, operation: operation,
      upstream: upstream, mode: mode, effect: effect, unknownRule: unknownRule,
      overtakesAll: overtakesAll, object: object, footprint: footprint)
  }

  private static func footprint(_ value: JSONValue) -> Footprint? {
    guard let stored = value["footprint"]?.array, let made = value["creates"]?.array else {
      return nil
    }
    var tokens: [Footprint.Token] = []
    for item in stored {
      guard let first = item[0]?.string else { return nil }
      if let key = item[1]?.string {
        tokens.append(.entity(EntityKey(type: first, key: key)))
      } else {
        guard let id = TemporaryID(first) else { return nil }
        tokens.append(.temporary(id))
      }
    }
    var creates: [TemporaryEntity] = []
    for item in made {
      guard let type = item[0]?.string, let id = item[1]?.string.flatMap(TemporaryID.init) else {
        return nil
      }
      creates.append(TemporaryEntity(id: id, type: type))
    }
    return Footprint(tokens: tokens, creates: creates)
  }

  private static func payload(_ value: JSONValue) -> MutationPayload? {
    guard let variables = value["variables"]?.string,
      let kind = value["scope"]?[0]?.int64.flatMap({ Scope.Kind(rawValue: Int($0)) }),
      let subject = value["scope"]?[1]?.string, let partition = value["scope"]?[2]?.string,
      let partitions = value["partitions"]?.string, let changes = value["overlays"]?.array
    else { return nil }
    var overlays: [OverlayChange] = []
    for change in changes {
      guard let action = change[0]?.string.flatMap(OverlayChange.Action.init),
        let type = change[1]?.string, let key = change[2]?.string, let fields = change[3]?.string
      else { return nil }
      overlays.append(
        OverlayChange(action, EntityKey(type: type, key: key), fields: Array(fields.utf8)))
    }
    return MutationPayload(
      variables: variables, scope: Scope(kind: kind, subject: subject, partition: partition),
      user: value["user"]?.string, partitions: partitions,
      sealedCredential: value["credential"]?.string, overlays: overlays,
      trace: value["trace"]?.string)
  }
}

extension JSONWriter {
  fileprivate mutating func member(_ name: String, _ value: String) {
    self.name(name)
    string(value)
  }

  fileprivate mutating func member(_ name: String, _ values: [String]) {
    self.name(name)
    strings(values)
  }

  fileprivate mutating func strings(_ values: [String]) {
    beginArray()
    for value in values { string(value) }
    endArray()
  }
}
