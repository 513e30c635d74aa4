import LosslessJSON
import Model
import Storage
import TestSupport
import Testing

struct MutationCodecTests {
  /// Texts that an encoding could damage.
  private static let texts = [
    "", "m_1", "é→🎬", "e\u{301}", "\u{0}\u{1}\u{1F}", "\"\\/\n\r\t", "]}", "\u{FFFF}\u{10FFFF}",
    #"{"id":"1","n":1.0000000000000000001e400}"#, String(repeating: "x", count: 5_000),
  ]

  private struct Dice: SeededChance {
    var generator: SeededGenerator

    mutating func one<Element>(_ all: [Element]) -> Element { all[number(0...all.count - 1)] }

    mutating func text() -> String { one(texts) }

    mutating func key() -> EntityKey { EntityKey(type: text(), key: text()) }

    mutating func temporary() throws -> TemporaryID {
      try #require(TemporaryID("~01ARZ3NDEKTSV4RRFFQ69G5FA\(number(0...9))"))
    }
  }

  private static func mutation(_ dice: inout Dice) throws -> NewMutation {
    let rules: [UnknownOutcomeRule] = [.sendAgain, .park, .verify(operation: "FilmState")]
    var tokens: [Footprint.Token] = []
    for _ in 0..<dice.number(0...4) {
      tokens.append(
        dice.percent(50) ? .entity(dice.key()) : .temporary(try dice.temporary()))
    }
    let creates = try (0..<dice.number(0...2)).map { _ in
      TemporaryEntity(id: try dice.temporary(), type: dice.text())
    }
    let bytes = (0..<32).map { _ in UInt8(dice.number(0...255)) }
    let submission = Mutation.Submission(
      id: MutationID(dice.text()), key: dice.text(),
      fingerprint: try #require(PayloadFingerprint(bytes)), operation: dice.text(),
      upstream: dice.text(), mode: dice.one(MutationMode.allCases),
      effect: dice.one(MutationEffect.allCases),
      unknownRule: dice.one(rules), overtakesAll: dice.percent(50),
      object: dice.percent(50) ? dice.key() : nil,
      footprint: Footprint(tokens: tokens, creates: creates))
    let actions: [OverlayChange.Action] = [.create, .merge, .delete]
    let overlays = (0..<dice.number(0...3)).map { _ in
      OverlayChange(
        dice.one(actions), dice.key(),
        fields: Array(#"{"title":"\u00e9 \"a\"","n":1.50}"#.utf8))
    }
    let expiries: [Duration?] = [nil, .zero, .seconds(86_400), .nanoseconds(1), .milliseconds(-5)]
    return NewMutation(
      submission, expiresIn: dice.one(expiries),
      payload: MutationPayload(
        variables: dice.text(),
        scope: Scope(
          kind: dice.one(Scope.Kind.allCases), subject: dice.text(),
          partition: dice.text()),
        user: dice.percent(50) ? dice.text() : nil, partitions: dice.text(),
        sealedCredential: dice.percent(50) ? dice.text() : nil, overlays: overlays,
        trace: dice.percent(50) ? dice.text() : nil))
  }

  @Test("Encoded mutations decode to themselves, byte by byte", arguments: 0..<300 as Range<UInt64>)
  func roundTrips(seed: UInt64) throws {
    var dice = Dice(generator: SeededGenerator(seed: seed))
    let mutations = try (0..<dice.number(0...4)).map { _ in try Self.mutation(&dice) }
    let encoded = MutationCodec.encode(mutations)
    let decoded = try MutationCodec.decode(encoded)
    #expect(decoded == mutations, "seed \(seed)")
    // Equal strings can differ in their bytes.
    #expect(MutationCodec.encode(decoded) == encoded, "seed \(seed)")
  }

  @Test("A newer version is refused by its number")
  func refusesANewerVersion() {
    #expect(throws: MutationCodec.Fault.newerVersion(2)) {
      try MutationCodec.decode(Array(#"{"v":2,"mutations":[]}"#.utf8))
    }
  }

  @Test(
    "Bytes that no version writes are refused, not read in part",
    arguments: 0..<60 as Range<UInt64>)
  func refusesOtherBytes(seed: UInt64) throws {
    var dice = Dice(generator: SeededGenerator(seed: seed))
    let value = try JSONValue(checked: MutationCodec.encode([try Self.mutation(&dice)]))
    let item = try #require(value["mutations"]?[0]?.members)
    let optional: Set<String> = ["object", "expiresIn", "user", "credential", "trace"]
    for (index, member) in item.enumerated() where !optional.contains(member.name) {
      var cut = item
      cut.remove(at: index)
      let bytes = JSONValue.object([
        JSONMember("v", 1), JSONMember("mutations", .array([.object(cut)])),
      ]).bytes
      #expect(throws: MutationCodec.Fault.malformed, "seed \(seed): \(member.name)") {
        try MutationCodec.decode(bytes)
      }
    }
    for text in ["", "null", "[]", #"{"mutations":[]}"#, #"{"v":0,"mutations":[]}"#, #"{"v":1}"#] {
      #expect(throws: MutationCodec.Fault.malformed) { try MutationCodec.decode(Array(text.utf8)) }
    }
  }
}
