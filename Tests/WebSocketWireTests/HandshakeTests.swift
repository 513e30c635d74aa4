import HTTPWire
import Testing

@testable import WebSocketWire

/// Handshakes of both sides (RFC 6455 section 4).
struct HandshakeTests {
  private static let required =
    "Host: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"

  private static func request(_ text: String) throws -> RequestHead {
    var parser = RequestParser(limits: .request)
    let count = try Array(text.utf8).withUnsafeBytes { try parser.parse($0) }
    try #require(count == text.utf8.count)
    return parser.head
  }

  private static func response(_ text: String) throws -> ResponseHead {
    var parser = ResponseParser()
    let count = try Array(text.utf8).withUnsafeBytes { try parser.parse($0) }
    try #require(count == text.utf8.count)
    return parser.head
  }

  private static func handshake(_ fields: String = "") throws -> WebSocketServerHandshake {
    try WebSocketServerHandshake(
      try request("GET / HTTP/1.1\r\n" + required + fields + "\r\n"))
  }

  @Test("A server proves that it has read the key of RFC 6455's example")
  func acceptsTheExample() throws {
    let (agreement, fields) = try Self.handshake().agree(
      subprotocol: nil, deflate: WebSocketDeflatePolicy())
    #expect(agreement == WebSocketAgreement())
    #expect(
      fields.map { "\($0.name): \($0.value)" } == [
        "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
      ])
  }

  static let faults: [(String, WebSocketHandshakeFault)] = [
    ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", .noUpgrade),
    (
      "GET / HTTP/1.1\r\n" + required.replacing("Connection: Upgrade\r\n", with: "") + "\r\n",
      .noUpgrade
    ),
    ("GET / HTTP/1.1\r\n" + required.replacing("websocket", with: "h2c") + "\r\n", .noUpgrade),
    ("POST / HTTP/1.1\r\n" + required + "\r\n", .notGET),
    ("GET / HTTP/1.0\r\n" + required + "\r\n", .oldHTTP),
    ("GET / HTTP/1.1\r\n" + required + "Content-Length: 3\r\n\r\n", .hasContent),
    (
      "GET / HTTP/1.1\r\n" + required.replacing("Version: 13", with: "Version: 8") + "\r\n",
      .unsupportedVersion
    ),
    ("GET / HTTP/1.1\r\n" + required + "Sec-WebSocket-Version: 13\r\n\r\n", .unsupportedVersion),
    (
      "GET / HTTP/1.1\r\n"
        + required.replacing("Sec-WebSocket-Version: 13\r\n", with: "") + "\r\n", .missingVersion
    ),
    (
      "GET / HTTP/1.1\r\n"
        + required.replacing("Sec-WebSocket-Key", with: "X") + "\r\n", .missingKey
    ),
    (
      "GET / HTTP/1.1\r\n" + required + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
      .repeatedKey
    ),
    (
      "GET / HTTP/1.1\r\n"
        + required.replacing("dGhlIHNhbXBsZSBub25jZQ==", with: "dGhlIHNhbXBsZSBub25j") + "\r\n",
      .malformedKey
    ),
    (
      "GET / HTTP/1.1\r\n"
        + required.replacing("b25jZQ==", with: "b25jZR==") + "\r\n", .malformedKey
    ),
    (
      "GET / HTTP/1.1\r\n" + required + "Sec-WebSocket-Protocol: a b\r\n\r\n",
      .malformedSubprotocols
    ),
    (
      "GET / HTTP/1.1\r\n" + required + "Sec-WebSocket-Protocol: a, a\r\n\r\n",
      .malformedSubprotocols
    ),
    (
      "GET / HTTP/1.1\r\n" + required + "Sec-WebSocket-Protocol: ,\r\n\r\n",
      .malformedSubprotocols
    ),
    (
      "GET / HTTP/1.1\r\n" + required + "Sec-WebSocket-Extensions: a; b=\"c d\"\r\n\r\n",
      .malformedExtensions
    ),
  ]

  @Test("A faulty request is refused by name", arguments: faults)
  func faultyRequestsAreRefused(text: String, fault: WebSocketHandshakeFault) throws {
    let head = try Self.request(text)
    #expect(throws: fault) { try WebSocketServerHandshake(head) }
    #expect([400, 405, 426].contains(fault.status))
  }

  @Test("Field values are read as lists, ignoring case where RFC 6455 does")
  func listsAreRead() throws {
    let head = try Self.request(
      "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c, WebSocket\r\nConnection: keep-alive, UPGRADE\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Protocol: a ,b\r\nSec-WebSocket-Protocol: c\r\n\r\n")
    let handshake = try WebSocketServerHandshake(head)
    #expect(handshake.subprotocols == ["a", "b", "c"])
    #expect(handshake.firstSubprotocol(of: ["c", "b"]) == "b")
    #expect(handshake.firstSubprotocol(of: ["d"]) == nil)
    let (agreement, fields) = handshake.agree(
      subprotocol: "b", deflate: WebSocketDeflatePolicy())
    #expect(agreement.subprotocol == "b")
    #expect(fields.contains { "\($0.name)" == "Sec-WebSocket-Protocol" && $0.value == "b" })
    #expect(
      handshake.agree(subprotocol: "z", deflate: WebSocketDeflatePolicy()).agreement.subprotocol
        == nil)
  }

  /// Offers, and the response of a server that keeps context; nil for none.
  static let offers: [(String, String?)] = [
    ("permessage-deflate", "permessage-deflate"),
    ("x-webkit-deflate-frame, permessage-deflate; client_max_window_bits", "permessage-deflate"),
    (
      "permessage-deflate; server_no_context_takeover",
      "permessage-deflate; server_no_context_takeover"
    ),
    (
      "permessage-deflate; client_no_context_takeover",
      "permessage-deflate; client_no_context_takeover"
    ),
    (
      "permessage-deflate; server_max_window_bits=10; client_max_window_bits=\"9\"",
      "permessage-deflate; server_max_window_bits=10; client_max_window_bits=9"
    ),
    // zlib writes no window of 256 bytes; the second offer is acceptable.
    ("permessage-deflate; server_max_window_bits=8, permessage-deflate", "permessage-deflate"),
    ("permessage-deflate; server_max_window_bits", nil),
    ("permessage-deflate; server_max_window_bits=16", nil),
    ("permessage-deflate; server_max_window_bits=09", nil),
    ("permessage-deflate; server_no_context_takeover=1", nil),
    ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", nil),
    ("permessage-deflate; unknown", nil),
    ("other", nil), ("", nil),
  ]

  @Test("A server accepts the first offer of compression that it can keep", arguments: offers)
  func offersAreJudged(offer: String, response: String?) throws {
    var policy = WebSocketDeflatePolicy()
    policy.keepsContext = true
    let handshake = try Self.handshake("Sec-WebSocket-Extensions: \(offer)\r\n")
    let (agreement, fields) = handshake.agree(subprotocol: nil, deflate: policy)
    #expect(fields.first { "\($0.name)" == "Sec-WebSocket-Extensions" }?.value == response)
    #expect((agreement.deflate != nil) == (response != nil))
    policy.isOn = false
    #expect(handshake.agree(subprotocol: nil, deflate: policy).agreement.deflate == nil)
  }

  @Test("A server that keeps no context tells the client")
  func contextIsDeclined() throws {
    let handshake = try Self.handshake(
      "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n")
    let (agreement, fields) = handshake.agree(
      subprotocol: nil, deflate: WebSocketDeflatePolicy())
    #expect(agreement.deflate?.serverKeepsContext == false)
    #expect(agreement.deflate?.clientKeepsContext == false)
    #expect(
      fields.last?.value
        == "permessage-deflate; server_no_context_takeover; client_no_context_takeover")
  }

  private static func client(
    _ subprotocols: [String] = [], keepsContext: Bool = true, offers: Bool = true
  ) -> WebSocketClientHandshake {
    var policy = WebSocketDeflatePolicy()
    policy.keepsContext = keepsContext
    policy.isOn = offers
    return WebSocketClientHandshake(
      nonce: Array("the sample nonce".utf8), subprotocols: subprotocols, deflate: policy)
  }

  private static func switched(_ fields: String = "") -> String {
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\(fields)\r\n"
  }

  @Test("A client's request has the fields of RFC 6455's example")
  func clientSendsItsFields() {
    #expect(
      Self.client(["a", "b"]).fields.map { "\($0.name): \($0.value)" } == [
        "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Protocol: a, b",
        "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",
      ])
    #expect(!Self.client(offers: false).fields.contains { $0.name.hasSuffix("Extensions") })
  }

  @Test("A client accepts what it offered")
  func clientAcceptsOfferedChoices() throws {
    let plain = try Self.client(["a"]).check(try Self.response(Self.switched()))
    #expect(plain == WebSocketAgreement())
    let chosen = try Self.client(["a", "b"]).check(
      try Self.response(
        Self.switched(
          "Sec-WebSocket-Protocol: b\r\nSec-WebSocket-Extensions: permessage-deflate; "
            + "client_max_window_bits=10; server_no_context_takeover\r\n")))
    #expect(chosen.subprotocol == "b")
    #expect(chosen.deflate?.clientWindowBits == 10)
    #expect(chosen.deflate?.serverKeepsContext == false)
    #expect(chosen.deflate?.clientKeepsContext == true)
  }

  static let refusedResponses: [(String, WebSocketHandshakeFault)] = [
    (switched().replacing("WebSocket\r\nConn", with: "h2c\r\nConn"), .otherProtocol),
    (switched().replacing("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", with: "AAAA"), .wrongAccept),
    (switched().replacing("Sec-WebSocket-Accept", with: "X"), .missingAccept),
    (switched("Sec-WebSocket-Protocol: z\r\n"), .unofferedSubprotocol),
    (switched("Sec-WebSocket-Protocol: a\r\nSec-WebSocket-Protocol: b\r\n"), .unofferedSubprotocol),
    (switched("Sec-WebSocket-Extensions: other\r\n"), .unofferedExtension),
    (switched("Sec-WebSocket-Extensions: permessage-deflate; x=1\r\n"), .unofferedExtension),
    (
      switched("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n"),
      .unofferedExtension
    ),
    (
      switched("Sec-WebSocket-Extensions: permessage-deflate, permessage-deflate\r\n"),
      .unofferedExtension
    ),
  ]

  @Test("A client refuses a response that does not fit its request", arguments: refusedResponses)
  func unfitResponsesAreRefused(text: String, fault: WebSocketHandshakeFault) throws {
    let head = try Self.response(text)
    #expect(throws: fault) { try Self.client(["a", "b"]).check(head) }
  }

  @Test("A client that offered no compression refuses it")
  func unofferedCompressionIsRefused() throws {
    let head = try Self.response(
      Self.switched("Sec-WebSocket-Extensions: permessage-deflate\r\n"))
    #expect(throws: WebSocketHandshakeFault.unofferedExtension) {
      try Self.client(offers: false).check(head)
    }
    // A server that ignores an offered restriction would keep context that this side does not expect.
    #expect(throws: WebSocketHandshakeFault.unofferedExtension) {
      try Self.client(keepsContext: false).check(head)
    }
  }
}
