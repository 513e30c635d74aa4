import Model
import Storage

/// A read of results with 20 entities, with 1,000 and with 1,000,000 stored entities; the results are spread
/// over all that is stored.
enum ScaleBenchmark {
  private static let pages = 50
  private static let pageSize = 20
  private static let reads = 500

  static func run() async throws {
    let small = try await fill(entities: 1_000)
    defer { small.end() }
    let large = try await fill(entities: 1_000_000)
    defer { large.end() }
    let times = try await Measuring([{ try await read(small) }, { try await read(large) }])
    ResultRow(
      name: "scale: \(reads) reads of \(pageSize) entities among 1,000,000",
      measured: times.median(1).shown, held: "among 1,000: \(times.median(0).shown)",
      result: times.ratio(1, to: 0), goal: "≤ 1.3"
    ).show()
  }

  private static func read(_ filled: FilledStore) async throws {
    let selection = FilmPages.selection
    for number in 0..<reads {
      let first = number % pages * (filled.count / pages)
      let key = ResultKey(
        operation: "Films", variables: "{\"from\":\(first)}", scope: .public)
      let snapshot = try await filled.store.result(
        key, selection: selection, viewer: .anonymous)
      precondition(snapshot?.entities.count == pageSize)
    }
  }

  private static func fill(entities: Int) async throws -> FilledStore {
    var filled = try await FilledStore.films(entities)
    for page in 0..<pages {
      try await filled.apply { call in
        FilmPages.answer(count: pageSize, call: call, from: page * (entities / pages))
      }
    }
    return filled
  }
}
