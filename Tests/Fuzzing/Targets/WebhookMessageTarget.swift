import Cryptography
import LosslessJSON
import Model

@testable import Gateway
@testable import Upstream

/// Messages that upstream sends to webhooks: header fields and bodies of both formats. A forged signature
/// is refused and a valid one accepted; what a body brings is valid, public and the same each time; and
/// what cannot be stored is refused with faults that have a place.
///
/// The first byte selects what the rest is: header fields and a body, a body that is signed here, or the
/// body of a Hasura event.
enum WebhookMessageTarget {
  private static let schema = """
    type Query { films: [Film!]!  found: [Found]  seats: [Seat!]  mine: [Own!]  film(id: ID!): Film }
    type Film {
      id: ID!  title: String!  year: Int  genre: Genre  tags: [[String]]  poster: Poster  notes: JSON
      director: Person  cast: [Person!]  related: [Found]  secret: String
    }
    type Person { id: ID!  name: String }
    type Seat @key(fields: "row at") { row: Int!  at: Long!  film: Film }
    type Own { id: ID!  text: String }
    type Poster { url: String!  width: Int }
    union Found = Film | Person
    enum Genre { NOIR WESTERN }
    scalar JSON  scalar Long
    """

  private static let operations = """
    query Films @cache(scope: PUBLIC, tags: ["home"]) {
      films {
        id title year genre tags notes poster { url width } director { id name } cast { id }
        related { ... on Film { id } ... on Person { id } }
      }
    }
    query Seats @cache(scope: PUBLIC) { seats { row at film { id } } }
    query Mine { mine { id text }  film(id: "1") { id secret } }
    """

