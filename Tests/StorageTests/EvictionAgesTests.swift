import TestSupport
import Testing

@testable import Storage

struct EvictionAgesTests {
  private static let hour = Duration.seconds(3600)

  @Test("Age classes grow with the age")
  func classesGrowWithAge() {
    var last = EvictionAges.ageClass(of: .zero)
    #expect(EvictionAges.ageClass(of: .seconds(-5)) == last)
    for seconds in 1...100_000 {
      let next = EvictionAges.ageClass(of: .seconds(seconds))
      #expect(next == last || next == last + 1, "at \(seconds) s")
      last = next
    }
    _ = EvictionAges.ageClass(of: .seconds(Int64.max))
  }

  /// Rows of 10 bytes by age in hours, the bytes to free, and the ages that are evicted.
  @Test(arguments: [
    (ages: [1, 5, 30, 200], goal: 0, gone: []),
    (ages: [1, 5, 30, 200], goal: 1, gone: [200]),
    (ages: [1, 5, 30, 200], goal: 10, gone: [200]),
    (ages: [1, 5, 30, 200], goal: 11, gone: [30, 200]),
    (ages: [200, 1, 30, 5], goal: 25, gone: [5, 30, 200]),
    (ages: [1, 5], goal: 1000, gone: [1, 5]),
    (ages: [], goal: 10, gone: []),
    (ages: [7, 7, 7, 7, 100], goal: 25, gone: [7, 7, 100]),
  ])
  func theOldestGoAndNoMoreThanNeeded(ages: [Int], goal: Int, gone: [Int]) {
    var histogram = EvictionAges()
    for age in ages { histogram.add(age: Self.hour * age, bytes: 10) }
    var cut = histogram.cut(freeing: goal)
    var found: [Int] = []
    for age in ages where cut.takes(age: Self.hour * age) {
      cut.note(age: Self.hour * age, bytes: 10)
      found.append(age)
    }
    #expect(found.sorted() == gone)
  }

  @Test(
    "A cut frees enough from the oldest rows",
    arguments: 1...50 as ClosedRange<UInt64>)
  func cutFreesEnough(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let rows = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
      let seconds = Int.random(
        in: 0...(1 << Int.random(in: 0...26, using: &generator)), using: &generator)
      return (age: Duration.seconds(seconds), bytes: Int.random(in: 1...500, using: &generator))
    }
    let total = rows.reduce(0) { $0 + $1.bytes }
    let goal = Int.random(in: 0...(total + 100), using: &generator)
    var histogram = EvictionAges()
    for row in rows { histogram.add(age: row.age, bytes: row.bytes) }
    var cut = histogram.cut(freeing: goal)
    var freed = 0
    var youngestGone = Int.max
    var oldestKept = 0
    for row in rows {
      let ageClass = EvictionAges.ageClass(of: row.age)
      if cut.takes(age: row.age) {
        cut.note(age: row.age, bytes: row.bytes)
        freed += row.bytes
        youngestGone = min(youngestGone, ageClass)
      } else {
        oldestKept = max(oldestKept, ageClass)
      }
    }
    #expect(freed >= min(goal, total), "seed \(seed)")
    #expect(freed < goal + 500, "seed \(seed)")
    #expect(oldestKept <= youngestGone, "seed \(seed)")
  }
}
