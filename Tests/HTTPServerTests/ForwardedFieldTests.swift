import HTTPWire
import Testing
import Transport

@testable import HTTPServer

struct ForwardedFieldTests {
  private static func hop(
    _ host: String?, isSecure: Bool? = nil, host name: String? = nil
  ) -> ForwardedHop {
    ForwardedHop(
      address: host.flatMap { SocketAddress(numericHost: $0, port: 0) }, isSecure: isSecure,
      host: name)
  }

  /// The examples of RFC 7239 4 and 6 among them.
  @Test(
    "Forwarded elements are parsed",
    arguments: [
      ("for=192.0.2.43", [hop("192.0.2.43")]),
      ("for=192.0.2.43, for=198.51.100.17", [hop("192.0.2.43"), hop("198.51.100.17")]),
      ("For=\"[2001:db8:cafe::17]:4711\"", [hop("2001:db8:cafe::17")]),
      (
        "for=192.0.2.60;proto=http;by=203.0.113.43;host=\"api.example:80\"",
        [hop("192.0.2.60", isSecure: false, host: "api.example:80")]
      ),
      ("for=\"_gazonk\"", [hop(nil)]),
      (
        "for=unknown, for=_SEVKISEK;proto=https",
        [
          hop(nil), hop(nil, isSecure: true),
        ]
      ),
      ("for=\"192.0.2.43:47011\"", [hop("192.0.2.43")]),
      ("for=\"192.0.2.43:_port\"", [hop("192.0.2.43")]),
      (" , for=10.0.0.1 ,, for=10.0.0.2;, ", [hop("10.0.0.1"), hop("10.0.0.2")]),
      ("for=\"10.0.0.\\1\";secret=x", [hop("10.0.0.1")]),
      ("proto=https", [hop(nil, isSecure: true)]), ("", []),
      ("for=10.0.0.1;host=\"a b\";proto=ftp", [hop("10.0.0.1")]),
      ("for=\"[::1]x\"", [hop(nil)]), ("for=\"::1\"", [hop(nil)]),
      ("for=\"[10.0.0.1]\"", [hop(nil)]),
      ("for=\"10.0.0.1:123456\"", [hop(nil)]), ("for=\"10.0.0.1:\"", [hop(nil)]),
    ])
  func parsesElements(text: String, expected: [ForwardedHop]) {
    #expect(ForwardedField(ArraySlice(Array(text.utf8)))?.hops == expected)
  }

  @Test(
    "Malformed Forwarded fields are refused",
    arguments: [
      "for", "for=", "=1", "for=1;for=2", "for=\"1", "for=10.0.0.1 for=10.0.0.2", "for=[::1]",
      "for=10.0.0.1; ;x", "for=\"a\"b", "for=\"\\",
    ])
  func refusesMalformedFields(text: String) {
    #expect(ForwardedField(ArraySlice(Array(text.utf8))) == nil)
  }

  /// A long value costs its length, and nothing is kept of it.
  @Test("Many Forwarded elements are parsed quickly")
  func parsesManyElements() {
    let text = String(repeating: "for=10.0.0.1,", count: 2_000)
    #expect(ForwardedField(ArraySlice(Array(text.utf8)))?.hops.count == 2_000)
  }
}
