import Gateway
import TestSupport

/// Diffs of lists as the product holds them: names and revisions as texts, mapped to numbers, compared.
enum ListDiffBenchmark {
  static func run() async throws {
    try await measure(
      "10,000 rows shuffled", from: rows(10_000), to: shuffled(rows(10_000)), goal: "≤ 8 ms")
    let old = rows(100_000)
    try await measure("100,000 rows, 20,000 changes", from: old, to: changed(old), goal: "≤ 120 ms")
  }

  private static func measure(
    _ name: String, from old: [ListVector.Row], to new: [ListVector.Row], goal: String
  ) async throws {
    let (before, after) = (ListVector(rows: old), ListVector(rows: new))
    var count = 0
    let times = try await Measuring([{ count = after.diff(from: before).count }])
    guard count > 0 else { throw BenchmarkFault(text: "the lists are the same") }
    ResultRow(
      name: "list diff: \(name)", measured: times.median(0).shown, held: "\(count) places named",
      result: "\((times.median(0).microseconds / 10).rounded() / 100) ms", goal: goal
    ).show()
  }

  private static func rows(_ count: Int) -> [ListVector.Row] {
    (0..<count).map { row($0) }
  }

  private static func row(_ number: Int, _ content: Int = 0) -> ListVector.Row {
    // As long as a revision is.
    let revision = "r\(content)-\(number)AAAAAAAAAAAAAAAA".prefix(16)
    return ListVector.Row(id: "Film/\(number)", revision: String(revision))
  }

  private static func shuffled(_ rows: [ListVector.Row]) -> [ListVector.Row] {
    var random = SeededGenerator(seed: 3)
    return rows.shuffled(using: &random)
  }

  /// A list with a fifth changed: deleted, inserted, moved and updated rows in equal numbers.
  private static func changed(_ rows: [ListVector.Row]) -> [ListVector.Row] {
    var random = SeededGenerator(seed: 5)
    let share = rows.count / 20
    var rows = rows
    for place in rows.indices.shuffled(using: &random).prefix(share) { rows[place] = row(place, 1) }
    for _ in 0..<share {
      let moved = rows.remove(at: Int(random.next() % UInt64(rows.count)))
      rows.insert(moved, at: Int(random.next() % UInt64(rows.count)))
    }
    for number in 0..<share {
      rows.remove(at: Int(random.next() % UInt64(rows.count)))
      rows.insert(row(1_000_000 + number), at: Int(random.next() % UInt64(rows.count)))
    }
    return rows
  }
}
