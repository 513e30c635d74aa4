import Model
import Testing

@Suite
struct ExpiringValuesTests {
  private let start = Timestamp(milliseconds: 1_000_000)

  private func later(_ seconds: Double) -> Timestamp { start.advanced(by: .seconds(seconds)) }

  @Test("A value lasts until its expiry")
  func valueLastsUntilExpiry() {
    var values = ExpiringValues<String, Int>(bytesMax: 1 << 20)
    values.insert(1, for: "a", until: later(10), bytes: 0, at: start)
    #expect(values["a", at: start] == 1)
    #expect(values["a", at: later(9.9)] == 1)
    #expect(values["a", at: later(10)] == nil)
    #expect(values["b", at: start] == nil)
  }

  @Test("A clock set back expires a value")
  func clockSetBackExpires() {
    var values = ExpiringValues<String, Int>(bytesMax: 1 << 20)
    values.insert(1, for: "a", until: later(10), bytes: 0, at: start)
    #expect(values["a", at: later(-1)] == nil)
  }

  @Test("A later value replaces the first")
  func laterValueReplaces() {
    var values = ExpiringValues<String, Int>(bytesMax: 1 << 20)
    values.insert(1, for: "a", until: later(10), bytes: 0, at: start)
    values.insert(2, for: "a", until: later(20), bytes: 0, at: later(1))
    #expect(values["a", at: later(15)] == 2)
    #expect(values.count == 1)
    values.remove("a")
    #expect(values["a", at: later(2)] == nil)
  }

  @Test("Expired values are dropped even if there is room")
  func dropsExpiredValues() {
    var values = ExpiringValues<Int, Int>(bytesMax: 64 << 20)
    var most = 0
    for number in 0..<100_000 {
      let now = later(Double(number) / 1000)
      values.insert(number, for: number, until: now.advanced(by: .seconds(1)), bytes: 0, at: now)
      most = max(most, values.count)
    }
    // A thousand hold at a time; as many again wait to be dropped.
    #expect(most < 3000)
  }

  @Test("Live values are limited in bytes")
  func limitsBytes() {
    var values = ExpiringValues<Int, Int>(bytesMax: 100_000)
    var most = 0
    for number in 0..<10_000 {
      values.insert(number, for: number, until: later(1000), bytes: 840, at: start)
      #expect(values[number, at: start] == number)
      most = max(most, values.count)
    }
    #expect((50...100).contains(most))
  }

  @Test("A value larger than the limit is not kept")
  func refusesOversizedValues() {
    var values = ExpiringValues<Int, Int>(bytesMax: 100_000)
    values.insert(1, for: 1, until: later(10), bytes: 200_000, at: start)
    #expect(values[1, at: start] == nil)
    #expect(values.count == 0)
  }

  @Test("Removing a value twice frees its bytes once")
  func freesBytesOnce() {
    var values = ExpiringValues<Int, Int>(bytesMax: 100_000)
    for number in 0..<1000 {
      values.insert(number, for: 1, until: later(10), bytes: 60_000, at: start)
      values.remove(1)
      values.remove(1)
    }
    values.insert(1, for: 1, until: later(10), bytes: 40_000, at: start)
    values.insert(2, for: 2, until: later(10), bytes: 40_000, at: start)
    #expect(values.count == 2)
  }
}
