import LosslessJSON
import Model
import Storage

/// A simulated phone's change: a film created, changed or deleted, with the ids the phone knows.
struct SimulatedChange: Hashable {
  var mode: MutationMode
  var effect: MutationEffect
  var rule: UnknownOutcomeRule
  /// The key of a film, or a temporary id.
  var film: String
  /// Another film it references, which must exist.
  var link: String?
  /// Distinguishes changes, and selects the field that an update sets.
  var value: Int
  /// Whether it has an optimistic update.
  var isOptimistic = true

  var object: EntityKey { .film(film) }

  /// The temporary id that it creates.
  var creates: [TemporaryEntity] {
    guard effect == .create, let id = TemporaryID(film) else { return [] }
    return [TemporaryEntity(id: id, type: "Film")]
  }

  /// The variables for upstream, before temporary ids are replaced.
  var variables: JSONValue {
    var all: JSONValue = [
      "effect": .string(effect.rawValue), "value": .number(JSONNumber(value)),
    ]
    if effect != .create { all["id"] = .string(film) }
    if let link { all["link"] = .string(link) }
    return all
  }

  var overlays: [OverlayChange] {
    guard isOptimistic else { return [] }
    switch effect {
    case .create: return [OverlayChange(.create, object, fields: Self.fields(variables).bytes)]
    case .update: return [OverlayChange(.merge, object, fields: Self.fields(variables).bytes)]
    case .delete: return [OverlayChange(.delete, object)]
    }
  }

  /// Returns the fields of a film after such variables were applied.
  static func fields(_ variables: JSONValue) -> JSONValue {
    let value = variables["value"]?.int64 ?? 0
    let title = JSONValue.string("title \(value)")
    let rating = JSONValue.number(JSONNumber(value))
    var fields: JSONValue
    if variables["effect"] == "create" {
      fields = ["title": title, "rating": rating]
    } else {
      fields = value.isMultiple(of: 2) ? ["rating": rating] : ["title": title]
    }
    if let link = variables["link"]?.string { fields["link"] = .reference(.film(link)) }
    return fields
  }

  func arrival(_ id: MutationID, key: String) -> NewMutation {
    NewMutation(
      Mutation.Submission(
        id: id, key: key, fingerprint: fingerprint, operation: operation, upstream: "films",
        mode: mode, effect: effect, unknownRule: rule, object: object,
        footprint: Footprint(
          object: object,
          references: link.map { [.film($0)] } ?? [],
          mentions: TemporaryID.mentioned(in: variables), creates: creates)),
      payload: MutationPayload(
        variables: variables.text, scope: .public, user: nil, partitions: "{}",
        sealedCredential: "sealed", overlays: overlays))
  }

  private var operation: String {
    switch effect {
    case .create: "AddFilm"
    case .update: value.isMultiple(of: 2) ? "RateFilm" : "RenameFilm"
    case .delete: "DeleteFilm"
    }
  }

  var fingerprint: PayloadFingerprint {
    var bytes = [UInt8](repeating: 0, count: PayloadFingerprint.byteCount)
    for (place, byte) in "\(mode) \(film) \(variables.canonicalText)".utf8.enumerated() {
      let place = place % bytes.count
      bytes[place] = bytes[place] &* 31 &+ byte
    }
    guard let fingerprint = PayloadFingerprint(bytes) else {
      preconditionFailure("a fingerprint has so many bytes")
    }
    return fingerprint
  }
}
