import Filtering
import LosslessJSON
import Model
import TestSupport

@testable import Storage

/// Random films, people and studios in several scopes, in a store and, merged by the test, in memory.
///
/// The reference evaluation of filters reads the merged entities only and shares no code with the store.
struct RelatedWorld {
  static let viewer = Viewer(layers: [.device("d"), .user("u"), .public])
  static let films = EntityType(
    name: "Film", keyFields: ["id"],
    columns: [
      .init(name: "id", kind: .text), .init(name: "title", kind: .text),
      .init(name: "year", kind: .integer), .init(name: "director", kind: .reference),
      .init(name: "subject", kind: .reference),
    ], indexes: ["director", "subject"])
  static let people = EntityType(
    name: "Person", keyFields: ["id"],
    columns: [
      .init(name: "id", kind: .text), .init(name: "name", kind: .text),
      .init(name: "born", kind: .integer), .init(name: "studio", kind: .reference),
      .init(name: "mentor", kind: .reference),
    ], indexes: ["name", "born", "studio"],
    textIndexes: [.init(column: "name", form: .withoutMarks)])
  static let studios = EntityType(
    name: "Studio", keyFields: ["id"],
    columns: [.init(name: "id", kind: .text), .init(name: "name", kind: .text)],
    indexes: ["name"])
  static let graph = EntityGraph(
    types: [films, people, studios],
    relationships: [
      "Film": [
        "director": .toOne("Person"), "cast": .toMany("Person"),
        "subject": .toOneOf(["Person", "Studio"]), "about": .toManyOf(["Person", "Studio"]),
      ],
      "Person": [
        "studio": .toOne("Studio"), "mentor": .toOne("Person"),
        "films": .linked(type: "Film", field: "director"),
      ],
    ])

  static let texts = [
    "Agn\u{E8}s", "AGNES", "agnes", "Stra\u{DF}e", "STRASSE", "Varda", "", "\u{D6}d",
  ]

  typealias Fields = [String: JSONValue]

  let fixture: StoreFixture
  /// What the viewer sees, by type and key.
  let seen: [String: [String: Fields]]

  init(isLayered: Bool, _ random: inout SeededGenerator) async throws {
    fixture = try StoreFixture(types: [Self.films, Self.people, Self.studios])
    var seen: [String: [String: Fields]] = [:]
    var call: Int64 = 0
    let counts = ["Film": 40, "Person": 14, "Studio": 4]
    let scopes: [Scope] = isLayered ? Self.viewer.layers.reversed() : [.public]
    for (depth, scope) in scopes.enumerated() {
      for (type, count) in counts.sorted(by: { $0.key < $1.key }) {
        for number in 0..<count where depth == 0 || Int.random(in: 0..<4, using: &random) == 0 {
          let id = "\(type.prefix(1).lowercased())\(number)"
          let key = EntityKey(type: type, key: id)
          call += 1
          if Int.random(in: 0..<10, using: &random) == 0 {
            _ = try await fixture.store.apply(
              ResponseBuilder(call: call, scope: scope).deleting(key).build())
            seen[type]?[id] = nil
            continue
          }
          var fields = Self.fields(of: type, &random)
          fields["id"] = .string(id)
          _ = try await fixture.store.apply(
            ResponseBuilder(call: call, scope: scope)
              .entity(key, .object(fields.map { JSONMember($0.key, $0.value) })).build())
          seen[type, default: [:]][id, default: [:]].merge(fields) { _, new in new }
        }
      }
    }
    // Another caller's rows, which must never matter.
    for number in 0..<14 {
      call += 1
      _ = try await fixture.store.apply(
        ResponseBuilder(call: call, scope: .user("other"))
          .entity(
            .person("p\(number)"),
            [
              "id": .string("p\(number)"), "name": "Varda", "born": 1928,
              "studio": .reference(EntityKey(type: "Studio", key: "s0")),
            ]
          ).build())
    }
    self.seen = seen
  }

