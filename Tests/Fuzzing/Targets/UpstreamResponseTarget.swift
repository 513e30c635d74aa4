import LosslessJSON
import Model

@testable import Upstream

/// Responses of upstream: they are normalised for the store and written for clients, whatever they hold, and
/// the keys of entities do not change.
enum UpstreamResponseTarget {
  private static let context = UpstreamCallContext(
    call: CallNumber(7), horizon: CallNumber(5), received: Timestamp(milliseconds: 1000),
    scope: .public)

  /// Runs one input: the first byte selects the operation.
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dial = input.first,
      let document = try? JSONDocument(Array(input.dropFirst())),
      let response = UpstreamResponse(document: document)
    else { return }
    let operation = FuzzedOperations.all[Int(dial) % FuzzedOperations.all.count]
    let selection = operation.selection(for: .none)
    let answer = Normaliser.normalise(
      response, of: operation, variables: .none, selection: selection, context: context
    ).answer
    for entity in answer.entities {
      for field in entity.fields {
        Finding.require(
          (try? JSONDocument(answer.bytes, range: field.range)) != nil,
          "\(entity.key).\(field.name) is stored as no JSON")
      }
    }
    let body = UpstreamResponseRenderer.render(response, selection: selection)
    Finding.require((try? JSONDocument(body)) != nil, "what is written is no JSON")
    guard let result = answer.result else { return }
    let rendered = ResultRenderer.render(
      snapshot(of: answer, result), selection: selection, onError: .fill)
    Finding.require((try? JSONDocument(rendered.body)) != nil, "what is stored is no JSON")
    keys(document.root)
  }

  /// The response as an empty store returns it after storing it.
  private static func snapshot(
    of answer: NormalisedResponse, _ result: ResultWrite
  ) -> ResultSnapshot {
    var records: [EntityKey: EntityRecord] = [:]
    for entity in answer.entities {
      let earlier = records[entity.key]?.layers ?? []
      records[entity.key] = EntityRecord(layers: [text(entity.fields, answer.bytes)] + earlier)
    }
    return ResultSnapshot(
      key: result.key, call: answer.call, received: answer.received,
      root: text(result.root, answer.bytes), errors: result.errors, isDue: false,
      entities: records, revision: .zero)
  }

  private static func text(_ fields: [NormalisedResponse.Field], _ bytes: [UInt8]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for field in fields {
      writer.name(field.name)
      writer.raw(bytes[field.range])
    }
    writer.endObject()
    return writer.bytes
  }

  /// Tries every leaf as a key of every kind.
  private static func keys(_ node: JSONNode) {
    let value = JSONValue(node)
    for canonical in [KeyField.Canonical.text, .integer] {
      guard let key = EntityKeyRule.text(of: value, canonical) else { continue }
      Finding.require(
        EntityKeyRule.text(of: .string(key), canonical) == key, "a key changes: \(key)")
    }
    for element in node.elements { keys(element) }
    for member in node.members { keys(member.value) }
  }
}
