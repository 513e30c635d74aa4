import LosslessJSON
import Model
import Storage
import Synchronization
import TestSupport
import Testing
import Transport

@testable import Gateway

/// What followed lists cost: reads that are left out, memory under a limit, slow clients.
@Suite(.timeLimit(.minutes(10))) struct ListLimitTests {
  private struct Chance: SeededChance {
    var generator: SeededGenerator
  }

  /// A stream with the client's copy of its list.
  private struct Followed {
    let query: String
    let stream: ListStream
    var copy = ListCopy()
  }

  // MARK: Reads that are left out

  /// Conditions of every kind, alone and combined.
  private static func filter(_ chance: inout Chance, depth: Int = 0) -> String {
    let year = 2000 + chance.number(0...10)
    switch chance.number(0...(depth < 2 ? 10 : 6)) {
    case 0: return "year > \(year)"
    case 1: return "year <= \(year)"
    case 2: return "year <> \(year)"
    case 3: return "year BETWEEN \(year) AND \(year + 3)"
    case 4: return "year IN (\(year), \(year + 2))"
    case 5: return "title < 'B\(chance.number(0...500))'"
    case 6: return "title LIKE 'A%'"
    case 7: return "NOT (\(filter(&chance, depth: depth + 1)))"
    case 8: return "director IS NULL AND (\(filter(&chance, depth: depth + 1)))"
    case 9:
      return "(\(filter(&chance, depth: depth + 1))) OR (\(filter(&chance, depth: depth + 1)))"
    default:
      return "(\(filter(&chance, depth: depth + 1))) AND (\(filter(&chance, depth: depth + 1)))"
    }
  }

  private static func write(_ world: FollowedFilms, _ chance: inout Chance) async throws {
    let key = EntityKey(type: "Film", key: "\(chance.number(0...149))")
    if chance.percent(20) { return try await world.delete(key) }
    let title = "\(["A", "B", "C"][chance.number(0...2)])\(chance.number(0...500))"
    var fields: [JSONMember] = [
      JSONMember("id", .string(key.key)), JSONMember("title", .string(title)),
    ]
    if chance.percent(90) {
      fields.append(JSONMember("year", .number(JSONNumber(chance.number(2000...2012)))))
    } else {
      fields.append(JSONMember("year", .null))
    }
    try await world.write([(key, .object(fields))])
  }

  @Test(
    "A change that is not read for a list never is one of the list",
    arguments: [3, 11, 77, 2027] as [UInt64])
  func leavesOutOnlyWhatChangesNothing(seed: UInt64) async throws {
    let world = try FollowedFilms()
    var chance = Chance(generator: SeededGenerator(seed: seed))
    for _ in 0..<150 { try await Self.write(world, &chance) }
    let orders = ["", "&order=title", "&order=-year", "&order=year,-title"]
    var followed: [Followed] = []
    for _ in 0..<24 {
      let query =
        "filter=\(Self.filter(&chance))&limit=\(chance.number(1...12))"
        + orders[chance.number(0...3)]
      followed.append(Followed(query: query, stream: try await world.stream(.type("Film"), query)))
    }
    for step in 0..<60 {
      try await Self.write(world, &chance)
      if chance.percent(30) { continue }
      for index in followed.indices {
        try await world.follow(
          followed[index].stream, &followed[index].copy, to: .type("Film"), followed[index].query,
          "seed \(seed), step \(step), \(followed[index].query)")
      }
    }
    let reads = world.lists.reads
    #expect(reads.none > 100, "seed \(seed): \(reads)")
    #expect(reads.rows > 0, "seed \(seed): \(reads)")
  }

  // MARK: Memory

  @Test("Beyond an owner's memory a new list is refused, and those that are followed go on")
  func newListsAreRefusedBeyondTheMemory() async throws {
    let world = try FollowedFilms(listBytesMax: 400_000)
    for number in 0..<80 { try await world.film("\(number)", "Film \(number)") }
    var streams: [ListStream] = []
    var refusal: Failure?
    for number in 0..<200 {
      do {
        let stream = try await world.stream(.type("Film"), "limit=100&filter=year > \(number)")
        #expect(try await FollowedFilms.event(of: stream)?.event == "list")
        streams.append(stream)
      } catch let failure as Failure {
        refusal = failure
        break
      }
      #expect(world.ledger.byteCount <= 400_000)
    }
    #expect(refusal?.code == .overloaded)
    #expect(refusal?.retry == .after)
    #expect(streams.count >= 2 && world.lists.count == streams.count)
    // Another network has a share of its own.
    let other = try await world.stream(
      .type("Film"), "limit=10&filter=year > 1", network: "192.0.2.2")
    #expect(try await FollowedFilms.event(of: other)?.event == "list")
    try await world.film("1", "Renamed")
    for stream in streams {
      let event = try #require(try await FollowedFilms.event(of: stream))
      #expect(String(decoding: event.data, as: UTF8.self).contains("Renamed"))
    }
    streams = []
    _ = try await world.stream(.type("Film"), "limit=100&filter=year > 1000")
    withExtendedLifetime(other) {}
  }

  @Test("A thousand different lists can be followed from one network")
  func manyListsOfOneNetworkAreFollowed() async throws {
    let world = try FollowedFilms()
    for number in 0..<3 { try await world.film("\(number)", "Film \(number)") }
    var streams: [ListStream] = []
    for number in 0..<1_000 {
      let stream = try await world.stream(.type("Film"), "limit=20&filter=year > \(1_500 + number)")
      _ = try await stream.next()
      streams.append(stream)
    }
    #expect(world.lists.count == 1_000)
    let before = world.lists.reads
    try await world.film("1", "Renamed", year: 2000)
    // The lists of films after 1999 and before have the film, the others have not and are not read.
    for stream in streams[..<500] {
      let event = try #require(try await FollowedFilms.event(of: stream))
      #expect(String(decoding: event.data, as: UTF8.self).contains("Renamed"))
    }
    #expect(world.lists.reads.rows == before.rows + 500)
    #expect(world.lists.reads.whole == before.whole)
    withExtendedLifetime(streams) {}
  }

  @Test("What is counted ends with the streams")
  func countsEndWithTheStreams() async throws {
    let world = try FollowedFilms()
    for number in 0..<20 { try await world.film("\(number)", "Film \(number)") }
    let ada = Caller(subject: "ada", user: "ada")
    do {
      let first = try await world.stream(.type("Film"), "order=title")
      // The same list, followed from another network, and another view of it.
      let second = try await world.stream(.type("Film"), "order=title", network: "192.0.2.2")
      let hers = try await world.stream(.type("Film"), "order=title", by: ada)
      for stream in [first, second, hers] { _ = try await stream.next() }
      #expect(world.ledger.byteCount > 0)
      #expect(world.lists.count == 2)
    }
    #expect(world.ledger.byteCount == 0)
    #expect(world.lists.count == 0)
  }

  @Test(
    "A list without room for its documents is followed as any other", arguments: [5, 6] as [UInt64])
  func listsWithoutDocumentsAreFollowed(seed: UInt64) async throws {
    let world = try FollowedFilms(listBytesMax: 800_000) { try await Task.sleep(for: $0) }
    var chance = Chance(generator: SeededGenerator(seed: seed))
    let filler = String(repeating: "x", count: 5_000)
    func film(_ number: Int) async throws {
      let year = chance.number(2000...2020)
      try await world.film("\(number)", "\(year) \(filler)", year: year)
    }
    for number in 0..<50 { try await film(number) }
    let query = "order=year&limit=45"
    var followed = Followed(
      query: query, stream: try await world.stream(.type("Film"), query))
    for step in 0..<12 {
      try await world.follow(
        followed.stream, &followed.copy, to: .type("Film"), query, "seed \(seed), step \(step)")
      try await film(chance.number(0...49))
    }
    let network = Caller.anonymous.owner(in: ClientNetwork("192.0.2.1"))
    #expect(world.ledger.account(of: network).bytes.documents == 0)
    // A later client of the same list gets it whole.
    let later = try await world.stream(.type("Film"), query)
    let event = try #require(try await FollowedFilms.event(of: later))
    #expect(event.event == "list")
    #expect(try JSONValue(parsing: event.data)["count"] == 45)
  }

  // MARK: Slow clients

  /// A subject with one large event, which counts how many were rendered.
  private final class Large: LiveSource {
    static let byteCount = 40 << 10
    let rendered: Mutex<Int> = Mutex(0)

    var renderedCount: Int { rendered.withLock { $0 } }

    func start(
      for caller: Caller, at position: String?, isResumed: Bool
    ) async throws(Failure) -> @Sendable () -> any EventSource {
      { Reader(source: self) }
    }

    private final class Reader: StagedSource {
      let source: Large
      var isSent = false

      init(source: Large) { self.source = source }

      func next() async throws(Failure) -> [UInt8]? { try take() }

      func ready() async throws(Failure) -> Bool { !isSent }

      func take() throws(Failure) -> [UInt8]? {
        isSent = true
        source.rendered.withLock { $0 += 1 }
        var frame: [UInt8] = []
        EventFrame.append(
          id: nil, event: "list",
          data: [UInt8](repeating: UInt8(ascii: "1"), count: Large.byteCount),
          to: &frame)
        return frame
      }
    }
  }

  private static func streams(_ folder: StoreFolder, _ ledger: ListLedger) -> LiveStreams {
    LiveStreams(
      devices: .forTests(folder, TestClock()),
      signal: CommitSignal { try await Task.sleep(for: $0) },
      codec: LivePositionCodec(key: KeyRing(root: Array(0..<32)).key(for: .live)), ledger: ledger,
      random: RandomBytes { UInt8.random(in: 0...UInt8.max) })
  }

  private static func subjects(
    _ count: Int, of source: Large, definition: [UInt8] = [1]
  ) -> [LiveSubject.Requested] {
    (0..<count).map { number in
      LiveSubject.Requested(
        subject: LiveSubject(id: "s\(number)", definition: definition, source: source),
        pointer: "/queries/\(number)")
    }
  }

  @Test("Subjects count for the memory of their owner as long as they live")
  func subjectsAreCounted() throws {
    let folder = try StoreFolder()
    let ledger = ListLedger(bytesMax: 400_000)
    let streams = Self.streams(folder, ledger)
    let network = ClientNetwork("192.0.2.1")
    let large = Self.subjects(
      20, of: Large(), definition: [UInt8](repeating: 1, count: 1_000))
    do {
      var starts: [LiveStream.Start] = []
      let failure = #expect(throws: Failure.self) {
        for _ in 0..<100 {
          starts.append(
            try streams.start(large, by: .anonymous, from: network, lastEventID: nil))
        }
      }
      #expect(failure?.code == .overloaded)
      #expect(starts.count == 2)
      _ = try streams.start(
        large, by: .anonymous, from: ClientNetwork("192.0.2.2"), lastEventID: nil)
      #expect(throws: Failure.self) {
        try streams.change(starts[0].id, add: large, remove: [], by: .anonymous)
      }
      _ = try streams.change(
        starts[0].id, add: [], remove: large.map(\.subject.id), by: .anonymous)
      #expect(ledger.byteCount == 20 * (512 + 4_000))
    }
    #expect(ledger.byteCount == 0)
  }

  @Test("For a client that does not read little is rendered, however many lists it follows")
  func slowClientsHoldLittle() async throws {
    let folder = try StoreFolder()
    let ledger = ListLedger()
    let streams = Self.streams(folder, ledger)
    let source = Large()
    let subjects = Self.subjects(30, of: source)
    let stream = streams.open(
      try streams.start(
        subjects, by: .anonymous, from: ClientNetwork("192.0.2.1"), lastEventID: nil)
    ) { _ in [] }
    _ = try await stream.next()
    try #require(
      await eventuallyHolds { source.renderedCount >= 2 },
      "\(source.renderedCount) events were rendered")
    for _ in 0..<2_000 { await Task.yield() }
    #expect(source.renderedCount == 2)
    var lists = 0
    var ends = 0
    while ends < 30, let bytes = try await stream.next() {
      for event in EventFrame.events(in: bytes) {
        if event.event == "list" { lists += 1 }
        if event.event == "end" { ends += 1 }
      }
    }
    #expect(lists == 30)
    #expect(source.renderedCount == 30)
  }
}
