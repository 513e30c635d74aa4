import Gateway
import Model
import TestSupport
import Testing

struct CursorCodecTests {
  let codec = CursorCodec(key: KeyRing(root: Array(0..<32)).key(for: .cursor))

  @Test(arguments: 0..<200 as Range<UInt64>)
  func readsBackWhatItWrote(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let keys = ["", "Film/9", "é→🎬", String(repeating: "k", count: 700)]
    let cursor = Cursor(
      segment: random.next(), revision: Revision(Int64(random.next() >> 1)),
      lastKey: keys[Int(random.next() % 4)], viewer: random.next(), filter: random.next(),
      schemaVersion: UInt32(truncatingIfNeeded: random.next()))
    #expect(codec.decode(codec.encode(cursor)) == cursor)
  }

  @Test func refusesEverySingleAlteredCharacter() {
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

  @Test func refusesAnotherKeysCursor() {
    let other = CursorCodec(key: KeyRing(root: Array(1..<33)).key(for: .cursor))
    let cursor = Cursor(segment: 7, revision: Revision(9), viewer: 3, schemaVersion: 1)
    #expect(other.decode(codec.encode(cursor)) == nil)
  }

  @Test func tellsViewersApart() {
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
