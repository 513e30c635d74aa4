import DemoUpstream
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// A property: after any sequence of enqueued, refused, applied and withdrawn mutations, each kind of read
  /// shows the device what another device of the same user sees, with its own optimistic updates and local
  /// fields applied; other callers see none of them.
  struct PendingPropertyTests {
    private static let steps = 25
    private static let localFields = """
      extend type Film {
        favourite: Boolean @local @default(value: false)
        stars: Int @local
      }
      """
    private static let list = "/api/films?limit=20"
    private static let listDiff = "/v1/operations/Films/diff?limit=20"
    private static let collection = "/v1/entities/Film?order=title&limit=100&total=true"

    @Test(
      "Every read with pending changes agrees with a plain model",
      arguments: [21, 22, 23] as [UInt64])
    func everyReadAgreesWithTheModel(seed: UInt64) async throws {
      let world = try await PendingWorld.start(localTypes: Self.localFields)
      var random = SeededGenerator(seed: seed)
      var model = PendingModel()
      var copy = ListCopy()
      var live = LiveFilms(
        try await world.events("/v1/operations/Films/stream?limit=20", as: .mine))
      var shown = 0
      for step in 0..<Self.steps {
        let place = "seed \(seed), step \(step)"
        let before = try await world.items(Self.collection, as: .anonymous)
        try await Self.act(step, world, &model, &random)
        let after = try await world.items(Self.collection, as: .anonymous)
        // A mutation that upstream accepted does change the data.
        if !model.changes.isEmpty { #expect(after == before, "\(place)") }
        if !model.changes.isEmpty { shown += 1 }
        try await Self.checkOperations(world, model, &live, place)
        try await Self.checkCollections(world, model, place)
        try await Self.checkSearch(world, model, place)
        try await Self.checkDiff(world, &copy, place)
      }
      #expect(shown > Self.steps / 2, "seed \(seed) proves nothing")
      await world.stop()
    }

    // MARK: Steps

    private static func act(
      _ step: Int, _ world: PendingWorld, _ model: inout PendingModel,
      _ random: inout SeededGenerator
    ) async throws {
      let base = try await world.films(list, as: .anonymous).compactMap { $0["id"]?.string }
      let alive = base.filter { !model.isDeleted($0) }
      let film = try #require(alive.randomElement(using: &random))
      // Few words, so that some films share one.
      let title = "Qz\(Int.random(in: 0..<4, using: &random)) \(step)"
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<5:
        let year = 2000 + Int64.random(in: 0..<3, using: &random)
        let text = #"{"title":"\#(title)","year":\#(year)}"#
        let id = try await world.enqueueUpdate(film, text, patch: text)
        let fields = try JSONValue(parsing: Array(text.utf8)).members ?? []
        model.changes.append(.init(mutation: id, film: film, fields: fields))
      case 5:
        // A film with local fields stays in its owner's reads when upstream deletes it.
        guard alive.count > 15,
          let film = alive.filter({ model.marks[$0] == nil }).randomElement(using: &random)
        else { return }
        let id = try await world.enqueueDeletion(of: film)
        model.changes.append(.init(mutation: id, film: film, fields: nil))
      case 6:
        let made = String(PendingWorld.temporary.dropLast(2)) + "\(10 + step)"
        let id = try await world.enqueueCreation(made, titled: title)
        let fields = [JSONMember("title", .string(title)), JSONMember("year", 1999)]
        model.changes.append(.init(mutation: id, film: made, fields: fields, creates: true))
      case 7, 8:
        guard let change = model.changes.randomElement(using: &random) else { return }
        try await world.takeBack(change.mutation)
        model.changes.removeAll { $0.mutation == change.mutation }
      case 10, 11:
        let mark = PendingModel.Mark(
          isFavourite: Bool.random(using: &random), stars: Int64.random(in: 1...3, using: &random))
        let written = try await world.larder.request(
          "PATCH", "/v1/entities/Film/\(film)", headers: world.headers(of: .mine),
          body: #"{"favourite":\#(mark.isFavourite),"stars":\#(mark.stars)}"#)
        #expect(written.status == 200, "\(written.text)")
        model.marks[film] = mark
      default:
        try await settleAll(world, isRefused: Bool.random(using: &random))
        model.changes = []
      }
    }

    private static func settleAll(_ world: PendingWorld, isRefused: Bool) async throws {
      try await world.larder.demo.change { $0.fail = isRefused ? .graphQLErrors : .off }
      _ = try await world.post("/v1/queue/resume")
      let queue = try await eventually {
        try await world.json("/v1/queue", as: .mine)
      } until: {
        $0["pending"] == 0
      }
      #expect(queue["pending"] == 0)
      _ = try await world.post("/v1/queue/pause")
      try await world.larder.demo.change { $0.fail = .off }
    }

    // MARK: Checks

    private static func part(_ film: JSONValue?) -> JSONValue {
      .object(
        ["id", "title", "year", "_pending"].compactMap { name in
          film?[name].map { JSONMember(name, $0) }
        })
    }

    private static func parts(_ films: [JSONValue]) -> [JSONValue] { films.map(part) }

    private static func checkOperations(
      _ world: PendingWorld, _ model: PendingModel, _ live: inout LiveFilms, _ place: String
    ) async throws {
      let base = try await world.films(list, as: .other)
      #expect(try await world.films(list, as: .anonymous) == base, "\(place)")
      let answer = try await world.get(list, as: .mine)
      let mine = try JSONValue(parsing: answer.body)["data"]?["films"]?.array ?? []
      #expect(parts(mine) == parts(model.films(base)), "\(place)")
      let tag = try #require(answer["etag"])
      #expect(
        try await world.get(list, as: .mine, ("If-None-Match", tag)).status == 304, "\(place)")
      try await live.follow(to: answer.text)
      #expect(live.last == answer.text, "\(place)")
      for film in base.prefix(3) {
        let id = film["id"]?.string ?? ""
        let single = try await world.json("/api/films/\(id)", as: .mine)["data"]?["film"]
        let expected = model.film(film)
        #expect(part(single) == part(expected), "\(place), \(id)")
      }
    }

    private static func checkCollections(
      _ world: PendingWorld, _ model: PendingModel, _ place: String
    ) async throws {
      let base = try await world.items(collection, as: .other)
      let page = try await world.json(collection, as: .mine)
      let mine = page["items"]?.array ?? []
      let expected = model.collection(base)
      #expect(page["total"]?.int64 == Int64(expected.count), "\(place)")
      let order = expected.sorted {
        ($0["title"]?.string ?? "", $0["id"]?.string ?? "")
          < ($1["title"]?.string ?? "", $1["id"]?.string ?? "")
      }
      #expect(
        Set(parts(mine).map(\.canonicalText)) == Set(parts(order).map(\.canonicalText)), "\(place)")
      #expect(mine.map { $0["title"] } == order.map { $0["title"] }, "\(place)")
      for item in mine where !model.creates(item) {
        let mark = item["id"]?.string.flatMap { model.marks[$0] }
        #expect(item["favourite"] == .bool(mark?.isFavourite ?? false), "\(place)")
        #expect(item["stars"]?.int64 == mark?.stars, "\(place)")
      }
      for item in base { #expect(item["favourite"] == false, "\(place)") }
      let favourites = "/v1/entities/Film?filter=favourite%20AND%20year%20%3D%202001&total=true"
      let wanted = expected.count { item in
        item["year"]?.int64 == 2001
          && item["id"]?.string.flatMap { model.marks[$0] }?.isFavourite == true
      }
      let found = try await world.json(favourites, as: .mine)["total"]?.int64
      #expect(found == Int64(wanted), "\(place)")
      #expect(try await world.json(favourites, as: .other)["total"] == 0, "\(place)")
      let filter = "/v1/entities/Film?filter=year%20%3D%202001&total=true"
      let count = try await world.json(filter, as: .mine)["total"]?.int64
      #expect(count == Int64(expected.filter { $0["year"]?.int64 == 2001 }.count), "\(place)")
    }

    private static func checkSearch(
      _ world: PendingWorld, _ model: PendingModel, _ place: String
    ) async throws {
      let base = try await world.items(collection, as: .other)
      for word in ["Qz1", "Qz2"] {
        func having(_ films: [JSONValue]) -> Set<String> {
          Set(
            films.filter { $0["title"]?.string?.hasPrefix("\(word) ") == true }
              .compactMap { $0["id"]?.string })
        }
        let target = "/v1/search?q=\(word)&types=Film&limit=100"
        #expect(
          Set(try await world.ids(target, as: .mine)) == having(model.collection(base)), "\(place)")
        #expect(Set(try await world.ids(target, as: .other)) == having(base), "\(place)")
      }
    }

    private static func checkDiff(
      _ world: PendingWorld, _ copy: inout ListCopy, _ place: String
    ) async throws {
      let from = copy.tag.map { "&from=%22\($0.dropFirst().dropLast())%22" } ?? ""
      let answer = try await world.get(listDiff + from, as: .mine)
      if answer.status != 304 {
        let body = try JSONValue(parsing: answer.body)
        #expect(throws: Never.self, "\(place): \(answer.text)") { try copy.apply(body) }
      }
      let films = try await world.films(list, as: .mine)
      #expect(parts(copy.items) == parts(films), "\(place)")
    }
  }

  /// A client of a live query that reads until a given text arrives.
  private struct LiveFilms {
    private let events: EventClient
    private(set) var last = ""

    init(_ events: EventClient) {
      self.events = events
    }

    /// Reads until the text arrives; fails if it does not in time.
    mutating func follow(to text: String) async throws {
      while last != text {
        guard let event = try await events.nextEvent() else { return }
        last = event.data
      }
    }
  }
}

