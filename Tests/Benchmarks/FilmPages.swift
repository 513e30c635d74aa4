import LosslessJSON
import Model
import TestSupport

/// Pages of films as an upstream would send them, about 520 bytes per film.
enum FilmPages {
  static func json(count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("data")
    writer.beginObject()
    writer.name("films")
    writer.beginArray()
    for number in 0..<count { writer.value(film(number, &random)) }
    writer.endArray()
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  /// - Parameter words: the words of its title; without any, the title contains its number.
  static func film(
    _ number: Int, _ random: inout SeededGenerator, words: TitleWords? = nil
  ) -> JSONValue {
    [
      "__typename": "Film",
      "id": .string("\(number)"),
      "title": .string(
        words?.title(&random) ?? "The Film of Number \(number): \(text(6, &random))"),
      "year": .number(JSONNumber(1920 + Int(random.next() % 105))),
      "rating": .number(JSONNumber(digits: "\(random.next() % 10).\(random.next() % 10)0") ?? 0),
      "country": .string(text(1, &random)),
      "synopsis": .string(text(45, &random)),
      "released": .bool(random.next() % 2 == 0),
    ]
  }

  /// The same films in the form that the store takes.
  static func answer(
    count: Int, call: Int64, scope: Scope = .public, operation: String = "Films",
    from first: Int = 0, seed: UInt64 = 1, words: TitleWords? = nil
  ) -> NormalisedResponse {
    var random = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    var entities: [NormalisedResponse.Entity] = []
    var root: [UInt8] = [UInt8(ascii: "[")]
    for number in first..<first + count {
      let film = film(number, &random, words: words)
      let fields = (film.members ?? []).dropFirst().map { member in
        let start = bytes.count
        bytes += member.value.bytes
        return NormalisedResponse.Field(
          name: member.name, range: start..<bytes.count, merges: false)
      }
      let key = EntityKey(type: "Film", key: "\(number)")
      entities.append(NormalisedResponse.Entity(key: key, fields: Array(fields)))
      if root.count > 1 { root.append(UInt8(ascii: ",")) }
      root += Array(#"{"$ref":["Film","\#(number)"]}"#.utf8)
    }
    root.append(UInt8(ascii: "]"))
    let start = bytes.count
    bytes += root
    let field = NormalisedResponse.Field(name: "films", range: start..<bytes.count, merges: false)
    return NormalisedResponse(
      call: CallNumber(call), horizon: CallNumber(call), received: Timestamp(milliseconds: call),
      scope: scope, bytes: bytes, entities: entities,
      result: ResultWrite(
        key: ResultKey(operation: operation, variables: "{\"from\":\(first)}", scope: scope),
        root: [field], types: ["Film"]))
  }

  static let type = EntityType(
    name: "Film", keyFields: ["id"],
    columns: [
      .init(name: "id", kind: .text), .init(name: "title", kind: .text),
      .init(name: "year", kind: .integer), .init(name: "rating", kind: .real),
      .init(name: "country", kind: .text), .init(name: "synopsis", kind: .text),
      .init(name: "released", kind: .boolean),
    ])

  /// The selection that matches ``film(_:_:)``.
  static var selection: FieldSelection {
    let names = ["id", "title", "year", "rating", "country", "synopsis", "released"]
    let film = ObjectSelection(
      type: "Film",
      fields: names.map { SelectedField(responseName: $0, name: $0, storageName: $0) },
      key: [KeyField(name: "id", responseName: "id", canonical: .text)])
    let films = SelectedField(
      responseName: "films", name: "films", storageName: "films",
      value: .object(FieldSelection(types: [film], typenameResponseName: nil)),
      nonNull: [true, true])
    let query = ObjectSelection(type: "Query", fields: [films], key: nil)
    return FieldSelection(types: [query], typenameResponseName: nil)
  }

  private static func text(_ words: Int, _ random: inout SeededGenerator) -> String {
    let pool = ["storm", "harbour", "Łódź", "night", "garden", "seven", "letters", "winter", "of"]
    return (0..<words).map { _ in pool[Int(random.next() % UInt64(pool.count))] }
      .joined(separator: " ")
  }
}

/// Titles of two to six words out of twenty thousand, few of them frequent and most rare, as in any language:
/// the word of rank n occurs in n times fewer titles than the first.
struct TitleWords {
  private static let wordCount = 20_000

  private let words: [String]
  /// Cumulative sums of the words' weights.
  private let weights: [Double]

  init(seed: UInt64 = 7) {
    var random = SeededGenerator(seed: seed)
    let starts = [
      "b", "ch", "d", "f", "g", "k", "l", "m", "n", "pr", "r", "s", "st", "t", "v", "w",
    ]
    let vowels = ["a", "e", "i", "o", "u", "é", "ö", "ou", "ea", "y"]
    var made: Set<String> = []
    var words: [String] = []
    while words.count < Self.wordCount {
      // Frequent words are short.
      let syllables = 1 + words.count / 2_000 % 4 + Int(random.next() % 2)
      let word = (0..<syllables).map { _ in
        starts[Int(random.next() % UInt64(starts.count))]
          + vowels[Int(random.next() % UInt64(vowels.count))]
      }.joined()
      if made.insert(word).inserted { words.append(word) }
    }
    self.words = words
    var sum = 0.0
    weights = words.indices.map { rank in
      sum += 1 / Double(rank + 1)
      return sum
    }
  }

  func title(_ random: inout SeededGenerator) -> String {
    (0..<2 + random.next() % 5).map { _ in word(&random) }.joined(separator: " ")
  }

  func word(_ random: inout SeededGenerator) -> String {
    let wanted = Double(random.next() % 1_000_000) / 1_000_000 * (weights.last ?? 0)
    var low = 0
    var high = weights.count - 1
    while low < high {
      let middle = (low + high) / 2
      if weights[middle] < wanted { low = middle + 1 } else { high = middle }
    }
    return words[low]
  }
}
