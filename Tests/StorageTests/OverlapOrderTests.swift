import GRDB
import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// Mutations that overlap each other and queries: the same is stored in the end, whatever the order
/// in which they are written.
struct OverlapOrderTests {
  /// A call, numbered by its place: a query by its start, a mutation by its end.
  private struct Step {
    /// The place after which a mutation began; nil for a query.
    var startsBehind: Int?
    var films: [(id: String, fields: JSONValue)] = []
    var deletion: EntityKey?

    var keys: Set<EntityKey> {
      Set(films.map { EntityKey.film($0.id) }).union(deletion.map { [$0] } ?? [])
    }
  }

  /// Numbers of calls leave room for the starts of mutations between them.
  private static func call(_ place: Int) -> Int64 { Int64(place + 1) * 100 }

  private static func start(_ place: Int, _ step: Step) -> Int64? {
    step.startsBehind.map { Int64($0 + 1) * 100 + Int64(place) + 1 }
  }

  @Test(
    "Every arrival order of overlapping mutations and queries converges",
    arguments: 1...16 as ClosedRange<UInt64>)
  func everyArrivalOrderConverges(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let steps = (0..<4).map { Self.step($0, &generator) }
    let expected = try await Self.arrive(steps, order: Array(steps.indices))
    var orders = Permutations.all(of: steps.count)
    orders.shuffle(using: &generator)
    for order in orders.prefix(8) {
      let found = try await Self.arrive(steps, order: order)
      #expect(found == expected, "seed \(seed), order \(order), steps \(steps)")
    }
  }

  /// Computes the span of a mutation as `CallSequence` does.
  private static func span(_ place: Int, _ steps: [Step]) -> MutationSpan? {
    guard let start = start(place, steps[place]) else { return nil }
    var overtaken: Set<EntityKey> = []
    var disputed: Set<EntityKey> = []
    for other in 0..<place {
      guard let otherStart = Self.start(other, steps[other]), call(other) > start else { continue }
      let common = steps[other].keys.intersection(steps[place].keys)
      disputed.formUnion(common)
      if otherStart > start { overtaken.formUnion(common) }
    }
    return MutationSpan(
      start: CallNumber(start), head: Revision(.max), overtaken: overtaken, disputed: disputed)
  }

  private static func arrive(_ steps: [Step], order: [Int]) async throws -> [String] {
    let fixture = try StoreFixture()
    var left = Set(steps.indices)
    for place in order {
      let inFlight = left.flatMap { [Self.call($0), Self.start($0, steps[$0]) ?? .max] }
      left.remove(place)
      var builder = ResponseBuilder(call: call(place), horizon: inFlight.min())
      for film in steps[place].films { builder = builder.film(film.id, film.fields) }
      if let key = steps[place].deletion { builder = builder.deleting(key) }
      if let span = span(place, steps) { builder = builder.spanning(span) }
      _ = try await fixture.store.apply(builder.build())
    }
    _ = try await fixture.store.apply(ResponseBuilder(call: call(steps.count)).build())
    var settings = Configuration()
    settings.readonly = true
    let queue = try DatabaseQueue(path: fixture.folder.databasePath, configuration: settings)
    return try await queue.read { db in
      try Row.fetchAll(db, sql: "SELECT key, fields FROM entity_Film ORDER BY key").map { row in
        let fields = try (row["fields"] as String?).map { try JSONValue(parsing: $0).canonicalText }
        return "\(row["key"] as String): \(fields ?? "gone")"
      }
    }
  }

  private static func step(_ place: Int, _ generator: inout SeededGenerator) -> Step {
    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    var step = Step(startsBehind: pick(0...2) == 0 ? nil : pick(-1...place - 1))
    if step.startsBehind != nil, pick(0...3) == 0 {
      step.deletion = .film("1")
    } else {
      var fields: JSONValue = ["title": .string("t\(place)")]
      if pick(0...1) == 0 { fields["year"] = .number(JSONNumber(place)) }
      if pick(0...2) == 0 {
        fields["poster"] = ["__typename": "Poster", "url": .number(JSONNumber(pick(0...1)))]
      }
      step.films = [("1", fields)]
    }
    return step
  }

  // MARK: Which values stay

  private static func span(
    _ start: Int64, overtaken: Set<EntityKey> = [], isRepeated: Bool = false
  ) -> MutationSpan {
    MutationSpan(
      start: CallNumber(start), head: Revision(0), isRepeated: isRepeated, overtaken: overtaken,
      disputed: overtaken)
  }

  private static func isDue(_ fixture: StoreFixture) async throws -> Bool? {
    try await fixture.store.result(
      ResultKey(operation: "Films", variables: "{}", scope: .public),
      selection: .filmsWithDirectors, viewer: .anonymous)?.isDue
  }

  private static func listed(_ fixture: StoreFixture, call: Int64 = 1) async throws {
    _ = try await fixture.store.apply(
      ResponseBuilder(call: call).film("1", ["title": "old", "year": 1])
        .result("Films", root: ["films": [.reference(.film("1"))]]).build())
  }

