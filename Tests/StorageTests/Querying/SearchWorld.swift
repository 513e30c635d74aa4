import Filtering
import GRDB
import LosslessJSON
import Model
import TestSupport

@testable import Storage

/// Films in the scopes of a device, its user, another user and the public one, and the full ranking of those that the
/// device sees, by FTS5's own functions over their texts.
struct SearchWorld {
  static let type = EntityType(
    name: "Film", keyFields: ["id"],
    columns: [
      .init(name: "id", kind: .text), .init(name: "title", kind: .text),
      .init(name: "synopsis", kind: .text),
    ], search: ["title", "synopsis"])
  static let viewer = Viewer(layers: [.device("d1"), .user("ada"), .public])

  private static let scopes: [Scope] = [.public, .user("ada"), .device("d1"), .user("bob")]
  private static let films = 50
  private static let words = [
    "moon", "Moon", "moonlight", "river", "RIVER", "été", "ete", "dark", "side", "of", "the", "a",
    "0", "1", "moon-river", "日本",
  ]

  let fixture: StoreFixture
  private let full: DatabaseQueue

  /// - Parameter layers: the number of scopes that get rows, the public one first.
  init(layers: Int, _ random: inout SeededGenerator) async throws {
    fixture = try StoreFixture(types: [Self.type])
    full = try DatabaseQueue()
    for call in 1...40 {
      let scope = Self.scopes[Int.random(in: 0..<layers, using: &random)]
      var response = ResponseBuilder(call: Int64(call), scope: scope)
      for id in (0..<Self.films).shuffled(using: &random).prefix(8).map(String.init) {
        if Int.random(in: 0..<8, using: &random) == 0 {
          response = response.deleting(.film(id))
        } else {
          response = response.film(id, Self.film(&random))
        }
      }
      _ = try await fixture.store.apply(response.build())
    }
    try await fill()
  }

  /// Each field can be missing or null.
  private static func film(_ random: inout SeededGenerator) -> JSONValue {
    var film: JSONValue = [:]
    for (field, count) in [("title", 3), ("synopsis", 12)] {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: film[field] = .null
      case 1, 2: break
      default:
        film[field] = .string(
          (0..<Int.random(in: 1...count, using: &random)).map { _ in word(&random) }
            .joined(separator: " "))
      }
    }
    return film
  }

  private static func word(_ random: inout SeededGenerator) -> String {
    words[Int.random(in: 0..<words.count, using: &random)]
  }

  /// Returns a text of one to three words, prefixes and phrases.
  static func query(_ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 1...3, using: &random)).map { _ in
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        let word = word(&random)
        return "\(word.prefix(Int.random(in: 1...word.count, using: &random)))*"
      case 1: return "\"\(word(&random)) \(word(&random))\""
      default: return word(&random)
      }
    }.joined(separator: " ")
  }

  // MARK: The full ranking

  private func fill() async throws {
    var texts: [(String, String?, String?)] = []
    for number in 0..<Self.films {
      let fields = try await fixture.fields(of: .film("\(number)"), viewer: Self.viewer)
      guard let fields else { continue }
      texts.append(("\(number)", fields["title"]?.string, fields["synopsis"]?.string))
    }
    let rows = texts
    try await full.write { database in
      try database.execute(
        sql: """
          CREATE VIRTUAL TABLE seen USING fts5(\
          key UNINDEXED, title, synopsis, tokenize = 'unicode61 remove_diacritics 2')
          """)
      for (key, title, synopsis) in rows {
        try database.execute(
          sql: "INSERT INTO seen (key, title, synopsis) VALUES (?, ?, ?)",
          arguments: [key, title, synopsis])
      }
    }
  }

  /// Returns keys and scores of all films that match, best first.
  func ranking(_ text: String) async throws -> [(key: String, score: Double)] {
    let match = try SearchText(text).terms
      .map { "\"\($0.text.replacing("\"", with: "\"\""))\"\($0.isPrefix ? "*" : "")" }
      .joined(separator: " ")
    return try await full.read { database in
      try Row.fetchAll(
        database,
        sql: """
          SELECT key, hits / (hits + 1 + characters / 200.0) AS score FROM (SELECT key, \
          coalesce(length(highlight(seen, 1, char(1), '')) - length(title), 0) \
          + coalesce(length(highlight(seen, 2, char(1), '')) - length(synopsis), 0) AS hits, \
          coalesce(length(title), 0) + coalesce(length(synopsis), 0) AS characters \
          FROM seen WHERE seen MATCH ?) ORDER BY score DESC, key
          """, arguments: [match]
      ).map { (key: $0["key"], score: $0["score"]) }
    }
  }
}
