/// The network that a request came from, as counting sees it.
///
/// Of IPv4 it is one address. The owner of an IPv6 address has all of its /64, and often the whole
/// /48, so both are named.
package struct ClientNetwork: Hashable, Sendable {
  /// The address, or of IPv6 the /64.
  package let name: String
  /// The address, or of IPv6 the /48.
  package let block: String

  package init(name: String, block: String) {
    self.name = name
    self.block = block
  }

  /// A network that no larger one is counted for.
  package init(_ name: String) {
    self.init(name: name, block: name)
  }
}
