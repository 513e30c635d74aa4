import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

@testable import Gateway

/// Streams of lists: each event leads from the client's list to the present one.
@Suite(.timeLimit(.minutes(10))) struct ListStreamTests {
  /// Lists of every kind: whole pages, windows of one, with offsets, totals, sections and filters, after a
  /// page, and a relationship in stored and in another order.
  private static let films: [(ListSubject, String)] = [
    (.type("Film"), "order=title&limit=5"),
    (.type("Film"), "order=-year,title&limit=40&total=true"),
    (.type("Film"), "limit=1000"),
    (.type("Film"), "order=title&limit=3&offset=2"),
    (.type("Film"), "order=year&section=year&filter=year > 2005&limit=10"),
    (.type("Film"), "filter=title LIKE ?&arg=A%&order=title&limit=2"),
    (.type("Film"), "view=FilmCard&order=title&limit=4"),
    (.type("Film"), "limit=0&total=true"),
    (.relationship("films", of: EntityKey(type: "Person", key: "p1")), "limit=6"),
    (.relationship("films", of: EntityKey(type: "Person", key: "p1")), "order=-title&limit=4"),
    (.type("Person"), "include=films(limit: 3)"),
    (.type("Person"), "include=films(limit: 4, order: -title)&limit=2"),
  ]

  private struct Chance: SeededChance {
    var generator: SeededGenerator
  }

  @Test(
    "Applying each diff to the former list gives the present list",
    arguments: [1, 7, 42, 2026, 31_337] as [UInt64])
  func diffsLeadToThePresentList(seed: UInt64) async throws {
    let world = try FollowedFilms()
    var chance = Chance(generator: SeededGenerator(seed: seed))
    for number in 0..<60 {
      try await world.film("\(number)", Self.title(&chance), year: chance.number(2000...2010))
    }
    try await world.person("p1", films: (0..<20).map { "\($0 * 3)" })
    var followed: [(subject: ListSubject, query: String, stream: ListStream, copy: ListCopy)] = []
    for (subject, query) in Self.films {
      let stream = try await world.stream(subject, query)
      followed.append((subject, query, stream, ListCopy()))
    }
    for step in 0..<60 {
      try await Self.act(in: world, &chance)
      // Some commits pass unread, so that a diff spans several.
      if chance.percent(40) { continue }
      for index in followed.indices {
        let list = followed[index]
        try await world.follow(
          list.stream, &followed[index].copy, to: list.subject, list.query,
          "seed \(seed), step \(step), \(list.query)")
      }
    }
    #expect(world.lists.reads.rows > 0, "seed \(seed): no list was followed by single rows")
  }

  private static func title(_ chance: inout Chance) -> String {
    "\(["A", "B", "C", "Ä"][chance.number(0...3)])\(chance.number(0...500))"
  }

  /// One commit: films written, deleted or moved, or a person's films replaced.
  private static func act(in world: FollowedFilms, _ chance: inout Chance) async throws {
    func id(_ chance: inout Chance) -> String { "\(chance.number(0...79))" }
    switch chance.number(0...9) {
    case 0...5:
      try await world.film(id(&chance), title(&chance), year: chance.number(2000...2010))
    case 6:
      var films: [String: (EntityKey, JSONValue)] = [:]
      for _ in 0..<chance.number(2...30) {
        let id = id(&chance)
        films[id] = FollowedFilms.film(id, title(&chance))
      }
      try await world.write(films.sorted { $0.key < $1.key }.map(\.value))
    case 7, 8:
      try await world.delete(EntityKey(type: "Film", key: id(&chance)))
    default:
      var films: [String] = []
      for _ in 0..<chance.number(0...12) { films.append(id(&chance)) }
      try await world.person("p1", films: films)
    }
  }

  @Test("A commit that touches nothing of a list causes no read")
  func untouchedListsAreNotRead() async throws {
    let world = try FollowedFilms()
    try await world.film("1", "Alien")
    try await world.person("p1", films: ["1"])
    let films = try await world.stream()
    let film = try await world.stream(.entity(EntityKey(type: "Film", key: "1")))
    #expect(try await FollowedFilms.event(of: films)?.event == "list")
    #expect(try await FollowedFilms.event(of: film)?.event == "list")
    let before = world.lists.reads
    // Another type, another caller's scope, another film than the one followed.
    try await world.person("p2", films: [])
    try await world.film("1", "Hidden", in: .user("ada"))
    #expect(world.lists.reads == before)
    try await world.film("2", "Brazil")
    let event = try #require(try await FollowedFilms.event(of: films))
    #expect(String(decoding: event.data, as: UTF8.self).contains("Brazil"))
    #expect(world.lists.reads.whole == before.whole)
    #expect(world.lists.reads.rows == before.rows + 1)
    withExtendedLifetime(film) {}
  }

  @Test("A commit is read once for all streams of the same list and viewer")
  func readsOnceForAllStreams() async throws {
    let world = try FollowedFilms()
    try await world.film("1", "Alien")
    let count = 200
    let frames = try await withThrowingTaskGroup(of: [UInt8].self) { group in
      let ready = AsyncStream<Void>.makeStream()
      for _ in 0..<count {
        group.addTask {
          let stream = try await world.stream(.type("Film"), "order=title")
          _ = try await stream.next()
          ready.continuation.yield()
          return try await stream.next() ?? []
        }
      }
      var iterator = ready.stream.makeAsyncIterator()
      for _ in 0..<count { _ = await iterator.next() }
      let before = world.lists.reads
      #expect(before.whole == 1)
      #expect(world.lists.count == 1)
      try await world.film("1", "Brazil")
      let frames = try await group.reduce(into: [[UInt8]]()) { $0.append($1) }
      #expect(world.lists.reads.rows == before.rows + 1)
      return frames
    }
    #expect(Set(frames).count == 1)
    #expect(world.lists.count == 0)
    #expect(world.signal.count == 0)
  }

  @Test("A client that comes back with its tag gets a diff, or nothing if its list is current")
  func resumesFromTheKnownTag() async throws {
    let world = try FollowedFilms()
    for number in 0..<30 { try await world.film("\(number)", "Film \(number)") }
    var copy = ListCopy()
    do {
      let stream = try await world.stream(.type("Film"), "order=title")
      try copy.apply(
        try JSONValue(parsing: try #require(try await FollowedFilms.event(of: stream)).data))
    }
    let tag = String(try #require(copy.tag).dropFirst().dropLast())
    try await world.film("3", "Renamed")
    let again = try await world.stream(.type("Film"), "order=title", knownTag: tag)
    let diff = try #require(try await FollowedFilms.event(of: again))
    #expect(diff.event == "diff")
    try copy.apply(try JSONValue(parsing: diff.data))
    // The present tag: only the next change is sent.
    let present = String(try #require(copy.tag).dropFirst().dropLast())
    let quiet = try await world.stream(.type("Film"), "order=title", knownTag: present)
    try await world.film("4", "Later")
    let later = try #require(try await FollowedFilms.event(of: quiet))
    #expect(later.event == "diff")
    #expect(try JSONValue(parsing: later.data)["from"]?.string == copy.tag)
    // A tag that no client of this view has received.
    let unknown = try await world.stream(.type("Film"), "order=title", knownTag: "made-up")
    #expect(try await FollowedFilms.event(of: unknown)?.event == "list")
  }

  @Test("A stream that begins after a write has the write, whatever is read at the time")
  func beginsWithWhatWasWritten() async throws {
    let world = try FollowedFilms()
    try await world.film("1", "Alien")
    let other = try await world.stream()
    #expect(try await other.next() != nil)
    for number in 0..<30 {
      try await world.film("1", "Title \(number)")
      let stream = try await world.stream()
      let first = try #require(try await FollowedFilms.event(of: stream))
      let text = String(decoding: first.data, as: UTF8.self)
      #expect(text.contains("Title \(number)\""), "\(text)")
    }
    withExtendedLifetime(other) {}
  }

  @Test("An entity is a list of one, and of none while it does not exist")
  func entityIsAListOfOne() async throws {
    let world = try FollowedFilms()
    let key = EntityKey(type: "Film", key: "1")
    try await world.film("1", "Alien")
    let stream = try await world.stream(.entity(key))
    func next() async throws -> JSONValue {
      try JSONValue(parsing: try #require(try await FollowedFilms.event(of: stream)).data)
    }
    let first = try await next()
    #expect(first["items"]?[0]?["title"] == "Alien")
    let plain = try await world.entities.entity(key, parameters: [], caller: .anonymous)
    #expect(first["etag"]?.string == "\"\(plain.tag)\"")
    try await world.film("1", "Aliens")
    #expect(try await next()["items"]?[0]?["title"] == "Aliens")
    try await world.delete(key)
    #expect(try await next()["count"] == 0)
    try await world.film("1", "Back")
    #expect(try await next()["items"]?[0]?["title"] == "Back")
    await #expect(throws: Failure.self) {
      try await world.stream(.entity(EntityKey(type: "Film", key: "none")))
    }
    await #expect(throws: Failure.self) { try await world.stream(.entity(key), "order=title") }
    #expect(world.lists.count == 1)
  }

  @Test("A to-one relationship follows its target, whichever that is")
  func toOneRelationshipFollowsItsTarget() async throws {
    let world = try FollowedFilms()
    for id in ["p1", "p2"] { try await world.person(id, films: []) }
    func direct(_ person: String) async throws {
      let reference = JSONValue.storedReference(to: EntityKey(type: "Person", key: person))
      try await world.write([
        (EntityKey(type: "Film", key: "1"), ["id": "1", "title": "T", "director": reference])
      ])
    }
    try await direct("p1")
    let stream = try await world.stream(
      .relationship("director", of: EntityKey(type: "Film", key: "1")))
    func next() async throws -> JSONValue? {
      let event = try #require(try await FollowedFilms.event(of: stream))
      return try JSONValue(parsing: event.data)["items"]?[0]
    }
    #expect(try await next()?["id"] == "p1")
    try await direct("p2")
    #expect(try await next()?["id"] == "p2")
    try await world.write([(EntityKey(type: "Person", key: "p2"), ["name": "Agnès"])])
    #expect(try await next()?["name"] == "Agnès")
    #expect(world.lists.count == 1)
  }

  @Test("A caller without the right to read gets no list that another caller follows")
  func sharedListsAreNotOpenToOthers() async throws {
    let world = try FollowedFilms(hasServiceCredentials: true)
    try await world.film("1", "Alien")
    let admin = Caller(isAdmin: true)
    #expect(admin.viewer == Caller.anonymous.viewer)
    let stream = try await world.stream(.type("Film"), by: admin)
    #expect(try await FollowedFilms.event(of: stream)?.event == "list")
    await #expect(throws: Failure.self) { try await world.stream(.type("Film")) }
  }

  @Test("A tag known to one viewer is unknown to another")
  func tagsAreBoundToTheViewer() async throws {
    let world = try FollowedFilms()
    let ada = Caller(subject: "ada")
    for number in 0..<20 {
      try await world.film("\(number)", "Film \(number)", in: .user("ada"))
    }
    let hers = try await world.stream(.type("Film"), by: ada)
    let first = try #require(try await FollowedFilms.event(of: hers))
    let tag = String(try #require(first.id).dropFirst().dropLast())
    try await world.film("1", "Changed", in: .user("ada"))
    let again = try await world.stream(.type("Film"), by: ada, knownTag: tag)
    #expect(try await FollowedFilms.event(of: again)?.event == "diff")
    let other = try await world.stream(.type("Film"), by: .anonymous, knownTag: tag)
    let event = try #require(try await FollowedFilms.event(of: other))
    #expect(event.event == "list")
    #expect(try JSONValue(parsing: event.data)["count"] == 0)
  }

  @Test("A revoked device and a draining service end the stream")
  func revocationAndDrainEndTheStream() async throws {
    let world = try FollowedFilms()
    try await world.film("1", "Alien")
    let phone = try await world.devices.register(
      DeviceRegistration(platform: "ios"), by: .anonymous, from: ClientNetwork("192.0.2.1"))
    let (device, digest) = try await world.devices.identify(token: phone.token, user: nil)
    let caller = Caller(device: Caller.Device(id: device.id, tokenDigest: digest))
    let stream = try await world.stream(.type("Film"), by: caller)
    #expect(try await stream.next() != nil)
    let late = try await world.lists.start(
      world.question(.type("Film")), caller: caller,
      owner: caller.owner(in: ClientNetwork("192.0.2.1")), knownTag: nil)
    try await world.devices.remove(try #require(caller.device))
    #expect(try await stream.next() == nil)
    // Started before the revocation and opened after it.
    let opened = world.lists.open(late)
    await #expect(throws: Failure.self) { try await opened.next() }
    let other = try await world.stream()
    #expect(try await other.next() != nil)
    world.signal.end()
    #expect(try await other.next() == nil)
    await #expect(throws: Failure.self) { try await world.stream() }
  }

  @Test("A purge of the type empties the list")
  func purgeOfTheTypeEmptiesTheList() async throws {
    let world = try FollowedFilms()
    try await world.film("1", "Alien")
    let stream = try await world.stream()
    #expect(try await FollowedFilms.event(of: stream)?.event == "list")
    let call = CallNumber(1_000)
    _ = try await world.store.purge([.type("Film")], in: nil, call: call, horizon: call)
    let event = try #require(try await FollowedFilms.event(of: stream))
    #expect(try JSONValue(parsing: event.data)["count"] == 0)
  }
}