  static func fields(of type: String, _ random: inout SeededGenerator) -> Fields {
    var fields: Fields = [:]
    func some(_ name: String, _ value: JSONValue) {
      switch Int.random(in: 0..<7, using: &random) {
      case 0: return
      case 1: fields[name] = .null
      default: fields[name] = value
      }
    }
    let text = JSONValue.string(texts[Int.random(in: 0..<texts.count, using: &random)])
    // Some keys are of entities that are not stored.
    func person() -> JSONValue {
      .reference(.person("p\(Int.random(in: 0..<16, using: &random))"))
    }
    // Of either type; a key is not always of an entity of its type, but of one of the other.
    func either() -> JSONValue {
      let isPerson = Int.random(in: 0..<3, using: &random) > 0
      let number = Int.random(in: 0..<(isPerson ? 16 : 5), using: &random)
      let prefix = (Int.random(in: 0..<8, using: &random) == 0) == isPerson ? "s" : "p"
      return .reference(
        EntityKey(type: isPerson ? "Person" : "Studio", key: "\(prefix)\(number)"))
    }
    switch type {
    case "Film":
      some("title", text)
      some("subject", either())
      if Bool.random(using: &random) {
        some("about", .array((0..<Int.random(in: 0...3, using: &random)).map { _ in either() }))
      }
      some("year", .number(JSONNumber(Int.random(in: 1990...1994, using: &random))))
      some("director", person())
      // A field with arguments has a list for each of them, and its members are those of all.
      for name in ["cast", #"cast({"limit":2})"#] {
        let cast = (0..<Int.random(in: 0...3, using: &random)).map { _ in
          Int.random(in: 0..<8, using: &random) == 0 ? JSONValue.null : person()
        }
        if Bool.random(using: &random) { some(name, .array(cast)) }
      }
    case "Person":
      some("name", text)
      some("born", .number(JSONNumber(Int.random(in: 1927...1930, using: &random))))
      some(
        "studio",
        .reference(EntityKey(type: "Studio", key: "s\(Int.random(in: 0..<5, using: &random))")))
      some("mentor", person())
    default:
      some("name", text)
    }
    return fields
  }

  // MARK: Reference evaluation

  enum Found: Equatable {
    case missing, null
    case value(FilterValue)

    var value: FilterValue? {
      if case .value(let value) = self { value } else { nil }
    }
  }

  typealias Row = (type: String, fields: Fields)

  func row(_ type: String, _ key: String) -> Row? {
    seen[type]?[key].map { (type, $0) }
  }

  /// Follows references; the last name is a field.
  func find(_ names: [String], from row: Row) -> Found {
    if names == ["cast"] || names == ["about"] {
      let lists = Self.lists(names[0], of: row)
      if lists.isEmpty { return .missing }
      return lists.allSatisfy { $0 == .null } ? .null : .value(.text("a list"))
    }
    guard let value = row.fields[names[0]] else { return .missing }
    if value == .null { return .null }
    if names.count > 1 {
      guard let target = Self.target(value), let next = self.row(target.type, target.key) else {
        return .missing
      }
      return find(Array(names.dropFirst()), from: next)
    }
    if let target = Self.target(value) { return .value(.text(target.key)) }
    if let text = value.string { return .value(.text(text)) }
    return value.number?.int64.map { .value(.integer($0)) } ?? .null
  }

  /// The members that the viewer sees; nil if it is unknown which there are.
  func members(_ names: [String], from row: Row) -> [Row]? {
    if names.count > 1 {
      guard let value = row.fields[names[0]] else { return nil }
      if value == .null { return [] }
      guard let target = Self.target(value), let next = self.row(target.type, target.key) else {
        return nil
      }
      return members(Array(names.dropFirst()), from: next)
    }
    if names == ["films"] {
      // Studios have no such relationship.
      guard row.type == "Person" else { return nil }
      return (seen["Film"] ?? [:]).values.filter {
        $0["director"].flatMap(Self.target)?.key == row.fields["id"]?.string
      }.map { ("Film", $0) }
    }
    let lists = Self.lists(names[0], of: row)
    if lists.isEmpty { return nil }
    let keys = Set(lists.flatMap { ($0.array ?? []).compactMap(Self.target) })
    return keys.compactMap { self.row($0.type, $0.key) }
  }

  private static func lists(_ field: String, of row: Row) -> [JSONValue] {
    row.fields.filter { $0.key == field || $0.key.hasPrefix("\(field)(") }.map(\.value)
  }

  private static func target(_ value: JSONValue) -> EntityKey? {
    guard let type = value["$ref"]?[0]?.string, let key = value["$ref"]?[1]?.string else {
      return nil
    }
    return EntityKey(type: type, key: key)
  }
}
