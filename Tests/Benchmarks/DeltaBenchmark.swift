import Model
import Storage

/// A read of the 100 changes since a log position, with 10,000 and with 1,000,000 stored entities.
enum DeltaBenchmark {
  private static let changes = 100
  private static let reads = 50

  static func run() async throws {
    let (small, smallBase) = try await fill(entities: 10_000)
    defer { small.end() }
    let (large, largeBase) = try await fill(entities: 1_000_000)
    defer { large.end() }
    let times = try await Measuring([
      { try await read(small, since: smallBase) }, { try await read(large, since: largeBase) },
    ])
    ResultRow(
      name: "delta: \(reads) reads of \(changes) changes among 1,000,000",
      measured: times.median(1).shown, held: "among 10,000: \(times.median(0).shown)",
      result: times.ratio(1, to: 0), goal: "≤ 1.2"
    ).show()
  }

  private static func read(_ filled: FilledStore, since base: Revision) async throws {
    for _ in 0..<reads {
      let page = try await filled.store.changes(
        ChangeQuery(
          viewer: .anonymous, position: LogPosition(revision: base),
          origin: .delta(base: base), limit: changes))
      precondition(page?.entries.count == changes)
    }
  }

  /// Changes spread over all stored entities, each with its own content.
  private static func fill(entities: Int) async throws -> (FilledStore, before: Revision) {
    var filled = try await FilledStore.films(entities)
    let before = filled.store.head
    for number in 0..<changes {
      try await filled.apply { call in
        FilmPages.answer(
          count: 1, call: call, operation: "One", from: number * (entities / changes),
          seed: UInt64(call) + 1_000)
      }
    }
    return (filled, before)
  }
}
