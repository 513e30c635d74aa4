import HTTPWire
import Testing

struct RequestParserTests {
  @Test("The request line is split into its parts")
  func splitsTheRequestLine() throws {
    let head = try parse("GET /films/a%20b?view=card&x=%zz HTTP/1.1\r\nHost: example.org\r\n\r\n")
    #expect(head.method == .get)
    #expect(head.target.text == "/films/a%20b?view=card&x=%zz")
    #expect(head.path.text == "/films/a%20b")
    #expect(head.query?.text == "view=card&x=%zz")
    #expect(head.authority?.text == "example.org")
    #expect(head.minorVersion == 1)
    #expect(head.keepsAlive)
    #expect(!head.hasBody)
  }

  @Test("Fields are found regardless of case")
  func findsFieldsIgnoringCase() throws {
    let head = try parse(
      "GET / HTTP/1.1\r\nhOST: a\r\nAccept-ENCODING: \t gzip \t\r\nx-empty:\r\nX-Two: 1\r\nx-two: 2\r\n\r\n"
    )
    #expect(head["accept-encoding"]?.text == "gzip")
    #expect(head["x-empty"]?.isEmpty == true)
    #expect(head["missing"] == nil)
    #expect(head["x-two"]?.text == "1")
    #expect(head.fields.joined("x-two")?.text == "1, 2")
    #expect(head.fields.values(named: "x-two").map(\.text) == ["1", "2"])
    #expect(head.fields.values(named: "x-twa").isEmpty && head.fields.values(named: "").isEmpty)
    #expect(head.fields.count == 5)
    #expect(head.fields.name(at: 1).text == "Accept-ENCODING")
  }

  @Test("One question finds any of several names, whatever their case")
  func findsAnyOfSeveralNames() throws {
    let head = try parse(
      "GET /v1/films?x=1 HTTP/1.1\r\nHost: a\r\nCache-CONTROL: no-cache\r\nAccept: b\r\n\r\n")
    #expect(head.fields.containsAny(of: FieldNames(["pragma", "cache-control"])))
    #expect(head.fields.containsAny(of: FieldNames(["host"])))
    // Those of the same length and the same letters at both ends too.
    #expect(!head.fields.containsAny(of: FieldNames(["hoot", "abcept", "cache-contral", ""])))
    #expect(!head.fields.containsAny(of: FieldNames([])))
    #expect(head.targetStarts(with: "/v1/") && head.targetStarts(with: ""))
    #expect(!head.targetStarts(with: "/v2/") && !head.targetStarts(with: "/v1/films?x=12"))
    let both = head.withTarget(and: "accept") { target, value in
      #expect(Array(target) == Array("/v1/films?x=1".utf8) && Array(value) == Array("b".utf8))
      return 7
    }
    #expect(both == 7)
    #expect(head.withTarget(and: "authorization") { $1.count } == 0)
  }

  @Test("An absolute target takes precedence over Host")
  func absoluteTargetOverridesHost() throws {
    let head = try parse("GET http://other.example?x=1 HTTP/1.1\r\nHost: example.org\r\n\r\n")
    #expect(head.authority?.text == "other.example")
    #expect(head.path.text == "/")
    #expect(head.query?.text == "x=1")
  }

  @Test("A reused parser keeps nothing of the last head")
  func reusedParserDiscardsTheLastHead() throws {
    var parser = RequestParser()
    let first = "POST /a HTTP/1.0\r\nContent-Length: 7\r\n\r\n"
    let second = "GET /b HTTP/1.1\r\nHost: x\r\n\r\n"
    try feed(&parser, first)
    #expect(parser.head.framing == .length(7))
    #expect(!parser.head.keepsAlive)
    try feed(&parser, second)
    #expect(parser.head.path.text == "/b")
    #expect(parser.head.framing == .none)
    #expect(parser.head.keepsAlive)
    #expect(parser.head["content-length"] == nil)
  }

  @Test("Bytes after the head are not consumed")
  func leavesBytesAfterTheHead() throws {
    var parser = RequestParser()
    let input = Array("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /2".utf8)
    let first = try input[..<20].withUnsafeBytes { try parser.parse($0) }
    #expect(first == nil)
    #expect(parser.isInsideHead)
    let second = try input[20...].withUnsafeBytes { try parser.parse($0) }
    #expect(second == input.count - 20 - "GET /2".utf8.count)
    #expect(parser.head.fields.bytes.count == input.count - "GET /2".utf8.count)
  }

