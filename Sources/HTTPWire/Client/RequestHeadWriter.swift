/// Writes a request's head. Input that breaks the grammar is refused, never repaired, so that no
/// value from outside can start a second field or a second request.
package struct RequestHeadWriter {
  /// The part of a head that breaks the grammar.
  package enum Fault: Error, Sendable, Hashable {
    case target
    case authority
    case fieldName
    case fieldValue
  }

  private var output: [UInt8]

  /// Starts a head with its request line and `Host`.
  ///
  /// - Parameters:
  ///   - target: origin form, percent-encoded: `/path?query`.
  ///   - authority: host, and the port unless it is the scheme's default.
  ///   - reusing: an array whose storage is reused; its content is dropped.
  package init(
    method: RequestMethod, target: String, authority: String, reusing storage: [UInt8] = []
  ) throws(Fault) {
    guard Self.isOriginForm(target) else { throw .target }
    guard Self.isAuthority(authority) else { throw .authority }
    output = storage
    output.removeAll(keepingCapacity: true)
    output.append(contentsOf: method.name.utf8)
    output.append(ASCII.space)
    output.append(contentsOf: target.utf8)
    output.append(" HTTP/1.1\r\nHost: ")
    output.append(contentsOf: authority.utf8)
    output.appendLineEnd()
  }

  /// Adds a field.
  package mutating func add(_ name: String, _ value: String) throws(Fault) {
    guard !name.isEmpty, name.utf8.allSatisfy(ASCIISet.token.contains) else { throw .fieldName }
    let isValue = value.utf8.allSatisfy { $0 == ASCII.tab || $0 >= 0x20 && $0 != 0x7F }
    guard isValue else { throw .fieldValue }
    output.append(contentsOf: name.utf8)
    output.append(ASCII.colon)
    output.append(ASCII.space)
    output.append(contentsOf: value.utf8)
    output.appendLineEnd()
  }

  /// Returns the complete head, with the field that states the body's framing.
  package consuming func finish(framing: BodyFraming) -> [UInt8] {
    switch framing {
    case .none, .untilClose: break
    case .length(let length): output.appendField("Content-Length", decimal: length)
    case .chunked: output.append("Transfer-Encoding: chunked\r\n")
    }
    output.appendLineEnd()
    return output
  }

  private static func isOriginForm(_ target: String) -> Bool {
    Array(target.utf8).withUnsafeBytes { raw in
      guard raw.first == ASCII.slash else { return false }
      return RequestTarget.parse(raw, 0..<raw.count, method: .get) != nil
    }
  }

  private static func isAuthority(_ authority: String) -> Bool {
    Array(authority.utf8).withUnsafeBytes { HostSyntax.isValid($0, 0..<$0.count) }
  }
}
