import Filtering
import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

struct SearchTests {
  private static func film(search: [String]) -> EntityType {
    EntityType(
      name: "Film", keyFields: ["id"],
      columns: [
        .init(name: "id", kind: .text), .init(name: "title", kind: .text),
        .init(name: "synopsis", kind: .text),
      ], search: search)
  }

  private let type = film(search: ["title", "synopsis"])
  private let ada = Viewer(layers: [.user("ada"), .public])

  private func find(
    _ text: String, in store: Store, viewer: Viewer = .anonymous
  ) async throws -> [String] {
    try await store.search(
      try SearchText(text), types: [type], viewer: viewer, limit: 10
    ).hits.map(\.key.key)
  }

  private func filled(_ folder: TemporaryFolder = TemporaryFolder()) async throws -> StoreFixture {
    let fixture = try StoreFixture(folder, types: [type])
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 1)
        .film("1", ["title": "Café Müller", "synopsis": "The dark side of the moon"])
        .film("2", ["title": "Spaceship", "synopsis": "A ship, a ship, a dark ship"])
        .film("3", ["title": "Moonlight"]).build())
    return fixture
  }

  @Test(arguments: [
    ("cafe", ["1"]), ("MULLER", ["1"]), ("dark", ["1", "2"]), (#""dark side""#, ["1"]),
    (#""side dark""#, []), ("moon", ["1"]), ("moon*", ["3", "1"]), ("dark ship", ["2"]),
    ("dark OR", []), ("dark \"zzz\"\u{301} OR", []),
    ("\"zzz\"\u{301} OR the OR \"\u{301}x\"", []), ("\"\u{301}dark\"", ["1", "2"]),
    ("dark\0side", ["1"]), ("\"dark\0side\"", ["1"]), ("\u{24B6} dark", ["1", "2"]),
    ("title:cafe", []), ("NEAR(dark)", []), ("dark -side", ["1"]),
  ])
  func findsWordsBeginningsAndPhrases(text: String, found: [String]) async throws {
    let fixture = try await filled()
    let ids = try await find(text, in: fixture.store)
    #expect(ids == found)
  }

  @Test(
    "The words of a device's rows leave the index after its removal or reset",
    arguments: [true, false])
  func wordsOfDevicesLeave(isRemoved: Bool) async throws {
    let fixture = try await filled()
    let words = ["d_1": "Zebraquux", "d_2": "Okapifoo"]
    for (device, word) in words.sorted(by: { $0.key < $1.key }) {
      try await fixture.store.register(DeviceTests.phone(device), tokenDigest: device)
      _ = try await fixture.store.apply(
        ResponseBuilder(call: 2, scope: .device(device))
          .film("1", ["title": .string(word), "synopsis": .string("\(word) again")]).build())
    }
    #expect(try await fixture.blocks(holding: "braquux") > 0)
    #expect(try await !fixture.store.forgetWords())
    if isRemoved {
      #expect(try await fixture.store.remove(device: "d_1"))
    } else {
      #expect(try await fixture.store.reset(device: "d_1", at: Timestamp(milliseconds: 5)) != nil)
    }
    var steps = 0
    while steps < 1_000, try await fixture.store.forgetWords(pages: 1) { steps += 1 }
    #expect(steps < 1_000)
    #expect(try await fixture.blocks(holding: "braquux") == 0)
    #expect(try await fixture.blocks(holding: "apifoo") > 0)
    let other = Viewer(layers: [.device("d_2"), .public])
    #expect(try await find("okapifoo", in: fixture.store, viewer: other) == ["1"])
    #expect(try await find("dark", in: fixture.store) == ["1", "2"])
    // The next removal begins again.
    #expect(try await fixture.store.remove(device: "d_2"))
    while steps < 2_000, try await fixture.store.forgetWords(pages: 1) { steps += 1 }
    #expect(try await fixture.blocks(holding: "apifoo") == 0)
  }

  @Test("The index follows every write")
  func indexFollowsWrites() async throws {
    let fixture = try await filled()
    _ = try await fixture.store.apply(ResponseBuilder(call: 2).film("3", ["title": "Sun"]).build())
    #expect(try await find("moonlight", in: fixture.store) == [])
    #expect(try await find("sun", in: fixture.store) == ["3"])
    _ = try await fixture.store.apply(ResponseBuilder(call: 3).deleting(.film("3")).build())
    #expect(try await find("sun", in: fixture.store) == [])
    _ = try await fixture.store.purge(
      [.type("Film")], in: nil, call: CallNumber(4), horizon: CallNumber(4))
    #expect(try await find("dark", in: fixture.store) == [])
  }

  @Test("Private text is found only by its user and does not affect others' ranking")
  func privateTextIsIsolated() async throws {
    let fixture = try await filled()
    let before = try await fixture.store.search(
      try SearchText("dark"), types: [type], viewer: .anonymous, limit: 10)
    var answer = ResponseBuilder(call: 2, scope: .user("ada"))
      .film("3", ["title": "Mine"]).film("1", ["title": "Hidden", "synopsis": "nothing"])
    for number in 10..<40 { answer = answer.film("\(number)", ["title": "dark dark"]) }
    _ = try await fixture.store.apply(answer.build())
    let after = try await fixture.store.search(
      try SearchText("dark"), types: [type], viewer: .anonymous, limit: 10)
    #expect(before.hits.map(\.score) == after.hits.map(\.score))
    #expect(before.hits.map(\.key) == after.hits.map(\.key))
    #expect(try await find("mine", in: fixture.store) == [])
    #expect(try await find("mine", in: fixture.store, viewer: ada) == ["3"])
    // The search uses the text of the user's row.
    #expect(try await find("cafe", in: fixture.store, viewer: ada) == [])
    #expect(try await find("moonlight", in: fixture.store, viewer: ada) == [])
    #expect(try await find("cafe", in: fixture.store) == ["1"])
  }

  /// A word of the public title and one of the user's synopsis: the user sees both.
  @Test("Words from different layers are found together")
  func wordsAcrossLayers() async throws {
    let fixture = try await filled()
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: .user("ada")).film(
        "1", ["synopsis": "nothing dark, a bright day"]
      )
      .film("2", ["title": "Boat"]).build())
    #expect(try await find("cafe bright", in: fixture.store, viewer: ada) == ["1"])
    #expect(try await find("cafe moon", in: fixture.store, viewer: ada) == [])
    #expect(try await find("boat ship", in: fixture.store, viewer: ada) == ["2"])
    #expect(try await find("spaceship ship", in: fixture.store, viewer: ada) == [])
    #expect(try await find("cafe bright", in: fixture.store) == [])
    let hits = try await fixture.store.search(
      try SearchText("mull* day"), types: [type], viewer: ada, limit: 10
    ).hits
    #expect(hits.count == 1)
    #expect(hits.first?.snippet.isEmpty == false)
  }

  /// A user's rows do not affect the score of other texts, which depends only on the visible text.
  @Test("The same text has the same score in one layer and in two")
  func scoreDoesNotDependOnLayers() async throws {
    let fixture = try await filled()
    let whole = try await fixture.store.search(
      try SearchText("dark"), types: [type], viewer: .anonymous, limit: 10)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: .user("ada")).film("2", ["title": "Spaceship"]).build())
    let layered = try await fixture.store.search(
      try SearchText("dark"), types: [type], viewer: ada, limit: 10)
    #expect(whole.hits.map(\.score) == layered.hits.map(\.score))
    #expect(whole.hits.map(\.key) == layered.hits.map(\.key))
  }

  @Test("The index is rebuilt when the settings change")
  func indexIsRebuilt() async throws {
    let folder = TemporaryFolder()
    let first = try await filled(folder)
    first.store.close()
    let second = try StoreFixture(
      folder, types: [Self.film(search: ["synopsis"])], segment: 2)
    let found = try await second.store.search(
      try SearchText("dark"), types: [Self.film(search: ["synopsis"])], viewer: .anonymous,
      limit: 10
    ).hits
    #expect(found.count == 2)
    #expect(found.allSatisfy { $0.snippet.contains("dark") })
    second.store.close()
    let third = try StoreFixture(folder, types: [Self.film(search: [])], segment: 3)
    _ = try await third.store.apply(ResponseBuilder(call: 9).film("9", ["title": "New"]).build())
    third.store.close()
    let fourth = try StoreFixture(folder, types: [type], segment: 4)
    #expect(try await find("new", in: fourth.store) == ["9"])
  }

  @Test(
    "Texts without a word are refused",
    arguments: ["", "  ", "\"open", "*", "!!!", "\"\u{301}b", "a\"\u{301}", "\0", "\u{301}*"])
  func refusesInvalidSearches(text: String) {
    #expect(throws: SearchText.Fault.self) { try SearchText(text) }
  }

  /// Any input is either refused or searched for; it never reaches FTS5 as a query.
  @Test(
    "Any text is either refused or searched literally",
    arguments: [UInt64(1), 2, 3])
  func anyTextIsSafe(seed: UInt64) async throws {
    let fixture = try await filled()
    // A row of the user makes the layered search run.
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 2, scope: .user("ada")).film("9", ["title": "Unlike"]).build())
    var texts = SearchTextGenerator(random: SeededGenerator(seed: seed))
    var count = 0
    for round in 0..<400 {
      let text = texts.text()
      let note: Comment = "seed \(seed), round \(round): \(Array(text.unicodeScalars))"
      guard let search = try? SearchText(text) else { continue }
      count += 1
      var found: [[EntityKey]] = []
      for viewer in [Viewer.anonymous, ada] {
        let hits = try await fixture.store.search(
          search, types: [type], viewer: viewer, limit: 10
        ).hits
        found.append(hits.map(\.key))
        // No operator was evaluated: the found text contains every plain word.
        for term in search.terms where !term.isPrefix && term.text.allSatisfy(\.isASCIILetter) {
          for hit in hits {
            let fields = try await fixture.fields(of: hit.key)
            let words = [fields?["title"]?.string, fields?["synopsis"]?.string].compactMap(\.self)
              .joined(separator: " ").lowercased().split { !$0.isLetter }.map(String.init)
            #expect(words.contains(term.text.lowercased()), note)
          }
        }
      }
      #expect(found[0] == found[1], note)
    }
    #expect(count > 100)
  }
}

extension Character {
  fileprivate var isASCIILetter: Bool { isASCII && isLetter }
}

/// Words, FTS5 and SQL syntax characters, and scalars that combine with the preceding character.
private struct SearchTextGenerator {
  private static let pieces = [
    "dark", "the", "ship", "moon", "OR", "AND", "NOT", "NEAR(", "title:", "a", "\"", "\"", "*", " ",
    " ", "\t", "\u{A0}", "\u{301}", "\u{308}", "\u{20DD}", "\u{200D}", "\u{FE0F}", "\0", "'", "(",
    ")",
    "{", "}", "^", "+", "-", ":", ",", "\\", ";", "--", "😀", "\u{24B6}", "é", "e\u{301}", "日本",
    "\u{E000}",
    "½", "\u{1F1E6}", "\r\n",
  ]

  var random: SeededGenerator

  mutating func text() -> String {
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 1...9, using: &random) {
      let piece = Self.pieces[Int.random(in: 0..<Self.pieces.count, using: &random)]
      scalars.append(contentsOf: piece.unicodeScalars)
    }
    return String(scalars)
  }
}
