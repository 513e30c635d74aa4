import Filtering
import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

@testable import Gateway

/// Changes with `now()` in the filter. The titles of the films are times.
@Suite(.timeLimit(.minutes(10))) struct TimedChangeTests {
  /// A client with the ids of the films that were reported to it.
  private struct Client {
    let filter: ChangeFilter
    var cursor: String?
    var held: Set<String> = []
    /// The elements of the last page.
    var reported: [String] = []

    mutating func takePage(from films: FilmFeed, limit: Int) async throws -> RenderedChanges {
      let page = try await films.feed.page(
        caller: .anonymous, filter: filter, since: cursor.map(ChangeFeed.Since.cursor) ?? .snapshot,
        limit: limit)
      reported = []
      for element in page.elements {
        let change = try JSONValue(parsing: element.json)
        let id = try #require(change["id"]?.string)
        let isPut = change["op"] == "put"
        if isPut { held.insert(id) } else { held.remove(id) }
        let isNew = change["new"] == true
        reported.append("\(isPut ? isNew ? "new" : "put" : "del") \(id)")
      }
      cursor = page.cursor
      return page
    }
  }

  private static func time(_ films: FilmFeed, _ seconds: Int) -> String {
    films.time.clock.now().advanced(by: .seconds(seconds)).iso8601
  }

  private static func passing(_ text: String, _ films: FilmFeed) async throws -> Set<String> {
    let filter = try Filter(
      text, arguments: .none, type: FilmFeed.film, now: films.time.clock.now())
    let page = try await films.store.page(
      EntityQuery(type: FilmFeed.film, filter: filter, limit: 1_000), viewer: .anonymous)
    return Set(page.items.map(\.key.key))
  }

  @Test("Films enter and leave a filter by the passing of time alone")
  func timeAlone() async throws {
    let films = try FilmFeed()
    try await films.write("past", title: Self.time(films, -30))
    try await films.write("soon", title: Self.time(films, 30))
    try await films.write("late", title: Self.time(films, 300))
    var client = Client(filter: films.filter("title > now() - 1m AND title < now() + 1m"))
    _ = try await client.takePage(from: films, limit: 10)
    #expect(client.reported == ["new past", "new soon"])
    films.time.advance(by: .seconds(40))
    _ = try await client.takePage(from: films, limit: 10)
    #expect(client.reported == ["del past"])
    // A change and the time of the same film make one entry.
    try await films.write("late", title: Self.time(films, 90))
    films.time.advance(by: .seconds(40))
    _ = try await client.takePage(from: films, limit: 10)
    #expect(client.reported == ["new late"])
    films.time.advance(by: .seconds(-80))
    _ = try await client.takePage(from: films, limit: 10)
    #expect(client.reported.isEmpty, "the clock went back")
    films.time.advance(by: .seconds(80))
    _ = try await client.takePage(from: films, limit: 10)
    #expect(client.reported.isEmpty)
    #expect(client.held == ["soon", "late"])
  }

  @Test("Many films that leave at the same moment are reported in pages")
  func pagesOfOneMoment() async throws {
    let films = try FilmFeed()
    let title = Self.time(films, 10)
    let ids = Set((0..<25).map { "f\($0)" })
    for id in ids { try await films.write(id, title: title) }
    var client = Client(filter: films.filter("title > now()"))
    repeat {} while try await !client.takePage(from: films, limit: 10).isComplete
    #expect(client.held == ids)
    films.time.advance(by: .seconds(20))
    var counts: [Int] = []
    while true {
      let page = try await client.takePage(from: films, limit: 10)
      counts.append(page.elements.count)
      // A change between two pages, of a film that has left and of one that has not.
      if counts.count == 1 {
        try await films.write("f0", title: Self.time(films, 50))
        try await films.write("f9", title: Self.time(films, 50))
      }
      if page.isComplete { break }
    }
    #expect(counts.allSatisfy { $0 <= 10 } && counts.count >= 3, "\(counts)")
    #expect(client.held == ["f0", "f9"])
  }

  @Test("A cursor of a response does not start a filter with now(), since it has no time")
  func refusesCursorsWithoutTime() async throws {
    let films = try FilmFeed()
    let issuer = CursorIssuer(
      codec: CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor)),
      segment: films.store.segments.last?.nonce ?? 0, schemaVersion: 1, head: films.store.head)
    let cursor = String(decoding: issuer.cursor(for: .anonymous), as: UTF8.self)
    _ = try await films.feed.page(
      caller: .anonymous, filter: .all, since: .cursor(cursor), limit: 10)
    let filter = films.filter("title < now()")
    await #expect(throws: CursorFault.withoutTime) {
      try await films.feed.page(
        caller: .anonymous, filter: filter, since: .cursor(cursor), limit: 10)
    }
    await #expect(throws: CursorFault.withoutTime) {
      try await films.feed.streamStart(
        caller: .anonymous, filter: filter, since: .cursor(cursor))
    }
  }

  @Test("A stream looks at the time with each heartbeat")
  func streamFollowsTheTime() async throws {
    let films = try FilmFeed()
    try await films.write("1", title: Self.time(films, 20))
    let stream = try await films.stream(films.filter("title < now()"))
    films.heartbeats.fire()
    #expect(try await FilmFeed.frame(of: stream) == ":\n\n")
    films.time.advance(by: .seconds(30))
    let frame = try await FilmFeed.frame(of: stream)
    #expect(frame.contains(#""op":"put""#) && frame.contains(#""id":"1""#), "\(frame)")
    let cursor = try #require(frame.split(separator: "\n").first?.dropFirst("id: ".count))
    var client = Client(
      filter: films.filter("title < now()"), cursor: String(cursor), held: ["1"])
    _ = try await client.takePage(from: films, limit: 10)
    #expect(client.reported.isEmpty)
  }

  @Test("A page that waits looks at the time with each heartbeat")
  func waitFollowsTheTime() async throws {
    let films = try FilmFeed()
    try await films.write("1", title: Self.time(films, 20))
    let filter = films.filter("title < now()")
    async let waiting = films.feed.page(
      caller: .anonymous, filter: filter, since: .head, limit: 10, wait: .seconds(50))
    #expect(await eventuallyHolds { films.signal.count > 0 })
    films.time.advance(by: .seconds(30))
    films.heartbeats.fire()
    let page = try await waiting
    #expect(page.elements.count == 1)
    #expect(films.signal.count == 0)
  }

  @Test(
    "A reader that has caught up has exactly the films of a page with the same filter",
    arguments: 1...12 as ClosedRange<UInt64>)
  func convergesToThePage(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    let films = try FilmFeed()
    let bounds = ["now()", "now() - 1m", "now() + 2m", "now() - 5m + 30s"]
    func predicate() -> String {
      switch pick(0...5) {
      case 0: "title BETWEEN \(bounds[pick(0...3)]) AND \(bounds[pick(0...3)])"
      case 1: "id < 'f\(pick(0...20))'"
      case 2: "NOT (title <= \(bounds[pick(0...3)]))"
      default: "title \(["<", "<=", ">", ">="][pick(0...3)]) \(bounds[pick(0...3)])"
      }
    }
    let text =
      "title > \(bounds[pick(0...3)]) \(pick(0...1) == 0 ? "AND" : "OR") "
      + "(\(predicate()) OR \(predicate()))"
    var client = Client(filter: films.filter(text))
    var timesCaughtUp = 0
    var steps = 0
    for _ in 0..<400 {
      switch pick(0...9) {
      case 0...2:
        try await films.write("f\(pick(0...20))", title: Self.time(films, pick(-60...60) * 10))
      case 3: try await films.delete("f\(pick(0...20))")
      case 4...5: films.time.advance(by: .seconds(pick(0...9) * 5))
      default:
        let note: Comment = "seed \(seed): \(text)"
        let page = try await client.takePage(from: films, limit: pick(1...4))
        if page.next.clock?.step != nil { steps += 1 }
        guard page.isComplete else { continue }
        timesCaughtUp += 1
        let expected = try await Self.passing(text, films)
        #expect(client.held == expected, note)
        guard client.held == expected else { return }
      }
    }
    #expect(timesCaughtUp > 20, "seed \(seed) proves nothing: \(steps) unfinished steps")
  }

  @Test("now() in a pattern is refused, since its entities cannot be found by the time")
  func refusesPatterns() {
    for text in ["title LIKE now()", "title CONTAINS now()", "title BEGINSWITH[c] now()"] {
      var faults: [String] = []
      let condition = ChangeCondition(
        text, arguments: .none, types: [FilmFeed.film], graph: .none,
        now: Timestamp(milliseconds: 0)
      ) { faults.append("\($0) \($1)") }
      #expect(condition == nil, "\(text)")
      #expect(faults.count == 1 && faults[0].hasPrefix("filter now() cannot be"), "\(faults)")
    }
  }
}
