import Model
import Testing

@testable import Composition

struct RandomNameTests {
  @Test("Names sort by creation time")
  func namesSortByTime() {
    let moments: [Int64] = [0, 1, 255, 1 << 20, 1_795_000_000_000, 1_795_000_000_001, 1 << 47]
    let names = moments.map { RandomName.make(at: Timestamp(milliseconds: $0)) }
    #expect(names == names.sorted())
    #expect(names[4].hasPrefix("01a1ee565e00"))
  }

  @Test("Names are hexadecimal and unique")
  func namesAreUnique() {
    let now = Timestamp(milliseconds: 1_795_000_000_000)
    let names = Set((0..<1_000).flatMap { _ in [RandomName.make(), RandomName.make(at: now)] })
    #expect(names.count == 2_000)
    #expect(names.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
  }
}
