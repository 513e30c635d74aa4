import Cryptography
import LosslessJSON
import Model
import Storage

/// The idempotency key of a list of writes.
package struct EntityWriteKey: Sendable {
  let text: String
  /// Everything of the request that its outcome depends on, in canonical form.
  let content: [UInt8]

  package init(_ text: String, content: [UInt8]) {
    self.text = text
    self.content = content
  }

  /// Returns the key as the store knows it.
  ///
  /// - Parameters:
  ///   - reader: who else the outcomes show data of, besides the owner: a replay to another reader would
  ///     show it to that one.
  ///   - entities: renders the outcomes for replays.
  func stored(
    for owner: Scope, reader: String? = nil, _ entities: EntityRenderer
  ) -> LocalWriteKey? {
    let content = self.content + (reader.map { Array("\nreader \($0)".utf8) } ?? [])
    guard let fingerprint = PayloadFingerprint(Array(SHA256.hash(data: content))) else {
      return nil
    }
    return LocalWriteKey(owner: owner, key: text, fingerprint: fingerprint) { outcomes in
      WriteOutcomesCodec.encode(try outcomes.map { try entities.rendered($0) })
    }
  }
}

/// The outcomes of a list of writes.
package struct EntityWriteAnswer: Sendable {
  /// In the order of the requests.
  package let outcomes: [EntityWriteOutcome]
  /// Whether they are those of an earlier request with the same key.
  package let isReplay: Bool
}

extension EntityWriteAnswer {
  /// The response to a list: `{"items": […]}`.
  package var body: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("items")
    writer.beginArray()
    for outcome in outcomes { writer.raw(outcome.body) }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }
}

extension EntityWriteOutcome {
  /// The entity, `null` for a deletion, or `{"matched": n}` for a filter.
  package var body: [UInt8] {
    switch self {
    case .written(let document, _): document.body
    case .deleted: Array("null".utf8)
    case .matched(let count): Array(#"{"matched":\#(count)}"#.utf8)
    }
  }
}
