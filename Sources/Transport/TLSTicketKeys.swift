import COpenSSL
import Synchronization

/// The keys that encrypt session tickets, shared by all loops (RFC 5077, 5.5).
///
/// A key seals new tickets for a period and opens tickets for another, then it is wiped: a key stolen
/// later cannot decrypt earlier recordings.
final class TLSTicketKeys: Sendable {
  /// How long a key seals. Longer than a session lives, so that every valid ticket can be opened.
  static let sealing: Duration = .seconds(12 * 60 * 60)

  /// OpenSSL's callback: prepares for sealing a new ticket, or for opening one.
  static let callback:
    @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt8>?,
      OpaquePointer?, OpaquePointer?, Int32
    ) -> Int32 = { session, name, iv, cipher, mac, seals in
      guard let keys = TLSServerContext.owner(of: session)?.ticketKeys, let name, let iv else {
        return -1
      }
      return seals == 1
        ? keys.seal(name: name, iv: iv, cipher: cipher, mac: mac)
        : keys.open(name: name, iv: iv, cipher: cipher, mac: mac)
    }

  private struct State {
    var newest: TLSTicketKey?
    var previous: TLSTicketKey?
  }

  private let state = Mutex(State())
  private let now: @Sendable () -> LoopInstant

  init(now: @escaping @Sendable () -> LoopInstant = { LoopClock.now() }) {
    self.now = now
  }

  /// Returns the key that currently seals; nil without randomness.
  func current() -> TLSTicketKey? {
    let now = now()
    return state.withLock { state in
      Self.age(&state, now: now)
      if state.newest == nil { state.newest = TLSTicketKey(sealsUntil: now + Self.sealing) }
      return state.newest
    }
  }

  /// Returns the key with a name, if its tickets are still valid.
  func key(named name: UnsafeRawBufferPointer) -> TLSTicketKey? {
    let now = now()
    return state.withLock { state in
      Self.age(&state, now: now)
      return [state.newest, state.previous].lazy.compactMap { $0 }
        .first { $0.isNamed(name) }
    }
  }

  private static func age(_ state: inout State, now: LoopInstant) {
    if let newest = state.newest, newest.sealsUntil <= now {
      state.previous = newest
      state.newest = nil
    }
    if let previous = state.previous, previous.sealsUntil + sealing <= now {
      state.previous = nil
    }
  }

  private func seal(
    name: UnsafeMutablePointer<UInt8>, iv: UnsafeMutablePointer<UInt8>, cipher: OpaquePointer?,
    mac: OpaquePointer?
  ) -> Int32 {
    guard let key = current(), RAND_bytes(iv, TLSTicketKey.ivBytes) == 1 else { return -1 }
    key.writeName(to: name)
    return key.prepare(cipher: cipher, mac: mac, iv: iv, seals: true) ? 1 : -1
  }

  /// Opens a ticket. 0 requests a full handshake, 2 a new ticket.
  private func open(
    name: UnsafeMutablePointer<UInt8>, iv: UnsafeMutablePointer<UInt8>, cipher: OpaquePointer?,
    mac: OpaquePointer?
  ) -> Int32 {
    let name = UnsafeRawBufferPointer(start: name, count: TLSTicketKey.nameBytes)
    guard let key = key(named: name) else { return 0 }
    guard key.prepare(cipher: cipher, mac: mac, iv: iv, seals: false) else { return -1 }
    return key.sealsUntil <= now() ? 2 : 1
  }
}

/// One key for session tickets, wiped when it is released.
final class TLSTicketKey: Sendable {
  static let nameBytes = 16
  /// Half for the cipher, half for the authentication.
  static let secretBytes = 64
  /// A block of AES.
  static let ivBytes: Int32 = 16

  /// The time after which it only opens.
  let sealsUntil: LoopInstant
  // SAFETY: filled in init, wiped in deinit, only read in between.
  nonisolated(unsafe) private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// Creates a random key; nil without randomness.
  init?(sealsUntil: LoopInstant) {
    self.sealsUntil = sealsUntil
    bytes = .allocate(capacity: Self.nameBytes + Self.secretBytes)
    bytes.initialize(repeating: 0)
    guard RAND_bytes(bytes.baseAddress, Int32(bytes.count)) == 1 else { return nil }
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  /// Prepares the contexts of one ticket. Returns whether that succeeded.
  func prepare(
    cipher: OpaquePointer?, mac: OpaquePointer?, iv: UnsafePointer<UInt8>, seals: Bool
  ) -> Bool {
    withExtendedLifetime(self) {
      let secret = bytes.baseAddress.map { $0 + Self.nameBytes }
      return larder_ticket_contexts_init(cipher, mac, secret, iv, seals ? 1 : 0) == 1
    }
  }

  func writeName(to place: UnsafeMutablePointer<UInt8>) {
    withExtendedLifetime(self) {
      for (index, byte) in name.enumerated() { place[index] = byte }
    }
  }

  func isNamed(_ other: UnsafeRawBufferPointer) -> Bool {
    withExtendedLifetime(self) { name.elementsEqual(other) }
  }

  /// Identifies the key; sent unencrypted with the ticket.
  private var name: UnsafeMutableBufferPointer<UInt8>.SubSequence { bytes[..<Self.nameBytes] }
}
