import HTTPWire
import Transport

@testable import HTTPServer

/// The client that proxies report, for any field lines: it is the peer or an address in the fields, and two
/// runs over the same lines give the same result.
enum ForwardedTarget {
  private static let peer = SocketAddress(numericHost: "10.0.0.1", port: 40_000)
  private static let proxies = TrustedProxies { address in
    address.with(port: 0).description.hasPrefix("10.")
  }

  /// Runs one input: the first byte selects the fields; lines are separated by line feeds.
  static func run(_ input: UnsafeRawBufferPointer) {
    guard let dial = input.first, let peer else { return }
    let bytes = Array(input.dropFirst())[...]
    forwarded(bytes)
    guard let fields = fields(bytes, dial: dial) else { return }
    let client = ProxiedClient(of: fields, from: peer, trusts: proxies)
    Finding.require(
      client == ProxiedClient(of: fields, from: peer, trusts: proxies), "two clients of one head")
    Finding.require(
      client.address == peer || told(fields).contains(client.address.with(port: 0)),
      "a client that no field names: \(client)")
    let stranger = ProxiedClient(of: fields, from: peer, trusts: .none)
    Finding.require(
      stranger.host.map { $0.utf8.count <= 261 } ?? true, "a long host: \(stranger)")
  }

  private static func forwarded(_ bytes: ArraySlice<UInt8>) {
    guard let field = ForwardedField(bytes) else { return }
    Finding.require(field.hops.count <= bytes.count, "more hops than bytes")
    let twice = ForwardedField(bytes + [UInt8(ascii: ",")] + bytes)
    Finding.require(twice?.hops == field.hops + field.hops, "a joined list differs")
  }

  /// The addresses anywhere in the fields.
  private static func told(_ fields: FieldSection) -> Set<SocketAddress> {
    let written = XForwardedFields(fields)?.hops ?? []
    let standard = fields.joined("forwarded").flatMap { ForwardedField($0)?.hops } ?? []
    return Set((written + standard).compactMap { $0.address?.with(port: 0) })
  }

  private static let names = [
    "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host",
  ]

  /// The fields of a head with the lines; nil if a head cannot hold them.
  private static func fields(_ bytes: ArraySlice<UInt8>, dial: UInt8) -> FieldSection? {
    var head = Array("GET / HTTP/1.1\r\nHost: h\r\n".utf8)
    let lines = bytes.split(separator: 0x0A, maxSplits: 15)
    for (index, line) in lines.enumerated() {
      head += Array(names[(index + Int(dial)) % names.count].utf8) + [0x3A, 0x20] + line
      head += [0x0D, 0x0A]
    }
    var parser = RequestParser()
    let taken = (head + [0x0D, 0x0A]).withUnsafeBytes { try? parser.parse($0) }
    return taken == nil ? nil : parser.head.fields
  }
}
