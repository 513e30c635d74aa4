import LosslessJSON
import Testing

/// Floors far below what the reader reaches, so that only a lost order of magnitude fails them.
///
/// Debug builds are a hundred times slower and only check the result.
@Suite(.serialized) struct SpeedTests {
  static var isOptimised: Bool {
    var debug = false
    assert({ debug = true }() == ())
    return !debug
  }

  static let page: [UInt8] = {
    let people: [JSONValue] = (0..<2600).map { number in
      [
        "__typename": "Film", "id": .number(JSONNumber(number)),
        "title": .string("Film ‹\(number)›"),
        "year": .number(JSONNumber(1900 + number % 120)), "rating": 7.25, "seen": false,
        "overview": .string(String(repeating: "A long and plain description. ", count: 8)),
        "director": [
          "__typename": "Person", "id": .string("p\(number % 97)"), "name": "Agnès Varda",
        ],
        "genres": ["drama", "documentary", nil],
      ]
    }
    return JSONValue.array(people).bytes
  }()

  @Test func readsPages() throws {
    let megabytes = try Self.rate(of: Self.page.count) {
      let count = try JSONDocument(Self.page).root.count
      #expect(count == 2600)
    }
    print("read \(Int(megabytes)) MB/s")
    if Self.isOptimised { #expect(megabytes > 200) }
  }

  @Test func writesRawMembers() throws {
    let document = try JSONDocument(Self.page)
    var writer = JSONWriter()
    writer.reserve(Self.page.count)
    let megabytes = Self.rate(of: Self.page.count) {
      writer.removeAll()
      writer.beginArray()
      for film in document.root.elements {
        writer.beginObject()
        for member in film.members {
          writer.name(member.nameNode)
          writer.raw(member.value)
        }
        writer.endObject()
      }
      writer.endArray()
    }
    #expect(writer.bytes == Self.page)
    print("write members \(Int(megabytes)) MB/s")
    if Self.isOptimised { #expect(megabytes > 100) }
  }

  @Test func writesRawEntities() throws {
    let document = try JSONDocument(Self.page)
    var writer = JSONWriter()
    writer.reserve(Self.page.count)
    let megabytes = Self.rate(of: Self.page.count) {
      writer.removeAll()
      writer.beginArray()
      for film in document.root.elements { writer.raw(film) }
      writer.endArray()
    }
    #expect(writer.bytes == Self.page)
    print("write entities \(Int(megabytes)) MB/s")
    if Self.isOptimised { #expect(megabytes > 400) }
  }

  private static func rate(of bytes: Int, _ body: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    var best = Duration.seconds(1000)
    for _ in 0..<(isOptimised ? 60 : 1) { best = min(best, try clock.measure(body)) }
    return Double(bytes) / (best / .seconds(1)) / 1e6
  }
}
