import Filtering
import LosslessJSON
import Model
import SyncScheduler
import Testing

@testable import Storage

/// Local fields of upstream's entities in every kind of read, and what belongs to their owners.
struct LocalFieldTests {
  private static let mine = FieldWorld.viewer("d_1")
  private static let other = FieldWorld.viewer("d_2")

  private static func world() async throws -> FieldWorld { try await FieldWorld.withFilms() }

  // MARK: Reads

  @Test("A default shows without a stored row, to callers who can own the field")
  func defaultsShow() async throws {
    let world = try await Self.world()
    let seen = try #require(try await world.seen("1", by: Self.mine))
    #expect(seen["favourite"] == false && seen["stars"] == .null && seen["lists"] == [])
    #expect(seen["title"] == "Alien" && seen["note"] == nil)
    let user = try await world.seen("1", by: FieldWorld.viewer("d_1", user: "u"))
    #expect(user?["note"] == .null)
    let anonymous = try #require(try await world.seen("1", by: .anonymous))
    #expect(anonymous.members?.map(\.name).sorted() == ["id", "title", "year"])
    #expect(world.store.head == Revision(3))
  }

  @Test("Pages show the local fields and defaults that reads of one entity show")
  func pagesShowFieldsAndDefaults() async throws {
    let world = try await Self.world()
    let viewers = [
      Self.mine, FieldWorld.viewer("d_1", user: "u"), Self.mine, Self.other, .anonymous,
      FieldWorld.viewer("d_2", user: "u"),
    ]
    let stars: JSONValue = ["stars": 3, "lists": []]
    let all: JSONValue = ["favourite": true, "stars": 1, "lists": []]
    let note: JSONValue = ["note": "N"]
    for step in 0..<6 {
      let result =
        switch step {
        case 0: try await world.write("1", ["favourite": true])
        case 1: try await world.write("1", stars)
        case 2: try await world.write("2", all)
        case 3: try await world.write("1", note, user: "u")
        case 4: try await world.write("2", note, user: "u")
        default: try await world.write("1", ["favourite": false])
        }
      _ = try result.get()
      for viewer in viewers + viewers {
        try await Self.comparePage(of: world, by: viewer, "step \(step)")
      }
    }
  }

  /// Compares a page's films with the reads of each.
  private static func comparePage(
    of world: FieldWorld, by viewer: Viewer, _ note: String
  ) async throws {
    let order = try EntityOrder("year", type: FieldWorld.film)
    let page = try await world.store.page(
      EntityQuery(type: FieldWorld.film, order: order), viewer: viewer)
    #expect(page.items.map(\.key.key) == ["1", "2", "3"], "\(note)")
    for item in page.items {
      let shown: JSONValue = try FieldWorld.united(item.record)
      let seen = try #require(try await world.seen(item.key.key, by: viewer))
      let names: [String] = (seen.members ?? []).map(\.name)
      let shownNames: [String] = (shown.members ?? []).map(\.name)
      #expect(names.sorted() == shownNames.sorted(), "\(note)")
      for name in names {
        let (mine, theirs): (JSONValue?, JSONValue?) = (shown[name], seen[name])
        #expect(mine == theirs, "\(note), \(name)")
      }
    }
  }

