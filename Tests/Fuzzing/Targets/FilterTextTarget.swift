import Filtering
import Model

/// Filters on entities: any text is parsed or refused at positions inside it, always with the same result,
/// and a valid text joined with itself by AND and OR is valid again.
enum FilterTextTarget {
  private static let type = EntityType(
    name: "Film", keyFields: ["id"],
    columns: [
      EntityType.Column(name: "id", kind: .text), EntityType.Column(name: "title", kind: .text),
      EntityType.Column(name: "year", kind: .integer),
      EntityType.Column(name: "rating", kind: .real),
      EntityType.Column(name: "seen", kind: .boolean),
      EntityType.Column(name: "director", kind: .reference),
      EntityType.Column(name: "added", kind: .text, dates: .iso8601),
    ])
  private static let person = EntityType(
    name: "Person", keyFields: ["id"],
    columns: [
      EntityType.Column(name: "id", kind: .text), EntityType.Column(name: "name", kind: .text),
      EntityType.Column(name: "mentor", kind: .reference),
    ])
  private static let graph = EntityGraph(
    types: [type, person],
    relationships: [
      "Film": [
        "director": .toOne("Person"), "cast": .toMany("Person"),
        "about": .toOneOf(["Film", "Person"]), "mentions": .toManyOf(["Film", "Person"]),
      ],
      "Person": [
        "mentor": .toOne("Person"), "films": .linked(type: "Film", field: "director"),
      ],
    ])

  static func run(_ input: UnsafeRawBufferPointer) {
    let text = String(decoding: input, as: UTF8.self)
    let arguments = FilterArguments(
      positional: ["1994", "x", "true"], named: ["a": "-1.5e3", "year": "9223372036854775807"])
    _ = IndexDeclaration(text)
    _ = try? EntityOrder(text, type: type, graph: graph)
    let plain = read(text, .none)
    if let plain {
      let reached = plain.reachedTypes
      Finding.require(reached.isSubset(of: ["Film", "Person"]), "reaches \(reached)")
      Finding.require(reached.isEmpty == plain.condition.isOwn, "reaches types of its own")
    }
    _ = read(text, arguments)
    guard let plain, text.utf8.count < 2000 else { return }
    // Twice the length or one level deeper can exceed a limit, and is refused then.
    let twice = read("(\(text)) AND (\(text))", .none)
    if let twice {
      Finding.require(twice.condition == .and(plain.condition, plain.condition), "AND differs")
    }
    let negated = read("NOT (\(text))", .none)
    if let negated {
      Finding.require(negated.condition == .not(plain.condition), "NOT differs")
    }
  }

  private static func read(_ text: String, _ arguments: FilterArguments) -> Filter? {
    do throws(FilterFaults) {
      return try Filter(
        text, arguments: arguments, type: type, graph: graph,
        now: Timestamp(milliseconds: 1_700_000_000_000))
    } catch {
      Finding.require(!error.all.isEmpty, "refused without a fault")
      for fault in error.all {
        guard case .position(let position) = fault.place else { continue }
        Finding.require(position >= 1 && position <= text.count + 1, "a fault at \(position)")
      }
      return nil
    }
  }
}
