import Cryptography
import Gateway
import Model
import TestSupport
import Testing

struct CursorCodecTests {
  let codec = CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor))

  @Test("An encoded cursor decodes to itself", arguments: 0..<200 as Range<UInt64>)
  func roundTrips(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let keys = ["", "Film/9", "é→🎬", String(repeating: "k", count: 700)]
    let time = { (random: inout SeededGenerator) in
      Timestamp(milliseconds: Int64(bitPattern: random.next()))
    }
    let clocks: [FilterClock?] = [
      nil, FilterClock(time: time(&random)),
      FilterClock(
        time: time(&random),
        step: FilterClock.Step(
          end: time(&random),
          after: EntityKey(type: "Film", key: keys[Int(random.next() % 4)]))),
    ]
    let clock = clocks[Int(random.next() % 3)]
    let cursor = Cursor(
      segment: random.next(), revision: Revision(Int64(random.next() >> 1)),
      lastKey: keys[Int(random.next() % 4)], viewer: random.next(), filter: random.next(),
      schemaVersion: UInt32(truncatingIfNeeded: random.next()), clock: clock)
    #expect(codec.decode(codec.encode(cursor)) == cursor)
  }

  @Test("A cursor keeps the number of its reader's submission", arguments: [1, 2, Int64.max])
  func keepsTheEntry(entry: Int64) {
    let cursor = Cursor(
      segment: 7, revision: Revision(9), viewer: 3, schemaVersion: 1, entry: entry)
    #expect(codec.decode(codec.encode(cursor)) == cursor)
  }

  /// Issued by the versions before clusters; clients keep cursors for weeks.
  @Test("Cursors of a single node have the layout that they always had")
  func keepsTheLayout() throws {
    let plain = try #require(
      Base64URL.decode(
        codec.encode(Cursor(segment: 7, revision: Revision(9), viewer: 3, schemaVersion: 1))))
    #expect(plain[0] == 2)
    #expect(plain.count == 48 + 12)
    let timed = try #require(
      Base64URL.decode(
        codec.encode(
          Cursor(
            segment: 7, revision: Revision(9), viewer: 3, schemaVersion: 1,
            clock: FilterClock(time: Timestamp(milliseconds: 5))))))
    #expect(timed[0] == 3)
    #expect(timed.count == 48 + 9 + 12)
  }

  @Test("A cursor with any altered character is refused")
  func refusesAnyAlteredCharacter() {
    let text = codec.encode(
      Cursor(segment: 7, revision: Revision(9), lastKey: "Film/1", viewer: 3, schemaVersion: 1))
    for index in text.indices {
      var altered = text
      altered.replaceSubrange(index...index, with: text[index] == "A" ? "B" : "A")
      #expect(codec.decode(altered) == nil, "\(altered)")
    }
    #expect(codec.decode(String(text.dropLast())) == nil)
    #expect(codec.decode(text + "A") == nil)
    #expect(codec.decode("") == nil)
    #expect(codec.decode("not a cursor!") == nil)
  }

  /// Random strings, and cursors with a few bytes changed, removed or inserted.
  @Test("Forged and altered cursors are refused", arguments: 0..<20 as Range<UInt64>)
  func refusesForgedCursors(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let letters = Array("ABCXYZabcxyz0189-_=+/ é\0")
    let genuine = codec.encode(
      Cursor(
        segment: seed, revision: Revision(9), lastKey: "Film/1", viewer: 3, schemaVersion: 1))
    for _ in 0..<500 {
      let count = Int.random(in: 0...300, using: &random)
      let madeUp = String((0..<count).map { _ in letters.randomElement(using: &random) ?? "A" })
      #expect(codec.decode(madeUp) == nil, "seed \(seed): \(madeUp)")
      var altered = Array(genuine)
      for _ in 0...Int.random(in: 0...3, using: &random) {
        let place = Int.random(in: 0..<altered.count, using: &random)
        let removed = Int.random(in: 0...1, using: &random)
        let added = (0..<Int.random(in: 0...2, using: &random))
          .compactMap { _ in letters.randomElement(using: &random) }
        altered.replaceSubrange(place..<(place + removed), with: added)
      }
      guard String(altered) != genuine else { continue }
      #expect(codec.decode(String(altered)) == nil, "seed \(seed): \(String(altered))")
    }
  }

  @Test("A cursor made with another key is refused")
  func refusesAnotherKeysCursor() {
    let other = CursorCodec(key: KeyRing(root: Array(1..<33)).key(for: .cursor))
    let cursor = Cursor(segment: 7, revision: Revision(9), viewer: 3, schemaVersion: 1)
    #expect(other.decode(codec.encode(cursor)) == nil)
  }

  @Test("Different viewers have different digests")
  func distinguishesViewers() {
    let viewers = [
      Viewer.anonymous,
      Viewer(layers: [.user("a"), .public]),
      Viewer(layers: [.user("b"), .public]),
      Viewer(layers: [.device("a"), .public]),
      Viewer(layers: [.user("", partition: "a"), .public]),
    ]
    #expect(Set(viewers.map(codec.digest)).count == viewers.count)
  }
}