  @Test(
    "Upgrade counts only with its Connection option",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", true),
      ("GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n", false),
      ("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n", false),
    ])
  func upgradeNeedsItsConnectionOption(text: String, expected: Bool) throws {
    #expect(try parse(text).asksForUpgrade == expected)
  }

  @Test(
    "Credentials stand in one Authorization field that is not empty",
    arguments: [
      ("Authorization: Bearer a\r\n", RequestError?.none),
      ("Authorization:\r\n", .emptyAuthorization),
      ("authorization: \t \r\n", .emptyAuthorization),
      ("Authorization: Bearer a\r\nAUTHORIZATION: Bearer a\r\n", .repeatedAuthorization),
      ("Authorization: Bearer a\r\nAuthorization:\r\n", .repeatedAuthorization),
      ("Authorization:\r\nAuthorization: Bearer a\r\n", .emptyAuthorization),
    ])
  func oneAuthorization(fields: String, expected: RequestError?) {
    expect("GET / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n", expected)
    #expect(expected == nil || expected?.status == 400)
  }

  @Test(
    "The length of the request line is limited",
    arguments: [
      (8192, RequestError?.none), (8193, .requestLineTooLong),
    ])
  func boundsTheRequestLine(count: Int, expected: RequestError?) {
    let path = String(repeating: "a", count: count - "GET / HTTP/1.1".utf8.count)
    expect("GET /\(path) HTTP/1.1\r\nHost: x\r\n\r\n", expected)
  }

  @Test(
    "The length of a field line is limited",
    arguments: [
      (16 * 1024, RequestError?.none), (16 * 1024 + 1, .fieldTooLarge),
    ])
  func boundsAFieldLine(count: Int, expected: RequestError?) {
    let value = String(repeating: "v", count: count - "X: ".utf8.count)
    expect("GET / HTTP/1.1\r\nHost: x\r\nX: \(value)\r\n\r\n", expected)
  }

  @Test(
    "The number of fields is limited",
    arguments: [(99, RequestError?.none), (100, .tooManyFields)])
  func boundsTheNumberOfFields(count: Int, expected: RequestError?) {
    let fields = String(repeating: "X: y\r\n", count: count)
    expect("GET / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n", expected)
  }

  @Test(
    "The size of the head is limited",
    arguments: [(32 * 1024, RequestError?.none), (32 * 1024 + 1, .headTooLarge)])
  func boundsTheHead(count: Int, expected: RequestError?) {
    let start = "GET / HTTP/1.1\r\nHost: x\r\nA: \(String(repeating: "v", count: 16_000))\r\nB: "
    let rest = count - start.utf8.count - 4 - "\r\nC: ".utf8.count - 8000
    let head =
      start + String(repeating: "v", count: rest) + "\r\nC: "
      + String(repeating: "v", count: 8000) + "\r\n\r\n"
    #expect(head.utf8.count == count)
    expect(head, expected)
  }

  @Test("Every request error has a status and an explanation")
  func everyErrorHasItsStatusAndSentence() {
    for error in RequestError.allCases {
      #expect((400...505).contains(error.status))
      #expect(error.explanation.utf8CodeUnitCount > 10)
      #expect(StatusLine.reason(error.status).utf8CodeUnitCount > 0)
    }
  }

  /// Whatever is wrong with the rest of it, and however it comes.
  @Test(
    "The path of a refused head is known if it could be read",
    arguments: [
      ("BREW /a?b HTTP/1.1\r\nHost: x\r\n\r\n", "/a"),
      ("PUT /a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 1x\r\n\r\n", "/a"),
      ("PUT /a HTTP/1.1\r\nno field\r\n\r\n", "/a"),
      ("BREW a HTTP/1.1\r\nHost: x\r\n\r\n", ""), ("GET /a\r\n\r\n", ""),
    ])
  func refusedHeadKeepsItsPath(text: String, path: String) {
    for size in [text.utf8.count, 1] {
      var parser = RequestParser()
      #expect(throws: RequestError.self) {
        for start in stride(from: 0, to: text.utf8.count, by: size) {
          let piece = Array(text.utf8)[start..<min(start + size, text.utf8.count)]
          _ = try piece.withUnsafeBytes { try parser.parse($0) }
        }
      }
      #expect(parser.head.path.text == path, "in pieces of \(size)")
    }
  }

  private func parse(_ text: String) throws(RequestError) -> RequestHead {
    var parser = RequestParser()
    try feed(&parser, text)
    return parser.head
  }

  private func feed(_ parser: inout RequestParser, _ text: String) throws(RequestError) {
    let consumed = try Array(text.utf8).withUnsafeBufferPointer { bytes throws(RequestError) in
      try parser.parse(UnsafeRawBufferPointer(bytes))
    }
    #expect(consumed == text.utf8.count)
  }

  private func expect(_ text: String, _ expected: RequestError?) {
    do throws(RequestError) {
      _ = try parse(text)
      #expect(expected == nil)
    } catch {
      #expect(error == expected)
    }
  }
}
