import GRDB
import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

/// Every arrival order of a set of calls leads to the same store as ascending call order.
struct OrderTests {
  private enum Step {
    case response(ResponseBuilderInput)
    case invalidate(InvalidationTarget)
    case purge(InvalidationTarget, Scope?)
  }

  /// The content of a response, apart from its horizon.
  private struct ResponseBuilderInput {
    var scope = Scope.public
    var films: [(id: String, fields: JSONValue)] = []
    var result: JSONValue?
    var deletions: [EntityKey] = []
    var absences: [(key: EntityKey, isAuthoritative: Bool)] = []
    var invalidations: [InvalidationTarget] = []
    var marksPublicCopies = false
  }

  @Test(
    "Every arrival order of the same calls converges to the same store",
    arguments: 1...12 as ClosedRange<UInt64>)
  func everyArrivalOrderConverges(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let steps = (0..<4).map { _ in Self.step(&generator) }
    let expected = try await Self.arrive(steps, order: Array(steps.indices))
    var orders = Permutations.all(of: steps.count)
    orders.shuffle(using: &generator)
    for order in orders.prefix(6) {
      let found = try await Self.arrive(steps, order: order)
      #expect(found == expected, "seed \(seed), order \(order), steps \(steps)")
    }
  }

  // MARK: Running

  private static func arrive(_ steps: [Step], order: [Int]) async throws -> [String] {
    let fixture = try StoreFixture()
    var left = Set(1...Int64(steps.count))
    for index in order {
      let call = Int64(index + 1)
      let horizon = left.min() ?? call
      left.remove(call)
      try await run(steps[index], call: call, horizon: horizon, fixture.store)
    }
    // Everything has arrived; the horizon of the next response shows it.
    _ = try await fixture.store.apply(ResponseBuilder(call: Int64(steps.count) + 1).build())
    return try await contents(of: fixture)
  }

  private static func run(
    _ step: Step, call: Int64, horizon: Int64, _ store: Store
  ) async throws {
    switch step {
    case .invalidate(let target):
      _ = try await store.invalidate(
        [target], in: nil, call: CallNumber(call), horizon: CallNumber(horizon))
    case .purge(let target, let scope):
      _ = try await store.purge(
        [target], in: scope, call: CallNumber(call), horizon: CallNumber(horizon))
    case .response(let input):
      var builder = ResponseBuilder(call: call, horizon: horizon, scope: input.scope)
      for film in input.films { builder = builder.film(film.id, film.fields) }
      if let root = input.result { builder = builder.result("Films", root: root, tags: ["t"]) }
      for key in input.deletions { builder = builder.deleting(key) }
      for absence in input.absences {
        builder = builder.absent(absence.key, isAuthoritative: absence.isAuthoritative)
      }
      for target in input.invalidations { builder = builder.invalidating(target) }
      if input.marksPublicCopies { builder = builder.markingPublicCopies() }
      _ = try await store.apply(builder.build())
    }
  }

  /// Returns the visible state: entities and tombstones by scope, results with whether they are
  /// due.
  private static func contents(of fixture: StoreFixture) async throws -> [String] {
    var settings = Configuration()
    settings.readonly = true
    let queue = try DatabaseQueue(path: fixture.folder.databasePath, configuration: settings)
    var lines = try await queue.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT scope.kind, stored.key, stored.fields FROM entity_Film AS stored \
          JOIN scope ON scope.id = stored.scope ORDER BY 1, 2
          """
      ).map { row in
        let fields = try (row["fields"] as String?).map { try JSONValue(parsing: $0).canonicalText }
        return "\(row["kind"] as Int) \(row["key"] as String): \(fields ?? "gone")"
      }
    }
    for scope in [Scope.public, .user("u")] {
      let key = ResultKey(operation: "Films", variables: "{}", scope: scope)
      let viewer = Viewer(layers: scope == .public ? [.public] : [scope, .public])
      guard
        let snapshot = try await fixture.store.result(
          key, selection: .filmsWithDirectors, viewer: viewer)
      else { continue }
      let root = try JSONValue(parsing: snapshot.root).canonicalText
      lines.append("\(scope.kind): \(root) due \(snapshot.isDue) call \(snapshot.call.value)")
    }
    return lines
  }

  // MARK: Drawing

  private static func step(_ generator: inout SeededGenerator) -> Step {
    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    func id() -> String { ["1", "2"][pick(0...1)] }
    switch pick(0...11) {
    case 0:
      return .invalidate([.entity(.film(id())), .type("Film"), .operation("Films")][pick(0...2)])
    case 1, 2:
      let targets: [InvalidationTarget] = [
        .entity(.film(id())), .type("Film"), .operation("Films"), .tag("t"),
      ]
      return .purge(targets[pick(0...3)], pick(0...1) == 0 ? nil : .public)
    case 3:
      return .response(
        ResponseBuilderInput(absences: [(.film(id()), pick(0...2) == 0)]))
    case 4:
      return .response(
        ResponseBuilderInput(
          scope: .user("u"), films: [(id(), fields(&generator))], deletions: [.film(id())],
          invalidations: [.tag("t")], marksPublicCopies: true))
    case 5: return .response(ResponseBuilderInput(deletions: [.film(id())]))
    default:
      let films = (0...pick(0...1)).map { ("\($0 + 1)", fields(&generator)) }
      let root: JSONValue = [
        ["films", "top"][pick(0...1)]: .array(films.map { .reference(.film($0.0)) })
      ]
      return .response(
        ResponseBuilderInput(
          scope: pick(0...3) == 0 ? .user("u") : .public, films: films,
          result: pick(0...1) == 0 ? root : nil))
    }
  }

  private static func fields(_ generator: inout SeededGenerator) -> JSONValue {
    func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    var fields: JSONValue = [:]
    if pick(0...1) == 0 { fields["title"] = .string("t\(pick(0...2))") }
    if pick(0...1) == 0 { fields["year"] = .number(JSONNumber(pick(0...2))) }
    if pick(0...1) == 0 {
      fields["poster"] = [
        "__typename": "Poster", ["url", "size"][pick(0...1)]: .number(JSONNumber(pick(0...1))),
      ]
    }
    if pick(0...2) == 0 {
      fields["stills"] = .array(
        (0...pick(0...1)).map { _ in
          ["__typename": "Still", ["url", "alt"][pick(0...1)]: .number(JSONNumber(pick(0...1)))]
        })
    }
    return fields
  }
}
