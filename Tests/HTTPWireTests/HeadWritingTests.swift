import HTTPWire
import Testing

struct HeadWritingTests {
  @Test("A request head has its request line, fields and framing")
  func writesARequestHead() throws {
    var writer = try RequestHeadWriter(
      method: .post, target: "/graphql?a=b", authority: "api.example:8443")
    try writer.add("Accept", "application/json")
    let head = writer.finish(framing: .length(12))
    #expect(
      String(decoding: head, as: UTF8.self)
        == "POST /graphql?a=b HTTP/1.1\r\nHost: api.example:8443\r\nAccept: application/json\r\n"
        + "Content-Length: 12\r\n\r\n")
  }

  @Test(
    "Malformed request targets are refused",
    arguments: ["", "graphql", "/a b", "/a\r\nX: y", "/ü", "http://x/"])
  func refusesTargets(target: String) {
    #expect(throws: RequestHeadWriter.Fault.target) {
      try RequestHeadWriter(method: .get, target: target, authority: "x")
    }
  }

  @Test(
    "Malformed authorities are refused",
    arguments: ["", "a b", "x\r\nY: z", "user@host", "host:port"])
  func refusesAuthorities(authority: String) {
    #expect(throws: RequestHeadWriter.Fault.authority) {
      try RequestHeadWriter(method: .get, target: "/", authority: authority)
    }
  }

  @Test("Request fields that would break the head are refused")
  func refusesMalformedFields() throws {
    var writer = try RequestHeadWriter(method: .get, target: "/", authority: "x")
    #expect(throws: RequestHeadWriter.Fault.fieldName) { try writer.add("A B", "c") }
    #expect(throws: RequestHeadWriter.Fault.fieldName) { try writer.add("", "c") }
    #expect(throws: RequestHeadWriter.Fault.fieldValue) { try writer.add("A", "b\r\nC: d") }
  }

  @Test("Line breaks in response field values become spaces")
  func responseFieldsCannotBreakTheHead() {
    var output: [UInt8] = []
    output.appendField("X-A", "b\r\nX-Injected: yes".utf8)
    #expect(String(decoding: output, as: UTF8.self) == "X-A: b  X-Injected: yes\r\n")
  }

  @Test(
    "Numbers are written in decimal",
    arguments: [
      (0, "0"), (7, "7"), (1024, "1024"), (Int.max, "9223372036854775807"), (-12, "-12"),
    ])
  func writesDecimals(number: Int, expected: String) {
    var output: [UInt8] = []
    output.append(decimal: number)
    #expect(String(decoding: output, as: UTF8.self) == expected)
  }

  @Test("Status lines have the registered reason phrase")
  func writesStatusLines() {
    var output: [UInt8] = []
    StatusLine.append(200, to: &output)
    StatusLine.append(404, to: &output)
    StatusLine.append(507, to: &output)
    StatusLine.append(299, to: &output)
    #expect(
      String(decoding: output, as: UTF8.self)
        == "HTTP/1.1 200 OK\r\nHTTP/1.1 404 Not Found\r\nHTTP/1.1 507 Insufficient Storage\r\n"
        + "HTTP/1.1 299 \r\n")
  }

  @Test(
    "Status, length and HTTP version decide the framing",
    arguments: [
      (200, Int?.some(5), 1, ResponseFraming.length(5)), (200, nil, 1, .chunked),
      (200, nil, 0, .untilClose),
      (204, 0, 1, .noContent), (304, 5, 1, .noContent),
    ])
  func choosesTheFraming(status: Int, length: Int?, minorVersion: Int, expected: ResponseFraming) {
    let framing = ResponseFraming.choose(
      status: status, length: length, minorVersion: minorVersion)
    #expect(framing == expected)
  }

  @Test("Pieces in the space of one check are those of single appends")
  func spaceAppendsAlike() {
    for number in [0, 7, 10, 65_535, Int.max] {
      var single = Array("before ".utf8)
      single.append("a: ")
      single.append(decimal: number)
      single.append(bytes: [1, 2, 3])
      var space = Array("before ".utf8)
      space.append(bytesMax: 3 + [UInt8].digitsMax + 3) { space in
        space.append("a: ")
        space.append(decimal: number)
        space.append(bytes: [1, 2, 3])
        space.append(bytes: [])
      }
      #expect(space == single)
    }
    var empty: [UInt8] = []
    empty.append(bytesMax: 0) { $0.append(bytes: []) }
    #expect(empty.isEmpty)
  }
}