  private static let outline: SchemaOutline = {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "operations.graphql", text: operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: schema)],
      settings: RegistrySettings(scalarNumbers: ["Long": .integer], keepsOutline: true))
    guard let outline = loaded.registry?.outline else {
      fatalError(loaded.faults.map(\.report).joined(separator: "\n"))
    }
    return outline
  }()

  private static let key = SymmetricKey(checked: Array("the secret of the settings".utf8))
  private static let otherKey = SymmetricKey(checked: Array("the secret of a stranger".utf8))
  private static let now = Timestamp(milliseconds: 1_700_000_000_000)
  private static let plain = HookMessageReader(
    hook: Hook(name: "plain", format: .plain(keys: [key])), outline: outline)
  private static let hasura = HookMessageReader(
    hook: Hook(
      name: "hasura",
      format: .hasura(
        secrets: ["0123456789abcdef"],
        tables: [
          "film": HookTable(
            type: "Film", columns: ["film_id": ["id"], "director_id": ["director"]],
            invalidations: [.operation("Films")]),
          "own": HookTable(type: "Own"),
        ])), outline: outline)

  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dial = input.first else { return }
    let rest = Array(input.dropFirst())
    switch dial % 3 {
    case 0: header(rest)
    case 1: signed(rest)
    default: check(hasura, rest) { _ in nil }
    }
  }

  // MARK: Signatures

  /// Header fields as any sender can write them, a line each, and the body after them.
  private static func header(_ input: [UInt8]) {
    let parts = input.split(
      separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
    let texts = parts.prefix(3).map { String(decoding: $0, as: UTF8.self) }
    guard texts.count == 3, let signature = signature(texts[0], texts[1], texts[2]) else { return }
    let body = parts.count == 4 ? Array(parts[3]) : []
    Finding.require((1...255).contains(signature.id.utf8.count), "an id of another length")
    Finding.require(
      signature.id.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "an id that is no token")
    Finding.require(
      (signature.seconds - now.milliseconds / 1_000).magnitude <= 300,
      "\(signature.seconds) is not now")
    let code = code(of: body, signature.id, signature.timestamp, key)
    Finding.require(
      signature.signs(body, with: [key]) == signature.signatures.contains(code),
      "a forged signature is accepted, or a valid one refused")
    Finding.require(!signature.signs(body, with: []), "signed with no key")
    guard !signature.signatures.contains(code) else { return }
    Finding.require(
      code != Self.code(of: body, signature.id, signature.timestamp, otherKey), "one code, two keys"
    )
    let read = outcome(plain, body, signature)
    Finding.require(read.failure?.code == .webhookUnauthenticated, "a forged message is read")
    // The same with the sender's own signature beside the others.
    guard signature.signatures.count < 15,
      let valid = Self.signature(texts[0], texts[1], "v1,\(Base64.encode(code)) \(texts[2])")
    else { return }
    Finding.require(valid.signs(body, with: [otherKey, key]), "a valid signature is refused")
    Finding.require(!valid.signs(body, with: [otherKey]), "another key is accepted")
    Finding.require(!valid.signs(body + [0x20], with: [key]), "another body is accepted")
    check(plain, body) { body in
      let code = Self.code(of: body, valid.id, valid.timestamp, key)
      return Self.signature(valid.id, valid.timestamp, "v1,\(Base64.encode(code))")
    }
  }

  private static func signed(_ body: [UInt8]) {
    check(plain, body) { body in
      let code = code(of: body, "msg_1", "1700000001", key)
      return Self.signature("msg_1", "1700000001", "v1,\(Base64.encode(code))")
    }
  }

  private static func signature(_ id: String, _ time: String, _ text: String) -> WebhookSignature? {
    try? WebhookSignature(id: id, timestamp: time, signature: text, now: now)
  }

  private static func code(
    of body: [UInt8], _ id: String, _ time: String, _ key: SymmetricKey
  ) -> [UInt8] {
    HMAC<SHA256>.authenticationCode(for: Array("\(id).\(time).".utf8) + body, using: key)
  }

  // MARK: Bodies

  private struct Outcome {
    var message: HookMessage?
    var failure: Failure?
  }

  private static func outcome(
    _ reader: HookMessageReader, _ body: [UInt8], _ signature: WebhookSignature?
  ) -> Outcome {
    do throws(Failure) {
      return Outcome(message: try reader.read(body, signature: signature, received: now))
    } catch {
      return Outcome(failure: error)
    }
  }

  /// - Parameter sign: returns the valid signature of a body; nil for a format without.
  private static func check(
    _ reader: HookMessageReader, _ body: [UInt8], signedBy sign: ([UInt8]) -> WebhookSignature?
  ) {
    let first = outcome(reader, body, sign(body))
    Finding.require(
      summary(first) == summary(outcome(reader, body, sign(body))), "one body, two results")
    if let failure = first.failure { return check(failure) }
    guard let message = first.message else { return }
    check(message.delivery)
    // What was read is the same after it was written.
    guard let value = try? JSONValue(parsing: body) else {
      return Finding.require(false, "a body that is not JSON is read")
    }
    let written = value.bytes
    let again = outcome(reader, written, sign(written))
    Finding.require(
      again.message.map(content) == content(message), "a body changes as it is written again")
  }

  private static func check(_ failure: Failure) {
    Finding.require(
      [.malformedRequest, .invalidWebhook].contains(failure.code), "\(failure.code) for a body")
    Finding.require(
      failure.code == .malformedRequest || !failure.details.isEmpty, "refused without a fault")
    Finding.require(failure.details.count <= Failure.Detail.countMax, "too many faults")
    for detail in failure.details {
      guard case .pointer(let pointer) = detail.place else {
        return Finding.require(false, "a fault in a parameter")
      }
      Finding.require(pointer.hasPrefix("/"), "a fault without a place: \(detail.detail)")
    }
  }

  /// Only fields that all callers see are stored, under keys that can be stored.
  private static func check(_ delivery: HookDelivery) {
    Finding.require((1...255).contains(delivery.event.utf8.count), "an event without an id")
    var seen: Set<EntityKey> = []
    for entity in delivery.entities {
      Finding.require(seen.insert(entity.key).inserted, "\(entity.key) is written twice")
      let shown = Set(outline.publicFields(of: entity.key.type))
      for field in entity.fields {
        Finding.require(shown.contains(field.name), "\(entity.key).\(field.name) is not public")
        Finding.require(
          (try? JSONDocument(delivery.bytes, range: field.range)) != nil,
          "\(entity.key).\(field.name) is stored as invalid JSON")
      }
    }
    for key in delivery.deletions + delivery.privateDeletions {
      Finding.require(!seen.contains(key), "\(key) is written and deleted")
    }
    let named = delivery.changed + delivery.deletions + delivery.privateDeletions
    for key in named + delivery.entities.map(\.key) {
      Finding.require(!key.key.isEmpty && !key.key.utf8.contains(0), "no key: \(key)")
      Finding.require(outline.isStored(key.type), "\(key) has no table")
    }
    Finding.require(
      delivery.withheld.values.allSatisfy { !$0.isEmpty }, "nothing is said to be left out")
  }

  // MARK: Comparison

  private static func summary(_ outcome: Outcome) -> [String] {
    if let failure = outcome.failure {
      return [failure.code.rawValue, failure.message] + failure.details.map { "\($0)" }
    }
    return outcome.message.map(content) ?? []
  }

  /// Everything that a message stores, without the order of sets.
  private static func content(_ message: HookMessage) -> [String] {
    let delivery = message.delivery
    var lines = [delivery.event, "\(delivery.moment as Any)", message.ignored ?? ""]
    for entity in delivery.entities {
      lines.append("\(entity.key)")
      for field in entity.fields {
        let text = String(decoding: delivery.bytes[field.range], as: UTF8.self)
        lines.append("\(field.name) \(field.merges) \(text)")
      }
    }
    lines += [delivery.changed, delivery.deletions, delivery.privateDeletions].map { "\($0)" }
    lines += delivery.invalidations.map { "\($0)" }
    lines += delivery.withheld.map { "\($0) \($1.sorted())" }.sorted()
    return lines
  }
}
