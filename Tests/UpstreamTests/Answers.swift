import LosslessJSON
import Model
import Testing

@testable import Upstream

/// Helpers for responses, their normalisation and rendering.
enum Answers {
  static func answer(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws
    -> UpstreamResponse
  {
    try #require(
      UpstreamResponse(document: try JSONDocument(text: text)), sourceLocation: sourceLocation)
  }

  static let context = UpstreamCallContext(
    call: CallNumber(7), horizon: CallNumber(5), received: Timestamp(milliseconds: 1000),
    scope: .public)

  static func normalise(
    _ answer: UpstreamResponse, _ operation: RegisteredOperation, _ variables: Variables = .none,
    context: UpstreamCallContext = context
  ) -> Normaliser.Outcome {
    Normaliser.normalise(
      answer, of: operation, variables: variables,
      selection: operation.selection(for: variables), context: context)
  }

  /// Entities as `Film/9 {"title":"x"}` lines, in their order.
  static func lines(_ answer: NormalisedResponse) -> [String] {
    answer.entities.map { "\($0.key) \(object($0.fields, answer.bytes))" }
  }

  static func root(_ answer: NormalisedResponse) -> String? {
    answer.result.map { object($0.root, answer.bytes) }
  }

  private static func object(_ fields: [NormalisedResponse.Field], _ bytes: [UInt8]) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    for field in fields {
      writer.name(field.name)
      writer.raw(bytes[field.range])
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}

/// A minimal store for rendering: the last value of each field, with embedded objects merged.
struct TinyStore {
  private var entities: [EntityKey: Fields] = [:]
  private var results: [ResultKey: (root: Fields, errors: [UInt8]?)] = [:]
  private var deleted: Set<EntityKey> = []

  private struct Fields {
    var names: [String] = []
    var values: [String: [UInt8]] = [:]

    mutating func write(_ field: NormalisedResponse.Field, _ bytes: [UInt8]) {
      let new = Array(bytes[field.range])
      guard let old = values[field.name] else {
        names.append(field.name)
        values[field.name] = new
        return
      }
      if field.isPartial { return }
      let both = old + new
      let merged =
        field.merges
        ? StoredMerge.merge(0..<old.count, old.count..<both.count, in: both) ?? old : new
      values[field.name] = merged
    }

    var json: [UInt8] {
      var writer = JSONWriter()
      writer.beginObject()
      for name in names {
        writer.name(name)
        writer.raw(values[name] ?? [])
      }
      writer.endObject()
      return writer.bytes
    }
  }

  mutating func apply(_ answer: NormalisedResponse) {
    for entity in answer.entities {
      for field in entity.fields {
        entities[entity.key, default: Fields()].write(field, answer.bytes)
      }
    }
    deleted.formUnion(answer.deletions)
    guard let result = answer.result else { return }
    var stored = results[result.key] ?? (Fields(), nil)
    for field in result.root { stored.root.write(field, answer.bytes) }
    stored.errors = result.errors
    results[result.key] = stored
  }

  mutating func delete(_ key: EntityKey) { deleted.insert(key) }

  mutating func evict(_ key: EntityKey) { entities[key] = nil }

  func snapshot(_ key: ResultKey) -> ResultSnapshot? {
    guard let result = results[key] else { return nil }
    var records = entities.mapValues { EntityRecord(layers: [$0.json]) }
    for key in deleted { records[key] = EntityRecord(layers: [], isDeleted: true) }
    return ResultSnapshot(
      key: key, call: CallNumber(7), received: Timestamp(milliseconds: 1000),
      root: result.root.json, errors: result.errors, isDue: false, entities: records,
      revision: .zero)
  }

  func render(
    _ operation: RegisteredOperation, _ variables: Variables = .none,
    onError: CachePolicy.ErrorPolicy = .partial
  ) throws -> RenderedResult {
    let key = ResultKey(
      operation: operation.name, variables: variables.canonical, scope: .public)
    return ResultRenderer.render(
      try #require(snapshot(key)), selection: operation.selection(for: variables),
      onError: onError)
  }
}
