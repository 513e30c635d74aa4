/// The methods that the server knows. Any other gets a 501.
///
/// Methods are case-sensitive (RFC 9110 9.1): `get` is not one of them. CONNECT is left out on
/// purpose: an origin server has no use for it.
package enum RequestMethod: UInt8, Sendable, Hashable, CaseIterable {
  case get, head, post, put, patch, delete, options
  /// Known only so that it is refused with 405 (RFC 9110 9.3.8). No route has it: its response would
  /// contain the request's credentials.
  case trace

  /// The methods that a route can have.
  package static let served = allCases.filter { $0 != .trace }

  /// The method as written in a request line.
  package var name: String {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    case .put: "PUT"
    case .patch: "PATCH"
    case .delete: "DELETE"
    case .options: "OPTIONS"
    case .trace: "TRACE"
    }
  }

  /// The method with a name.
  package init?(name: String) {
    guard let method = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = method
  }

  @inline(__always)
  init?(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
    func spells(_ word: StaticString) -> Bool {
      for offset in 0..<word.utf8CodeUnitCount
      where bytes[range.lowerBound &+ offset] != word.utf8Start[offset] {
        return false
      }
      return true
    }
    switch range.count {
    case 3 where spells("GET"): self = .get
    case 3 where spells("PUT"): self = .put
    case 4 where spells("HEAD"): self = .head
    case 4 where spells("POST"): self = .post
    case 5 where spells("PATCH"): self = .patch
    case 5 where spells("TRACE"): self = .trace
    case 6 where spells("DELETE"): self = .delete
    case 7 where spells("OPTIONS"): self = .options
    default: return nil
    }
  }
}
