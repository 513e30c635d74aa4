import Filtering
import LosslessJSON
import Model
import Storage
import Testing

/// Every scalar of a local type: stored and read back unchanged, filtered and sorted.
struct LocalScalarTests {
  private struct Sample: Sendable {
    let kind: LocalField.Kind
    /// The values in ascending order, in the form of request bodies.
    let values: [JSONValue]
    /// The second value as a filter literal.
    let literal: String
  }

  private static func number(_ digits: String) -> JSONValue {
    JSONNumber(digits: digits).map { .number($0) } ?? .null
  }

  private static let samples: [String: Sample] = [
    "tiny": Sample(kind: .scalar(.int8), values: [-128, 5, 127], literal: "5"),
    "small": Sample(kind: .scalar(.int16), values: [-32768, 300, 32767], literal: "300"),
    "whole": Sample(
      kind: .scalar(.int32), values: [number("-2147483648"), 70_000, number("2147483647")],
      literal: "70000"),
    // Neighbours that are equal as floating-point numbers.
    "big": Sample(
      kind: .scalar(.int64),
      values: [
        number("-9223372036854775808"), number("9223372036854775806"),
        number("9223372036854775807"),
      ], literal: "9223372036854775806"),
    "single": Sample(
      kind: .scalar(.float), values: [number("-0.5"), number("0.10"), number("1e3")],
      literal: "0.1"),
    "double": Sample(
      kind: .scalar(.double), values: [number("-1e300"), number("1.50"), number("1e300")],
      literal: "1.5"),
    "bytes": Sample(kind: .scalar(.data), values: ["", "AAA=", "aGVsbG8="], literal: "AAA="),
    "colour": Sample(
      kind: .enumeration("Colour"), values: ["BLUE", "GREEN", "RED"], literal: "GREEN"),
  ]

  private static let schema: LocalSchema = {
    let fields = samples.sorted { $0.key < $1.key }.map { LocalWorld.field($0.key, $0.value.kind) }
    let type = LocalType(
      name: "Thing", scope: .device,
      fields: [LocalWorld.id, LocalWorld.field("flag", .scalar(.boolean))] + fields)
    return LocalSchema(
      types: ["Thing": type], objects: [:], enums: ["Colour": ["RED", "GREEN", "BLUE"]])
  }()

  private let folder = TemporaryFolder()

  private func filled() async throws -> (Store, LocalType) {
    let type = try #require(Self.schema.types["Thing"])
    let store = try LocalWorld.open(folder, Self.schema)
    for index in 0..<3 {
      var body: JSONValue = ["flag": .bool(index == 1)]
      for (name, sample) in Self.samples { body[name] = sample.values[index] }
      _ = try await store.local(
        LocalWorld.operation(.insert, type, "\(index)", body, schema: Self.schema),
        schema: Self.schema
      ).get()
    }
    _ = try await store.local(
      LocalWorld.operation(.insert, type, "none", schema: Self.schema), schema: Self.schema
    ).get()
    return (store, type)
  }

  private static func keys(
    _ store: Store, _ type: LocalType, _ filter: String? = nil,
    _ arguments: FilterArguments = .none, order: String? = nil
  ) async throws -> [String] {
    var query = EntityQuery(type: type.entityType)
    query.filter = try filter.map { try Filter($0, arguments: arguments, type: type.entityType) }
    if let order { query.order = try EntityOrder(order, type: type.entityType) }
    return try await store.page(query, viewer: LocalWorld.viewer).items.map(\.key.key)
  }

  @Test("Values are returned as they were written")
  func valuesRoundTrip() async throws {
    let (store, _) = try await filled()
    for index in 0..<3 {
      let stored = try #require(try await store.local("Thing", "\(index)"))
      for (name, sample) in Self.samples {
        #expect(stored[name]?.text == sample.values[index].text, "\(name)")
      }
    }
    #expect(try await store.local("Thing", "none")?["tiny"] == JSONValue.null)
  }

  @Test(
    "Values can be filtered and sorted",
    arguments: ["tiny", "small", "whole", "big", "single", "double", "bytes", "colour"])
  func valuesFilterAndSort(field: String) async throws {
    let (store, type) = try await filled()
    let sample = try #require(Self.samples[field])
    let isText = sample.values[1].string != nil
    let literal = isText ? "'\(sample.literal)'" : sample.literal
    #expect(try await Self.keys(store, type, "\(field) = \(literal)") == ["1"])
    let positional = FilterArguments(positional: [sample.literal])
    #expect(try await Self.keys(store, type, "\(field) = ?", positional) == ["1"])
    let named = FilterArguments(named: ["v": sample.literal])
    #expect(try await Self.keys(store, type, "\(field) > :v", named) == ["2"])
    #expect(try await Self.keys(store, type, "\(field) <= :v", named, order: "-id") == ["1", "0"])
    #expect(try await Self.keys(store, type, "\(field) IS NULL") == ["none"])
    #expect(try await Self.keys(store, type, order: field) == ["none", "0", "1", "2"])
    #expect(try await Self.keys(store, type, order: "-\(field)") == ["2", "1", "0", "none"])
  }

  @Test("Booleans can be filtered and sorted")
  func booleansFilterAndSort() async throws {
    let (store, type) = try await filled()
    #expect(try await Self.keys(store, type, "flag") == ["1"])
    #expect(try await Self.keys(store, type, "NOT flag") == ["0", "2"])
    #expect(
      try await Self.keys(store, type, "flag = ?", FilterArguments(positional: ["true"])) == ["1"])
    #expect(try await Self.keys(store, type, order: "-flag") == ["1", "0", "2", "none"])
  }
}
