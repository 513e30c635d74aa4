import Foundation
import LosslessJSON
import TestSupport
import Testing

struct RoundTripTests {
  @Test(
    "Text with extra white space and escapes has the same value",
    arguments: 1...200 as ClosedRange<UInt64>)
  func looseTextHasTheSameValue(seed: UInt64) throws {
    var random = RandomJSON(generator: SeededGenerator(seed: seed))
    let value = random.value()
    let loose = random.looseText(of: value)
    let document = try JSONDocument(text: loose)
    #expect(JSONValue(document.root) == value, "seed \(seed)")

    var writer = JSONWriter()
    writer.value(document.root)
    let again = try JSONDocument(writer.bytes)
    #expect(JSONValue(again.root) == value, "seed \(seed)")
    #expect(again.isCompact, "seed \(seed)")
    #expect(try JSONValue(parsing: value.text) == value, "seed \(seed)")
  }

  /// Foundation reads the same value. Its escapes, names and nesting are compared; numbers as doubles.
  @Test("Values agree with Foundation", arguments: 1...100 as ClosedRange<UInt64>)
  func agreesWithFoundation(seed: UInt64) throws {
    var random = RandomJSON(generator: SeededGenerator(seed: seed))
    let value = random.value()
    let loose = random.looseText(of: value)
    let theirs = try JSONSerialization.jsonObject(
      with: Data(loose.utf8), options: .fragmentsAllowed)
    let ours = JSONValue(try JSONDocument(text: loose).root)
    #expect(Self.matches(ours, theirs), "seed \(seed)")
  }

  /// Texts damaged by a byte: never a crash, and the same value where both readers accept.
  @Test("Damaged text never traps", arguments: 1...300 as ClosedRange<UInt64>)
  func survivesDamage(seed: UInt64) throws {
    var random = RandomJSON(generator: SeededGenerator(seed: seed))
    let value = random.value()
    var bytes = Array(random.looseText(of: value).utf8)
    let place = Int.random(in: 0..<bytes.count, using: &random.generator)
    bytes[place] = UInt8.random(in: 0...255, using: &random.generator)
    guard let document = try? JSONDocument(bytes) else { return }
    let ours = JSONValue(document.root)
    guard
      let theirs = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
    else {
      // The grammar allows a lone surrogate escape; Foundation does not.
      #expect(ours.text.contains("\u{FFFD}"), "seed \(seed)")
      return
    }
    #expect(Self.matches(ours, theirs), "seed \(seed)")
  }

  private static func matches(_ ours: JSONValue, _ theirs: Any) -> Bool {
    switch ours {
    case .null: return theirs is NSNull
    case .bool(let flag): return (theirs as? NSNumber)?.boolValue == flag
    case .number(let number):
      guard let value = number.double, let other = theirs as? NSNumber else { return false }
      return abs(value - other.doubleValue) <= abs(value) * 1e-12
    case .string(let string): return theirs as? String == string
    case .array(let elements):
      guard let others = theirs as? [Any], others.count == elements.count else { return false }
      return zip(elements, others).allSatisfy(matches)
    case .object(let members):
      guard let others = theirs as? [String: Any] else { return false }
      return members.allSatisfy { member in
        others[member.name].map { matches(member.value, $0) || members.hasRepeat } ?? false
      }
    }
  }
}

extension [JSONMember] {
  fileprivate var hasRepeat: Bool { Set(map(\.name)).count < count }
}
