import Filtering
import Model
import Testing

@testable import Gateway

struct PageTokenCodecTests {
  private let codec = PageTokenCodec(key: KeyRing(root: Array(0..<32)).key(for: .page))

  @Test(
    "An encoded page token decodes to itself",
    arguments: [
      [], [FilterValue.null], [.integer(-1), .text("a,\u{0}b"), .real(0.1)],
      [.integer(.max), .real(-.infinity), .null, .text("")],
    ])
  func roundTrips(values: [FilterValue]) throws {
    let position = EntityPosition(values: values, key: "2:de4:1990")
    let token = codec.encode(position, question: "q")
    #expect(try codec.decode(token, question: "q") == position)
  }

  @Test("An altered or foreign token is refused")
  func refusesAlteredOrForeignToken() throws {
    let token = codec.encode(EntityPosition(values: [.integer(1)], key: "k"), question: "q")
    #expect(throws: PageTokenCodec.Fault.otherQuestion) {
      try codec.decode(token, question: "other")
    }
    for index in token.indices {
      var altered = token
      let character: Character = altered[index] == "A" ? "B" : "A"
      altered.replaceSubrange(index...index, with: [character])
      #expect(throws: PageTokenCodec.Fault.malformed) {
        try codec.decode(altered, question: "q")
      }
    }
    let other = PageTokenCodec(key: KeyRing(root: Array(1..<33)).key(for: .page))
    #expect(throws: PageTokenCodec.Fault.malformed) { try other.decode(token, question: "q") }
  }
}
