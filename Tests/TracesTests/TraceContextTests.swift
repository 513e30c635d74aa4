import TestSupport
import Testing

@testable import Traces

struct TraceContextTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let span = "b7ad6b7169203331"
  private static let valid = "00-\(trace)-\(span)-01"

  private static func read(_ parents: String..., states: [String] = []) -> TraceContext? {
    TraceContext(
      parents: parents.map { ArraySlice($0.utf8) }, states: states.map { ArraySlice($0.utf8) })
  }

  @Test("A valid traceparent is read and written")
  func readsAndWrites() throws {
    let context = try #require(Self.read(Self.valid))
    #expect("\(context.traceID)" == Self.trace)
    #expect("\(context.spanID)" == Self.span)
    #expect(context.isSampled)
    #expect(!context.isRandom)
    #expect(context.traceparent == Self.valid)
  }

  @Test(
    "Flags that the specification does not define are dropped",
    arguments: [
      ("00", "00"), ("01", "01"), ("02", "02"), ("03", "03"), ("ff", "03"), ("fe", "02"),
      ("08", "00"),
    ])
  func keepsKnownFlags(sent: String, kept: String) throws {
    let context = try #require(Self.read("00-\(Self.trace)-\(Self.span)-\(sent)"))
    #expect(context.traceparent.hasSuffix("-\(kept)"))
  }

  @Test(
    "A malformed traceparent begins a new trace",
    arguments: [
      "", "-", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1",
      // All zero.
      "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
      // Version ff, and one that is no number.
      "ff-\(trace)-\(span)-01", "0x-\(trace)-\(span)-01", "-1-\(trace)-\(span)-01",
      // Upper case, and other letters.
      "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01",
      "00-\(trace)-\(span)-0A", "00-0af7651916cd43dd8448eb211c80319g-\(span)-01",
      "00-\(trace)-b7ad6b716920333é-01",
      // Other separators and lengths.
      "00_\(trace)-\(span)-01", "00-\(trace)_\(span)-01", "00-\(trace)-\(span)_01",
      "00-\(trace)0-\(span)-01", "00-\(trace)-\(span)0-01", " \(valid)", "\(valid) ",
      // Version 00 ends after its flags.
      "\(valid)-", "\(valid)-00", "\(valid)0", "\(valid),\(valid)",
      // Another part must begin with a hyphen.
      "01-\(trace)-\(span)-01x", "cc-\(trace)-\(span)-01.what",
      "cc-\(trace)-\(span)-01-" + String(repeating: "a", count: 300),
    ])
  func refusesMalformed(text: String) {
    #expect(Self.read(text) == nil)
    #expect(TraceContext(traceparent: text) == nil)
  }

  @Test("Later versions are read as far as version 00 goes", arguments: ["", "-", "-what=ever"])
  func readsLaterVersions(rest: String) throws {
    let context = try #require(Self.read("cc-\(Self.trace)-\(Self.span)-01\(rest)"))
    #expect(context.traceparent == Self.valid)
  }

  @Test("Several traceparent fields begin a new trace, even if they are equal")
  func refusesSeveral() {
    #expect(Self.read() == nil)
    #expect(Self.read(Self.valid, Self.valid) == nil)
  }

  @Test("A malformed tracestate is dropped, and the trace goes on")
  func dropsMalformedState() throws {
    let context = try #require(Self.read(Self.valid, states: ["a=1", "a=2"]))
    #expect(context.state.isEmpty)
    #expect(context.traceparent == Self.valid)
    #expect(Self.read(Self.valid, states: ["a=1", "b=2"])?.state == "a=1,b=2")
  }

  @Test("Random contexts survive writing and reading", arguments: 0..<20)
  func survivesWriting(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let context = TraceContext(
        traceID: TraceID { generator.next() }, spanID: SpanID { generator.next() },
        isSampled: generator.next() & 1 == 0, isRandom: generator.next() & 1 == 0)
      let text = context.traceparent
      #expect(text.utf8.count == 55)
      #expect(Self.read(text) == context, "\(text)")
      #expect(TraceContext(traceparent: text) == context, "\(text)")
    }
  }

  /// What W3C Trace Context says about version 00, as a regular expression.
  private static let grammar = "00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"

  @Test("A traceparent with random changes is read only if it fits the grammar", arguments: 0..<20)
  func readsWhatFits(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let grammar = try Regex(Self.grammar)
    let digits = Array("0123456789abcdefABg-".utf8)
    for _ in 0..<500 {
      var bytes = Array(Self.valid.utf8)
      for _ in 0...Int.random(in: 0..<3, using: &generator) {
        let place = Int.random(in: 3..<bytes.count, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(UInt8.random(in: 0x20...0x7E, using: &generator), at: place)
        case 2: bytes[place] = digits.randomElement(using: &generator) ?? 0
        default: bytes.swapAt(place, Int.random(in: 3..<bytes.count, using: &generator))
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let context = Self.read(text)
      #expect((context != nil) == (try grammar.wholeMatch(in: text) != nil), "\(text)")
      if let context { #expect(context.traceparent.prefix(52) == text.prefix(52)) }
    }
  }
}

struct TraceStateTests {
  private static func joined(_ fields: String...) -> String? {
    TraceState.joined(fields.map { ArraySlice($0.utf8) })
  }

  @Test(
    "A valid list is passed on without its white space",
    arguments: [
      ("", ""), (",,", ""), (" \t", ""), ("a=1", "a=1"), (" a=1 , b=2\t", "a=1,b=2"),
      ("rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
      ("fw529a3039@dt=FfxxE;1", "fw529a3039@dt=FfxxE;1"), ("1a=x", "1a=x"),
      ("a_-*/z=!~ x", "a_-*/z=!~ x"),
    ])
  func joinsValid(field: String, expected: String) {
    #expect(Self.joined(field) == expected)
  }

  @Test("Members of several fields are one list")
  func joinsFields() {
    #expect(Self.joined("a=1,b=2", "", "c=3") == "a=1,b=2,c=3")
    #expect(Self.joined() == "")
  }

  @Test(
    "A malformed list is dropped",
    arguments: [
      "a", "=1", "a=", "A=1", "a b=1", "a=1=2", "a=é", "a=\u{7f}", "a=1,a=2", "a=1,b=2,a=1", "é=1",
      "_a=1", String(repeating: "k", count: 257) + "=1", "a=" + String(repeating: "v", count: 257),
      "a=1,b=" + String(repeating: "v", count: 255) + ",c=" + String(repeating: "v", count: 255),
      (0..<33).map { "k\($0)=1" }.joined(separator: ","),
    ])
  func refusesMalformed(field: String) {
    #expect(Self.joined(field) == nil)
  }

  @Test("32 members and 512 bytes are the most")
  func hasLimits() {
    let most = (0..<32).map { "k\($0)=1" }.joined(separator: ",")
    #expect(Self.joined(most) == most)
    #expect(Self.joined(most, "more=1") == nil)
    let long = "a=" + String(repeating: "v", count: 252)
    let rest = "b=" + String(repeating: "v", count: 255)
    #expect("\(long),\(rest)".utf8.count == TraceState.bytesMax)
    #expect(Self.joined(long, rest) == "\(long),\(rest)")
    #expect(Self.joined("\(long)v", rest) == nil)
  }
}
