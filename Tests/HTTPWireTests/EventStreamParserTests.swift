import HTTPWire
import TestSupport
import Testing

struct EventStreamParserTests {
  private typealias Event = EventStreamParser.Event

  private static func event(_ name: String = "", _ data: String?) -> Event {
    Event(name: name, data: Array((data ?? "").utf8), hasData: data != nil)
  }

  private static func parse(_ pieces: [[UInt8]]) throws -> [EventStreamParser.Event] {
    var parser = EventStreamParser(eventBytesMax: 1000)
    return try pieces.flatMap { try parser.parse($0) }
  }

  /// The examples of the standard, the frames of GraphQL servers, and the standard's corners.
  private static let streams: [(text: String, events: [Event])] = [
    ("data: YHOO\ndata: +2\ndata: 10\n\n", [event("", "YHOO\n+2\n10")]),
    (
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
      [event("", "first event"), event("", "second event"), event("", " third event")]
    ),
    ("data\n\ndata\ndata\n\ndata:", [event("", ""), event("", "\n")]),
    ("data:test\n\ndata: test\n\n", [event("", "test"), event("", "test")]),
    (
      "event: next\ndata: {\"data\":{\"a\":1}}\n\nevent: complete\ndata:\n\n",
      [event("next", "{\"data\":{\"a\":1}}"), event("complete", "")]
    ),
    ("event: complete\n\n", [event("complete", nil)]),
    (":\n\n:\n\n", []),
    ("\n\n\n", []),
    ("event: a\rdata: 1\r\rdata: 2\r\n\r\n", [event("a", "1"), event("", "2")]),
    ("\u{FEFF}data: bom\n\n", [event("", "bom")]),
    ("data: one\n\u{FEFF}data: two\n\n", [event("", "one")]),
    ("retry: 10\nfoo: bar\ndata: x:y\n\n", [event("", "x:y")]),
    ("event: a\nevent: b\ndata: 1\n\ndata: 2\n\n", [event("b", "1"), event("", "2")]),
    ("data: never ends\n", []),
    ("DATA: upper\ndata : blank\n\n", []),
  ]

  @Test("Streams are read as the standard says", arguments: streams.indices)
  func readsStreams(index: Int) throws {
    let (text, events) = Self.streams[index]
    #expect(try Self.parse([Array(text.utf8)]) == events)
  }

  @Test("The events do not depend on how the stream is split", arguments: 0..<200)
  func splitsDoNotMatter(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    for (text, events) in Self.streams {
      let bytes = Array(text.utf8)
      var pieces: [[UInt8]] = []
      var start = 0
      while start < bytes.count {
        let end = min(bytes.count, start + Int.random(in: 0...5, using: &generator))
        pieces.append(Array(bytes[start..<end]))
        start = end
      }
      #expect(try Self.parse(pieces) == events, "seed \(seed): \(text)")
    }
  }

  @Test("The last id is kept, an id with NUL is ignored")
  func keepsLastID() throws {
    var parser = EventStreamParser(eventBytesMax: 100)
    _ = try parser.parse(Array("id: 7\ndata: x\n\nid: a\0b\ndata: y\n\n".utf8))
    #expect(parser.lastEventID == Array("7".utf8))
  }

  @Test(
    "A line or event that is too long is refused, in one piece and octet by octet",
    arguments: [
      String(repeating: "x", count: 3000), "data: " + String(repeating: "x", count: 101) + "\n",
      String(repeating: "data: 0123456789\n", count: 12),
      "event: " + String(repeating: "x", count: 1100) + "\n",
    ])
  func refusesLongEvents(text: String) {
    for pieces in [[Array(text.utf8)], text.utf8.map { [$0] }] {
      var parser = EventStreamParser(eventBytesMax: 100)
      #expect(throws: EventStreamParser.Fault.tooLarge(bytesMax: 100)) {
        for piece in pieces { _ = try parser.parse(piece) }
      }
    }
  }
}
