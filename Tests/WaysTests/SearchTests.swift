import Foundation
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// Full-text search over HTTP: pages, snippets, limits and invalid searches.
  struct SearchTests {
    private struct World {
      let larder: RunningLarder
      let token: (String, String)

      func insert(_ texts: [(id: String, text: String)]) async throws {
        let list = texts.map { note -> JSONValue in
          [
            "op": "insert", "type": "Note", "id": .string(note.id),
            "data": ["text": .string(note.text)],
          ]
        }
        let answer = try await larder.request(
          "POST", "/v1/entities", headers: [token], body: JSONValue.array(list).text)
        #expect(answer.status == 200, "\(answer.text.prefix(300))")
      }

      func search(_ words: String, _ more: String = "") async throws -> (
        status: Int, body: JSONValue
      ) {
        let words = words.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        let answer = try await larder.request(
          "GET", "/v1/search?q=\(words)\(more)", headers: [token])
        return (answer.status, try JSONValue(parsing: answer.body))
      }
    }

    private static func start(_ settings: String = "") async throws -> World {
      let larder = try await RunningLarder.start(
        settings: "types: {Note: {search: [text]}}\n\(settings)",
        localTypes: "type Note @local { id: ID! text: String }")
      return World(
        larder: larder, token: ("Device-Token", try await DeviceTests.register(larder).token))
    }

    private static func hits(_ body: JSONValue) -> [String] {
      body["items"]?.array?.compactMap { $0["id"]?.string } ?? []
    }

    @Test("Pages of a search hold each hit once, best first")
    func pagesHoldEachHitOnceBestFirst() async throws {
      let world = try await Self.start()
      try await world.insert(
        (0..<25).map { number in
          (
            "n\(number)",
            "needle " + String(repeating: "hay ", count: number) + "by the way"
          )
        } + [("other", "hay alone")])
      var seen: [String] = []
      var scores: [Double] = []
      var more = "&limit=10"
      var sizes: [Int] = []
      while true {
        let (status, body) = try await world.search("needle", more)
        #expect(status == 200)
        let items = body["items"]?.array ?? []
        sizes.append(items.count)
        seen += Self.hits(body)
        scores += items.compactMap { $0["score"]?.number?.double }
        for item in items {
          #expect(item["snippet"]?.string?.contains("needle") == true)
          #expect(item["entity"]?["id"] == item["id"])
        }
        guard let next = body["next"]?.string else { break }
        more = "&limit=10&after=\(next)"
      }
      #expect(sizes == [10, 10, 5])
      // The shorter text ranks higher.
      #expect(seen == (0..<25).map { "n\($0)" })
      #expect(zip(scores, scores.dropFirst()).allSatisfy { $0 >= $1 })
      #expect(scores.allSatisfy { $0 > 0 && $0 < 1 })
      await world.larder.stop()
    }

    /// The text around the word, wherever it is, and not the whole text.
    @Test("A snippet shows the text around the match")
    func snippetShowsTheMatch() async throws {
      let world = try await Self.start()
      let hay = (0..<200).map { "straw\($0)" }.joined(separator: " ")
      try await world.insert([("n1", "\(hay) Nadel im Heu \(hay)")])
      let snippet = try await world.search("nadel").body["items"]?[0]?["snippet"]?.string
      #expect(snippet?.contains("Nadel im Heu") == true)
      #expect((snippet?.count ?? 0) < 200)
      #expect(snippet?.hasPrefix("…") == true && snippet?.hasSuffix("…") == true)
      await world.larder.stop()
    }

    @Test("An invalid search is refused by parameter")
    func invalidSearchNamesItsParameter() async throws {
      let world = try await Self.start()
      try await world.insert([("n1", "the OR"), ("n2", "zzz")])
      for words in ["", "\"open", "*", "!!", "\"\u{301}b", "a\"\u{301}", "\0"] {
        let (status, body) = try await world.search(words)
        #expect(status == 400, "\(words)")
        #expect(body["errors"]?[0]?["parameter"] == "q")
      }
      for more in ["&limit=0", "&limit=101", "&limit=x", "&after=x", "&types=Film", "&nope=1"] {
        #expect(try await world.search("the", more).status == 400, "\(more)")
      }
      try await world.insert((0..<3).map { ("m\($0)", "the") })
      let next = try #require(try await world.search("the", "&limit=1").body["next"]?.string)
      #expect(try await world.search("the", "&limit=2&after=\(next)").status == 200)
      #expect(try await world.search("zzz", "&after=\(next)").status == 400)
      // A client's text is never a query in the engine's own language.
      let (status, body) = try await world.search("\"zzz\"\u{301} OR the OR \"\u{301}x\"")
      #expect(status == 200)
      #expect(Self.hits(body) == [])
      await world.larder.stop()
    }

    @Test("A search that takes too long is stopped")
    func slowSearchIsStopped() async throws {
      let world = try await Self.start("limits: {queryDeadline: 100ms}")
      let text = (0..<900).map { "a\($0)" }.joined(separator: " ")
      for batch in 0..<10 {
        try await world.insert((0..<200).map { ("n\(batch)-\($0)", text) })
      }
      // Each of 27 terms has some hundred places in each text.
      let words = (0..<27).map { "a\(1 + $0 % 9)*" }.joined(separator: " ")
      let (status, body) = try await world.search(words)
      #expect(status == 503)
      #expect(body["code"] == "too_costly")
      // A search with few hits still works.
      try await world.insert([("few", "unique")])
      #expect(Self.hits(try await world.search("unique").body) == ["few"])
      await world.larder.stop()
    }

    /// Of more than 5,000 texts that match, the latest are ranked. A device's own texts are all of its type here.
    @Test("A search for a word of very many texts says that its ranking is approximate")
    func commonWordsAreApproximate() async throws {
      let world = try await Self.start()
      try await world.insert([("first", "needle thread")])
      for batch in 0..<26 {
        try await world.insert(
          (0..<200).map {
            ("n\(batch)-\($0)", "needle number \(batch * 200 + $0) of the haystack")
          })
      }
      for words in ["needle", "nee*", "n*", "haystack needle"] {
        let (status, body) = try await world.search(words, "&limit=10")
        #expect(status == 200)
        #expect(body["approximate"] == true, "\(words)")
        #expect(Set(Self.hits(body)).count == 10)
        let next = try #require(body["next"]?.string)
        let second = try await world.search(words, "&limit=10&after=\(next)").body
        #expect(second["approximate"] == true)
        #expect(Set(Self.hits(second)).union(Self.hits(body)).count == 20)
      }
      for (words, id) in [("thread", "first"), ("needle thread", "first"), ("4321", "n21-121")] {
        let (_, body) = try await world.search(words)
        #expect(Self.hits(body) == [id], "\(words)")
        #expect(body["approximate"] == nil)
      }
      await world.larder.stop()
    }
  }
}
