import Testing
import Transport

@testable import HTTPServer

struct RateTableTests {
  /// Whether a caller's window is not over.
  private static func knows(_ table: RateTable, _ caller: UInt64, now: LoopInstant) -> Bool {
    var copy = table
    return copy.renew(caller, now: now)
  }

  private static func instant(_ seconds: Int) -> LoopInstant {
    LoopInstant(nanoseconds: UInt64(seconds + 1000) * 1_000_000_000)
  }

  @Test("A window begins with the first request and ends by the clock")
  func windowBeginsWithTheFirstRequest() {
    var table = RateTable(sets: 4, window: .seconds(10))
    #expect(table.count(7, now: Self.instant(0)).count == 1)
    #expect(table.count(7, now: Self.instant(9)) == .init(count: 2, start: Self.instant(0)))
    #expect(Self.knows(table, 7, now: Self.instant(9)))
    #expect(!Self.knows(table, 7, now: Self.instant(10)))
    #expect(table.count(7, now: Self.instant(10)) == .init(count: 1, start: Self.instant(10)))
    #expect(table.count(8, now: Self.instant(10)).count == 1)
  }

  /// The caller whose hash is 0 is a caller like any other.
  @Test("An empty place belongs to no caller")
  func emptyPlaceBelongsToNoCaller() {
    var table = RateTable(sets: 1, window: .seconds(10))
    #expect(!Self.knows(table, 0, now: Self.instant(0)))
    #expect(table.count(0, now: Self.instant(0)).count == 1)
    #expect(table.count(0, now: Self.instant(0)).count == 2)
  }

  @Test("A flood of callers evicts itself and not a limited caller")
  func floodEvictsItself() {
    var table = RateTable(sets: 1, window: .seconds(60))
    for _ in 0..<50 { _ = table.count(1, now: Self.instant(0)) }
    for caller in 2..<100_000 { _ = table.count(UInt64(caller), now: Self.instant(1)) }
    #expect(table.count(1, now: Self.instant(2)).count == 51)
  }

  @Test("Places with an expired window are reused first")
  func expiredPlacesAreReusedFirst() {
    var table = RateTable(sets: 1, window: .seconds(10))
    for _ in 0..<50 { _ = table.count(1, now: Self.instant(0)) }
    for caller in 2...RateTable.ways { _ = table.count(UInt64(caller), now: Self.instant(20)) }
    _ = table.count(99, now: Self.instant(20))
    for caller in 2...RateTable.ways {
      #expect(Self.knows(table, UInt64(caller), now: Self.instant(20)))
    }
  }
}
