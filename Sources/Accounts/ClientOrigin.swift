/// Where a request came from.
package struct ClientOrigin: Hashable, Sendable {
  /// The client's address as this service itself has seen it, or as a trusted proxy told; nil where
  /// it is not known, as over a Unix socket.
  package let address: String?

  package init(address: String?) {
    self.address = address
  }
}