  @Test("A write is seen by its owner alone, and moves no revision of others")
  func ownerSeesTheWrite() async throws {
    let world = try await Self.world()
    var mine = LogFollower.atHead(of: world.store, Self.mine)
    var other = LogFollower.atHead(of: world.store, Self.other)
    var anonymous = LogFollower.atHead(of: world.store)
    let commit = try await world.write("1", ["favourite": true, "stars": 4]).get()
    guard case .written(let key, let record, let isNew) = commit.outcomes.first else {
      Issue.record("no entity was returned")
      return
    }
    #expect(key == .film("1") && !isNew)
    let written = try FieldWorld.united(record)
    #expect(written["favourite"] == true && written["title"] == "Alien")
    #expect(
      commit.report.changes == [CommitReport.Change(scope: .device("d_1"), key: .film("1"))])
    #expect(try await world.seen("1", by: Self.mine)?["stars"] == 4)
    #expect(try await world.seen("1", by: Self.other)?["stars"] == .null)
    #expect(try await world.seen("1", by: .anonymous)?["stars"] == nil)
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["put Film/1"])
    try await other.takePage(from: world.store)
    try await anonymous.takePage(from: world.store)
    #expect(other.reported.isEmpty && anonymous.reported.isEmpty)
    // The same values again are no change.
    let again = try await world.write("1", ["favourite": true]).get()
    #expect(again.report.changes.isEmpty && again.report.revision == nil)
  }

  @Test("An unknown entity cannot be written, and neither can one of another caller's scope")
  func unknownEntitiesAreRefused() async throws {
    let world = try await Self.world()
    _ = try await world.store.apply(
      ResponseBuilder(call: 9, scope: .user("u")).film("private", ["title": "P"]).build())
    for film in ["nowhere", "private"] {
      let result = try await world.write(film, ["favourite": true])
      #expect(
        result.failure == WriteRefusal.missing(.film(film), pointer: ""), "\(film): \(result)")
    }
    try await world.delete(10, "3")
    #expect(
      try await world.write("3", ["favourite": true]).failure
        == WriteRefusal.missing(.film("3"), pointer: ""))
  }

  @Test(
    "Filters and orders see what the reads show",
    arguments: [
      ("favourite = true", nil, ["2"]), ("favourite = false", nil, ["1", "3"]),
      ("NOT favourite = true", nil, ["1", "3"]), ("stars IS NULL", nil, ["1", "3"]),
      ("stars IS MISSING", nil, []), ("stars > 3 AND year > 1900", nil, ["2"]),
      ("lists.count > 0", nil, ["1", "2"]), ("ANY lists.title = 'Best'", nil, ["1", "2"]),
      ("NONE lists.title = 'Best'", nil, ["3"]), (nil, "favourite,-year", ["3", "1", "2"]),
      (nil, "-stars", ["2", "1", "3"]),
    ] as [(String?, String?, [String])])
  func filtersAndOrders(filter: String?, order: String?, films: [String]) async throws {
    for hasOverlay in [false, true] {
      let world = try await Self.world()
      _ = try await world.write("2", ["favourite": true, "stars": 5]).get()
      _ = try await world.writeList(.insert, "l", ["title": "Best", "films": ["1", "2"]]).get()
      // With a row in another scope of upstream's data, rows are merged instead of read plainly.
      let user = Scope.user("u")
      if hasOverlay {
        _ = try await world.store.apply(
          ResponseBuilder(call: 20, scope: user).film("1", ["rating": 1]).build())
      }
      let viewer = FieldWorld.viewer("d_1", upstream: hasOverlay ? [user] : [])
      #expect(
        try await world.films(filter, order: order, by: viewer) == films,
        "\(filter ?? "") \(order ?? "") \(hasOverlay)")
      if filter == "favourite = true" {
        #expect(try await world.films(filter, by: Self.other).isEmpty)
        #expect(try await world.films(filter, by: .anonymous).isEmpty)
      }
    }
  }

  @Test("A filter on a value that few have begins at the owner's rows")
  func filtersUseTheOwnersIndex() async throws {
    let world = try await Self.world()
    _ = try await world.write("2", ["favourite": true]).get()
    let (catalogue, touches) = (world.store.catalogue, world.store.touches)
    var query = EntityQuery(type: FieldWorld.film)
    query.filter = try Filter(
      "favourite = true", arguments: .none, type: FieldWorld.film, graph: .none)
    let asked = query
    let directory = world.store.directory
    let plan = try await world.store.queries.read(
      QueryLane(.collection, of: Self.mine), within: nil
    ) { database in
      guard let table = catalogue["Film"] else { return "" }
      let scopes = try ViewerScopes(Self.mine, catalogue) { try directory.id(of: $0, database) }
      let sql = try EntityQueryRun(
        asked, table, scopes: scopes, catalogue, touches, database
      ).placesSQL()
      let statement = try PreparedStatement(database, once: "EXPLAIN QUERY PLAN \(sql.text)")
      sql.bind(to: statement)
      defer { statement.reset() }
      var steps: [String] = []
      while try statement.step() { steps.append(statement.string(3)) }
      return steps.joined(separator: "\n")
    }
    #expect(plan.contains("SEARCH seen_device USING INDEX index_"), "\(plan)")
    #expect(!plan.contains("SCAN seen"), "\(plan)")
  }

  @Test("A search finds words of the caller's own local fields")
  func searchFindsOwnWords() async throws {
    let world = try await Self.world()
    _ = try await world.write("1", ["note": "with grandmother"], user: "u").get()
    func found(_ words: String, _ viewer: Viewer) async throws -> [String] {
      try await world.store.search(
        try SearchText(words), types: [FieldWorld.film], viewer: viewer, limit: 10
      ).hits.map(\.key.key)
    }
    let mine = FieldWorld.viewer("d_1", user: "u")
    #expect(try await found("grandmother", mine) == ["1"])
    #expect(try await found("alien grandmother", mine) == ["1"])
    #expect(try await found("brazil", mine) == ["2"])
    for viewer in [FieldWorld.viewer("d_1", user: "v"), Self.mine, .anonymous] {
      #expect(try await found("grandmother", viewer).isEmpty)
      #expect(try await found("alien", viewer) == ["1"])
    }
  }

  // MARK: Relationships

  @Test("A list of the device and the local field that refers back are kept equal")
  func inverseIsKept() async throws {
    let world = try await Self.world()
    _ = try await world.writeList(.insert, "a", ["films": ["1", "unknown"]]).get()
    _ = try await world.writeList(.insert, "b").get()
    func lists(_ film: String, _ viewer: Viewer = Self.mine) async throws -> [String] {
      try await world.seen(film, by: viewer)?["lists"]?.array?.compactMap { $0.referencedKey?.key }
        ?? []
    }
    func films(_ list: String) async throws -> [String] {
      let record = try await world.store.entity(
        EntityKey(type: "MyList", key: list), viewer: Self.mine)
      let row = try record.map { try FieldWorld.united($0) }
      return row?["films"]?.array?.compactMap { $0.referencedKey?.description } ?? []
    }
    #expect(try await lists("1") == ["a"])
    #expect(try await lists("1", Self.other) == [])
    // The film is not stored, and is not made up by a list that names it.
    #expect(try await world.seen("unknown", by: Self.mine) == nil)
    #expect(try await world.films(by: Self.mine) == ["1", "2", "3"])
    _ = try await world.write("1", ["lists": ["b"]]).get()
    #expect(try await films("a") == ["Film/unknown"])
    #expect(try await films("b") == ["Film/1"])
    _ = try await world.writeList(.delete, "b").get()
    #expect(try await lists("1") == [])
    _ = try await world.fetch(20, "unknown", ["title": "Known now"])
    #expect(try await lists("unknown") == ["a"])
  }

  // MARK: Owners

  @Test("A reset deletes the device's local fields and reports it")
  func resetDeletes() async throws {
    let world = try await Self.world()
    for device in ["d_1", "d_2"] {
      try await world.store.register(DeviceTests.phone(device), tokenDigest: device)
      _ = try await world.write("1", ["stars": 3], by: device).get()
    }
    var mine = LogFollower.atHead(of: world.store, Self.mine)
    let report = try await world.store.reset(device: "d_1", at: Timestamp(milliseconds: 5))
    #expect(
      report?.changes.contains(CommitReport.Change(scope: .device("d_1"), key: .film("1"))) == true)
    #expect(try await world.seen("1", by: Self.mine)?["stars"] == .null)
    #expect(try await world.seen("1", by: Self.other)?["stars"] == 3)
    try await mine.takePage(from: world.store)
    #expect(mine.reported == ["put Film/1"])
    // The entity is free to be evicted once the other device's fields are gone too.
    _ = try await world.store.reset(device: "d_2", at: Timestamp(milliseconds: 6))
    #expect(try await world.evict(day: 400).entities == 3)
  }

  @Test("Local fields count towards the quota of their owner")
  func quotaCounts() async throws {
    let world = try await Self.world()
    let quota = DataQuota(ownerBytesMax: 2_000, unboundBytesMax: .max)
    let long = JSONValue.string(String(repeating: "a", count: 1_000))
    _ = try await world.write("1", ["note": long], user: "u", quota: quota).get()
    let refused = try await world.write("2", ["note": long], user: "u", quota: quota)
    #expect(refused.failure == .overQuota(.owner(bytesMax: 2_000)))
    _ = try await world.write("2", ["note": long], user: "v", quota: quota).get()
    _ = try await world.write("1", ["note": "short"], user: "u", quota: quota).get()
    _ = try await world.write("2", ["note": "short"], user: "u", quota: quota).get()
  }

  @Test("Local fields survive a restart, and so does the knowledge of who has some")
  func surviveRestart() async throws {
    let world = try await Self.world()
    _ = try await world.write("1", ["favourite": true]).get()
    world.store.close()
    let again = try FieldWorld(world.folder, segment: 2)
    #expect(try await again.seen("1", by: Self.mine)?["favourite"] == true)
    #expect(try await again.evict(day: 400).entities == 2)
  }

  @Test("A value that is not unique is reported at its body before a precondition is checked")
  func uniquenessBeforePreconditions() async throws {
    let profile = LocalType(
      name: "Profile", scope: .device,
      fields: [LocalWorld.id, LocalWorld.field("email", .scalar(.string))], uniques: [["email"]])
    let schema = LocalSchema(
      types: ["MyList": FieldWorld.list, "Profile": profile], objects: [:], enums: [:],
      extensions: ["Film": [FieldWorld.devicePart, FieldWorld.userPart]])
    let folder = TemporaryFolder()
    var configuration = StoreConfiguration(
      folder: folder.path, segment: 1, opened: Timestamp(milliseconds: 0))
    configuration.local = schema
    let store = try Store.open(configuration, types: FieldWorld.types + [profile.entityType])
    defer { withExtendedLifetime(folder) { store.close() } }
    _ = try await store.apply(ResponseBuilder(call: 1).film("1", ["title": "Alien"]).build())
    func insertion(_ place: Int) -> LocalOperation {
      var reader = LocalValueReader(schema: schema)
      let body = LocalBody(
        ["email": "a"], type: profile, isPatch: false, reader: &reader, pointer: "/\(place)/data")
      return LocalOperation(
        .insert, profile, .key("p\(place)"), body: body, pointer: "/\(place)/data")
    }
    let films = try #require(schema.allFields(of: "Film"))
    var body = LocalBody()
    body.named = ["favourite"]
    body.fields = ["favourite": true]
    let film = LocalOperation(
      .update, films, .key("1"), body: body, precondition: { _ in true }, pointer: "/2/data")
    let result = try await store.local(insertion(0), insertion(1), film, schema: schema)
    guard case .failure(.notUnique(let violations)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(violations.map(\.key.key) == ["p1"] && violations.map(\.pointer) == ["/1/data"])
  }

  @Test("Values of a local field follow its type, and one that cannot keeps the store closed")
  func valuesFollowTheirType() async throws {
    func part(_ scalar: LocalScalar, fallback: JSONValue = false) -> LocalType {
      LocalType(
        name: "Film@device", scope: .device,
        fields: [
          LocalWorld.field("favourite", .scalar(.boolean), fallback: fallback),
          LocalWorld.field("stars", .scalar(scalar)),
          LocalWorld.relation("lists", "MyList", "films", many: true),
        ]
      ).extending("Film")
    }
    let world = try await Self.world()
    _ = try await world.write("1", ["stars": 4]).get()
    world.store.close()
    let texts = try FieldWorld(world.folder, segment: 2, part: part(.string, fallback: true))
    let seen = try await texts.seen("1", by: Self.mine)
    #expect(seen?["stars"] == "4" && seen?["title"] == "Alien")
    // Nothing was written to it, so it follows the default.
    #expect(seen?["favourite"] == true)
    #expect(try await texts.films("favourite = true", by: Self.mine) == ["1", "2", "3"])
    texts.store.close()
    let failure = #expect(throws: StorageError.self) {
      try FieldWorld(world.folder, segment: 3, part: part(.boolean))
    }
    #expect("\(try #require(failure))".contains("Film/1.stars"))
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { failure } else { nil }
  }
}
