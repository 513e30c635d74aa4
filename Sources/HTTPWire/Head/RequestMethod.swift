/// The methods that are served. Any other is answered with 501.
///
/// Methods are case-sensitive (RFC 9110 9.1): `get` is not one of them. CONNECT and TRACE are left
/// out on purpose: an origin server has no use for the first, and the second reflects credentials.
package enum RequestMethod: UInt8, Sendable, Hashable, CaseIterable {
  case get, head, post, put, patch, delete, options

  /// The method as it stands in a request line.
  package var name: String {
    switch self {
    case .get: "GET"
    case .head: "HEAD"
    case .post: "POST"
    case .put: "PUT"
    case .patch: "PATCH"
    case .delete: "DELETE"
    case .options: "OPTIONS"
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
    case 6 where spells("DELETE"): self = .delete
    case 7 where spells("OPTIONS"): self = .options
    default: return nil
    }
  }
}
