import HTTPWire

/// Requests of one loop that came more than once, byte for byte, with what they are answered.
///
/// Clients that poll repeat themselves, and so do all connections of one program. Such a request
/// need not be read again: its bytes are compared as a whole. It is kept when it comes the second
/// time, so that requests that never do cost two hashes each and no storage.
struct RepeatedRequests {
  /// Two requests that share a slot take turns in it. A power of two.
  private static let slotCount = 64
  /// Longer requests are read each time.
  static let bytesMax = 1024

  private var known: [KnownRequest?] = Array(repeating: nil, count: slotCount)
  /// The hash of the request last seen for each slot.
  private var hashes: [UInt64] = Array(repeating: 0, count: slotCount)
  /// That of one which came again and cannot be kept: it is not looked at each time anew.
  private var refused: [UInt64] = Array(repeating: 0, count: slotCount)

  /// The request with these bytes.
  func find(_ bytes: UnsafeRawBufferPointer) -> KnownRequest? {
    guard bytes.count <= Self.bytesMax, let found = known[Self.slot(WholeBytes.hash(bytes))],
      found.bytes.withUnsafeBytes({ WholeBytes.areEqual($0, bytes) })
    else { return nil }
    return found
  }

  /// Takes note of a request that was answered at the first look.
  ///
  /// - Parameter make: asked if it came before.
  mutating func note(_ bytes: UnsafeRawBufferPointer, make: () -> KnownRequest?) {
    guard bytes.count <= Self.bytesMax else { return }
    let hash = WholeBytes.hash(bytes)
    let slot = Self.slot(hash)
    if hashes[slot] == hash {
      guard refused[slot] != hash else { return }
      let request = make()
      known[slot] = request
      refused[slot] = request == nil ? hash : 0
    } else {
      hashes[slot] = hash
    }
  }

  mutating func forget(_ request: KnownRequest) {
    let slot = Self.slot(request.bytes.withUnsafeBytes { WholeBytes.hash($0) })
    if known[slot] === request { known[slot] = nil }
  }

  private static func slot(_ hash: UInt64) -> Int {
    Int(truncatingIfNeeded: hash) & (slotCount - 1)
  }
}
