import Testing

@testable import Standby

struct ObjectSealTests {
  @Test(
    "Content of every size comes back", arguments: [0, 1, 127, 128, 5_000, 65_536, 65_537, 300_000])
  func roundTrip(count: Int) throws {
    let seal = StandbyFixture.seal
    let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) }
    let sealed = try seal.seal(content, as: "log/1")
    #expect(try seal.open(sealed, as: "log/1") == content)
    if count >= 5_000 { #expect(sealed.count < content.count / 2) }
    let noise = (0..<count).map { _ in UInt8.random(in: 0...255) }
    #expect(try seal.open(try seal.seal(noise, as: "a"), as: "a") == noise)
  }

  @Test("What was altered, cut off, renamed or sealed with another secret is refused")
  func refuses() throws {
    let seal = StandbyFixture.seal
    let sealed = try seal.seal(Array(repeating: 7, count: 100), as: "log/1")
    for place in [0, 9, 40, sealed.count - 1] {
      var altered = sealed
      altered[place] ^= 1
      #expect(throws: StandbyError.self) { try seal.open(altered, as: "log/1") }
    }
    for length in [0, 8, 31, 47, sealed.count - 1] {
      #expect(throws: StandbyError.self) {
        try seal.open(Array(sealed.prefix(length)), as: "log/1")
      }
    }
    #expect(throws: StandbyError.self) { try seal.open(sealed, as: "log/2") }
    let other = ObjectSeal(secret: Array("another secret of thirty-two octets".utf8))
    #expect(throws: StandbyError.self) { try other.open(sealed, as: "log/1") }
    #expect(throws: StandbyError.self) { try seal.open([1, 2, 3], as: "log/1") }
  }

  @Test("Objects of a newer format are named as such")
  func newerFormat() {
    var writer = ObjectWriter()
    writer.number(99)
    #expect(throws: StandbyError.self) { try LogSegment(writer.bytes) }
    #expect(throws: StandbyError.self) { try StandbyLease(writer.bytes) }
    #expect(throws: StandbyError.self) { try SnapshotIndex(writer.bytes) }
  }
}
