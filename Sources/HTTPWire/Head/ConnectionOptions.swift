/// The options of the `Connection` field that this side acts on (RFC 9110 7.6.1).
struct ConnectionOptions: Sendable {
  var close = false
  var keepAlive = false
  var upgrade = false

  /// Takes the options of one more line; what is no known option is passed over.
  mutating func add(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) {
    ListElements.forEach(bytes, value) { element in
      if ByteScan.equals(bytes, element, "close") { close = true }
      if ByteScan.equals(bytes, element, "keep-alive") { keepAlive = true }
      if ByteScan.equals(bytes, element, "upgrade") { upgrade = true }
    }
  }

  /// Whether the connection goes on after this message (RFC 9112 9.3).
  func persists(minorVersion: Int) -> Bool { !close && (minorVersion >= 1 || keepAlive) }
}
