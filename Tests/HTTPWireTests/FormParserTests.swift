import HTTPWire
import TestSupport
import Testing

struct FormParserTests {
  private static let boundary = "AaB03x"

  private static func parse(
    _ text: String, pieces: [Int] = []
  ) throws -> [FormEvent] {
    var parser = FormParser(
      try #require(FormBoundary(contentType: "multipart/form-data; boundary=\(boundary)")))
    var events: [FormEvent] = []
    var rest = Array(text.utf8)[...]
    for count in pieces + [rest.count] {
      parser.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
      while let event = try parser.next() { events.append(event) }
    }
    try parser.finish()
    return joined(events)
  }

  /// Stretches of one part's content as one.
  private static func joined(_ events: [FormEvent]) -> [FormEvent] {
    var joined: [FormEvent] = []
    for event in events {
      if case .content(let more) = event, case .content(let before) = joined.last {
        joined[joined.count - 1] = .content(before + more)
      } else {
        joined.append(event)
      }
    }
    return joined
  }

  private static let form = """
    --AaB03x\r
    Content-Disposition: form-data; name="key"\r
    \r
    a/${filename}\r
    --AaB03x\r
    content-disposition: form-data; name=empty\r
    \r
    \r
    --AaB03x\r
    Content-Disposition: form-data; name="file"; filename="a %22b\\".txt"\r
    Content-Type: text/plain\r
    \r
    one\r
    --AaB03y\r
    \r
    --AaB03x--\r

    """

  private static let events: [FormEvent] = [
    .part(FormPart(name: "key")), .content(Array("a/${filename}".utf8)), .partEnd,
    .part(FormPart(name: "empty")), .partEnd,
    .part(FormPart(name: "file", filename: "a \"b\".txt", contentType: "text/plain")),
    .content(Array("one\r\n--AaB03y\r\n".utf8)), .partEnd, .end,
  ]

  @Test("A form reads the same however it is cut")
  func readsFormsInAnyPieces() throws {
    #expect(try Self.parse(Self.form) == Self.events)
    let count = Self.form.utf8.count
    for cut in 1..<count { #expect(try Self.parse(Self.form, pieces: [cut]) == Self.events) }
    #expect(
      try Self.parse(Self.form, pieces: [Int](repeating: 1, count: count)) == Self.events)
  }

  @Test("Content of any bytes comes back whole", arguments: [UInt64(3)])
  func keepsContent(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    // Of what boundaries are made of, so that much looks like one.
    let alphabet = Array("\r\n--AaB03x".utf8)
    for _ in 0..<200 {
      let content = (0..<Int.random(in: 0...60, using: &random)).map { _ in
        alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
      }
      let text = String(decoding: content, as: UTF8.self)
      guard !"\r\n\(text)\r\n".contains("\r\n--AaB03x") else { continue }
      let form =
        "--AaB03x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n\(text)\r\n--AaB03x--"
      let pieces = (0..<20).map { _ in Int.random(in: 0...9, using: &random) }
      let events = try Self.parse(form, pieces: pieces)
      let expected: [FormEvent] = content.isEmpty ? [] : [.content(content)]
      #expect(events == [.part(FormPart(name: "f"))] + expected + [.partEnd, .end])
    }
  }

  @Test(
    "What is no form is refused",
    arguments: [
      ("", FormFault.incomplete), ("preamble\r\n--AaB03x--", .boundary),
      ("--AaB03x", .incomplete), ("--AaB03xx\r\n", .boundary),
      ("--AaB03x\nContent-Disposition: form-data; name=a\n\n", .boundary),
      ("--AaB03x\r\nContent-Type: text/plain\r\n\r\nx\r\n--AaB03x--", .head),
      ("--AaB03x\r\nContent-Disposition: form-data\r\n\r\nx\r\n--AaB03x--", .head),
      ("--AaB03x\r\nContent-Disposition: file; name=a\r\n\r\nx\r\n--AaB03x--", .head),
      ("--AaB03x\r\nContent-Disposition: form-data; name=\"a\r\n\r\nx\r\n--AaB03x--", .head),
      (
        "--AaB03x\r\nContent-Disposition: form-data; name=a; name=b\r\n\r\nx\r\n--AaB03x--",
        .head
      ),
      ("--AaB03x\r\nContent-Disposition: form-data; name=a\r\n\r\nx", .incomplete),
      ("--AaB03x\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--AaB03x", .incomplete),
      ("--AaB03x\r\nX: \(String(repeating: "a", count: 9000))", .head),
    ])
  func refusesWhatIsNoForm(text: String, fault: FormFault) {
    #expect(throws: fault) { try Self.parse(text) }
  }

  @Test("A form has a bounded number of parts")
  func boundsParts() {
    let part = "--AaB03x\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n"
    #expect(throws: FormFault.tooManyParts) {
      try Self.parse(String(repeating: part, count: FormParser.partsMax + 1))
    }
  }

  @Test(
    "Boundaries are read from the media type",
    arguments: [
      ("multipart/form-data; boundary=abc", true), ("Multipart/Form-Data;boundary=\"a b\"", true),
      ("multipart/form-data; charset=utf-8; boundary=abc", true), ("multipart/form-data", false),
      ("multipart/mixed; boundary=abc", false), ("multipart/form-data; boundary=", false),
      ("multipart/form-data; boundary=a; boundary=b", false),
      ("multipart/form-data; boundary=\(String(repeating: "a", count: 71))", false),
    ])
  func readsBoundaries(text: String, isOne: Bool) {
    #expect((FormBoundary(contentType: text) != nil) == isOne)
  }
}