  @Test("An overtaken response keeps later values and fills in the other fields")
  func anOvertakenResponseOnlyFillsMissingFields() async throws {
    let fixture = try StoreFixture()
    try await Self.listed(fixture)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4, horizon: 2).film("1", ["title": "later"]).spanning(Self.span(3))
        .build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 5, horizon: 2).film("1", ["title": "earlier", "year": 2])
        .spanning(Self.span(2, overtaken: [.film("1")])).build())
    let fields = try await fixture.fields(of: .film("1"))
    #expect(fields?["title"] == "later")
    #expect(fields?["year"] == 2)
    #expect(try await Self.isDue(fixture) == true)
  }

  @Test("An overtaken response does not restore a deleted entity")
  func anOvertakenResponseDoesNotRestoreADeletedEntity() async throws {
    let fixture = try StoreFixture()
    try await Self.listed(fixture)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4, horizon: 2).deleting(.film("1")).spanning(Self.span(3)).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 5, horizon: 2).film("1", ["title": "earlier"])
        .spanning(Self.span(2, overtaken: [.film("1")])).build())
    #expect(try await fixture.title(of: "1") == nil)
    #expect(try await Self.isDue(fixture) == true)
  }

  @Test("An overtaken deletion deletes nothing")
  func anOvertakenDeletionDeletesNothing() async throws {
    let fixture = try StoreFixture()
    try await Self.listed(fixture)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4, horizon: 2).film("1", ["title": "later"]).spanning(Self.span(3))
        .build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 5, horizon: 2).deleting(.film("1"))
        .spanning(Self.span(2, overtaken: [.film("1")])).build())
    #expect(try await fixture.fields(of: .film("1"))?["year"] == 1)
    #expect(try await Self.isDue(fixture) == true)
  }

  @Test("A repeated deletion deletes an entity that a query showed between its attempts")
  func repeatedDeletionsDelete() async throws {
    let fixture = try StoreFixture()
    try await Self.listed(fixture)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4).film("1", ["title": "still there"]).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 6, horizon: 5).deleting(.film("1"))
        .spanning(Self.span(3, isRepeated: true)).build())
    #expect(try await fixture.fields(of: .film("1")) == nil)
    // If the first attempt deleted it and it exists again, the next response shows it.
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 7).film("1", ["title": "again"]).build())
    #expect(try await fixture.title(of: "1") == "again")
  }

  /// A caller's own write must not vanish after a query; but the order of the two is unknown.
  @Test(
    "A mutation wins over an overlapping query with other values, and the entity is due",
    arguments: [true, false])
  func anOverlappingQueryWithOtherValuesMakesTheEntityDue(queryFirst: Bool) async throws {
    let fixture = try StoreFixture()
    try await Self.listed(fixture)
    let query = ResponseBuilder(call: 3, horizon: 2).film("1", ["title": "seen"])
      .result("Films", root: ["films": [.reference(.film("1"))]]).build()
    let mutation = ResponseBuilder(call: 4, horizon: 2).film("1", ["title": "written"])
      .spanning(
        MutationSpan(start: CallNumber(2), head: fixture.store.head)
      ).build()
    for response in queryFirst ? [query, mutation] : [mutation, query] {
      _ = try await fixture.store.apply(response)
    }
    #expect(try await fixture.title(of: "1") == "written")
    #expect(try await Self.isDue(fixture) == true)
  }

  @Test("An overlapping query with equal values leaves the entity fresh")
  func anOverlappingQueryWithEqualValuesLeavesItFresh() async throws {
    let fixture = try StoreFixture()
    try await Self.listed(fixture)
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 3, horizon: 2).film("1", ["title": "written", "year": 1])
        .result("Films", root: ["films": [.reference(.film("1"))]]).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 4, horizon: 2).film("1", ["title": "written"])
        .spanning(MutationSpan(start: CallNumber(2), head: Revision(0))).build())
    #expect(try await Self.isDue(fixture) == false)
  }

  /// Servers that recognise keys can repeat the first response.
  @Test("The response to a repeated request overwrites nothing that changed since the first one")
  func aRepeatedRequestOverwritesNoLaterChange() async throws {
    let fixture = try StoreFixture()
    try await Self.listed(fixture)
    let head = fixture.store.head
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 3).film("1", ["title": "later"]).build())
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 5).film("1", ["title": "first"])
        .spanning(MutationSpan(start: CallNumber(2), head: head, isRepeated: true)).build())
    #expect(try await fixture.title(of: "1") == "later")
    #expect(try await Self.isDue(fixture) == true)
  }

  /// The entity was looked up twice and absent while the mutation was under way: the response
  /// restores it, and the next absence deletes it for good.
  @Test("An entity that was absent during a mutation is deleted by the next absence")
  func anEntityAbsentDuringAMutationIsDeletedByTheNextAbsence() async throws {
    let fixture = try StoreFixture()
    try await Self.listed(fixture)
    for call: Int64 in [3, 4] {
      _ = try await fixture.store.apply(
        ResponseBuilder(call: call, horizon: 2).absent(.film("1")).build())
    }
    _ = try await fixture.store.apply(
      ResponseBuilder(call: 5).film("1", ["title": "written"])
        .spanning(MutationSpan(start: CallNumber(2), head: fixture.store.head)).build())
    #expect(try await fixture.title(of: "1") == "written")
    #expect(try await Self.isDue(fixture) == true)
    _ = try await fixture.store.apply(ResponseBuilder(call: 6).absent(.film("1")).build())
    #expect(try await fixture.title(of: "1") == nil)
  }
}
