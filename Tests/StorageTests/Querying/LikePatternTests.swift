import GRDB
import TestSupport
import Testing

@testable import Storage

struct LikePatternTests {
  private static func matches(
    _ pattern: String, _ text: String, escape: String? = nil, looks: inout Int
  ) -> Bool? {
    let pattern = Array(pattern.utf8)
    let text = Array(text.utf8)
    let mark = escape.flatMap { Array($0.utf8).withUnsafeBufferPointer(LikePattern.onlyScalar) }
    return pattern.withUnsafeBufferPointer { pattern in
      text.withUnsafeBufferPointer { text in
        LikePattern(pattern, escape: mark).matches(text) {
          looks += 1
          return true
        }
      }
    }
  }

  @Test("LIKE matches what SQLite's LIKE matches", arguments: 0..<20 as Range<UInt64>)
  func agreesWithSQLite(seed: UInt64) throws {
    var chance = Chance(generator: SeededGenerator(seed: seed))
    let database = try DatabaseQueue()
    var matching = 0
    try database.read { database in
      for _ in 0..<300 {
        let isLong = chance.percent(20)
        let pattern = chance.text(["a", "B", "é", "É", "%", "%", "_", "\\", "𝄞"], isLong ? 150 : 6)
        let text = chance.text(["a", "A", "b", "é", "É", "%", "_", "\\", "𝄞"], isLong ? 150 : 8)
        let escape = chance.pick([nil, "\\", "%", "_", "é", "a"] as [String?]) ?? nil
        let expected = try Bool.fetchOne(
          database, sql: escape == nil ? "SELECT ? LIKE ?" : "SELECT ? LIKE ? ESCAPE ?",
          arguments: escape.map { [text, pattern, $0] } ?? [text, pattern])
        if expected == true { matching += 1 }
        var looks = 0
        #expect(
          Self.matches(pattern, text, escape: escape, looks: &looks) == expected,
          "\(text.debugDescription) LIKE \(pattern.debugDescription) \(escape ?? "")")
      }
    }
    #expect(matching > 10)
  }

  @Test("The number of steps is linear in the text, whatever the pattern")
  func looksAreLinear() {
    let text = String(repeating: "a", count: 400_000)
    for pattern in ["%a%a%a%a%b", "%" + String(repeating: "a", count: 900) + "b%"] {
      var looks = 0
      #expect(Self.matches(pattern, text, looks: &looks) == false)
      let words = (pattern.utf8.count + 63) / 64
      #expect(looks <= 400_000 * words / (16 * 1024) + 1)
      #expect(looks > 0)
    }
  }

  @Test("A match stops on request")
  func stops() {
    let text = Array(String(repeating: "a", count: 100_000).utf8)
    let pattern = Array("%a%b".utf8)
    var looks = 0
    let result = pattern.withUnsafeBufferPointer { pattern in
      text.withUnsafeBufferPointer { text in
        LikePattern(pattern).matches(text) {
          looks += 1
          return looks < 3
        }
      }
    }
    #expect(result == nil)
    #expect(looks == 3)
  }
}

private struct Chance: SeededChance {
  var generator: SeededGenerator

  mutating func text(_ letters: [String], _ length: Int) -> String {
    (0..<number(0...length)).map { _ in pick(letters) ?? "" }.joined()
  }
}