/// A plain model of a device's optimistic updates: changes in the order of its queue, applied to the shared
/// data.
struct PendingModel {
  struct Change {
    let mutation: String
    let film: String
    /// The changed fields; nil deletes the film.
    let fields: [JSONMember]?
    var creates = false
  }

  /// The device's local fields of a film.
  struct Mark {
    let isFavourite: Bool
    let stars: Int64
  }

  var changes: [Change] = []
  /// By film. They are the device's own at once, and no mutation takes them back.
  var marks: [String: Mark] = [:]

  func creates(_ film: JSONValue) -> Bool {
    changes.contains { $0.creates && .string($0.film) == film["id"] }
  }

  /// A film as the device sees it; nil if it is to be deleted.
  func film(_ film: JSONValue) -> JSONValue? {
    var members = film.members ?? []
    var mutations: [JSONValue] = []
    for change in changes where .string(change.film) == film["id"] {
      guard let fields = change.fields else { return nil }
      mutations.append(.string(change.mutation))
      for field in fields {
        members.removeAll { $0.name == field.name }
        members.append(field)
      }
    }
    if !mutations.isEmpty { members.append(JSONMember("_pending", .array(mutations))) }
    return .object(members)
  }

  /// An operation's list: pending creations are not in it, pending deletions are removed.
  func films(_ films: [JSONValue]) -> [JSONValue] { films.compactMap(film) }

  /// The collection of all films as the device sees it.
  func collection(_ films: [JSONValue]) -> [JSONValue] {
    let made = changes.filter(\.creates).map {
      JSONValue.object([JSONMember("id", .string($0.film))])
    }
    return self.films(films + made)
  }

  func isDeleted(_ film: String) -> Bool {
    changes.contains { $0.film == film && $0.fields == nil }
  }
}
