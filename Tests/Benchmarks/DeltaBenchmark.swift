import FoundationEssentials
import Model
import Storage

/// Reading the 100 changes since a place in the log with 10,000 and with 1,000,000 entities stored.
enum DeltaBenchmark {
  private static let changes = 100
  private static let reads = 50
  private static let bulkMax = 10_000

  private struct Filled {
    let store: Store
    let folder: String
    let before: Revision

    func end() {
      store.close()
      try? FileManager.default.removeItem(atPath: folder)
    }
  }

  static func run() async throws {
    let small = try await fill(entities: 10_000)
    defer { small.end() }
    let large = try await fill(entities: 1_000_000)
    defer { large.end() }
    let times = try await Measuring([{ try await read(small) }, { try await read(large) }])
    ResultRow(
      name: "delta: \(reads) reads of \(changes) changes among 1,000,000",
      measured: times.median(1).shown, held: "among 10,000: \(times.median(0).shown)",
      result: times.ratio(1, to: 0), goal: "≤ 1.2"
    ).show()
  }

  private static func read(_ filled: Filled) async throws {
    for _ in 0..<reads {
      let page = try await filled.store.changes(
        ChangeQuery(
          viewer: .anonymous, position: LogPosition(revision: filled.before),
          origin: .delta(base: filled.before), limit: changes))
      precondition(page?.entries.count == changes)
    }
  }

  private static func fill(entities: Int) async throws -> Filled {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-bench-delta-\(entities)-\(UInt32.random(in: 0...(.max)))"
    ).path
    let store = try Store.open(
      StoreConfiguration(folder: folder, segment: 1, opened: Timestamp(milliseconds: 0)),
      types: [FilmPages.type])
    var call: Int64 = 0
    for first in stride(from: 0, to: entities, by: bulkMax) {
      call += 1
      _ = try await store.apply(
        FilmPages.answer(
          count: min(bulkMax, entities - first), call: call, operation: "Bulk", from: first))
    }
    let before = store.head
    for number in 0..<changes {
      call += 1
      // Spread over all that is stored, with contents of their own.
      _ = try await store.apply(
        FilmPages.answer(
          count: 1, call: call, operation: "One", from: number * (entities / changes),
          seed: UInt64(call) + 1_000))
    }
    return Filled(store: store, folder: folder, before: before)
  }
}
