import Cryptography
package import Model
import Synchronization

/// One-time tickets for clients that cannot set headers, such as browsers' `EventSource`. A ticket
/// authenticates its caller once, within half a minute.
///
/// Tickets are kept in memory only, by digest.
package final class StreamTickets: Sendable {
  private struct Entry {
    let caller: Caller
    let owner: String
    let isUnknown: Bool
    let expires: Timestamp
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// The number of entries of callers without a verified user.
    var unknownCount = 0
    var nextSweep: Timestamp?
    /// The number of entries by owner.
    var counts: [String: Int] = [:]

    mutating func remove(_ digest: String) -> Entry? {
      guard let entry = entries.removeValue(forKey: digest) else { return nil }
      if entry.isUnknown { unknownCount -= 1 }
      counts[entry.owner, default: 1] -= 1
      if counts[entry.owner] == 0 { counts[entry.owner] = nil }
      return entry
    }
  }

  package static let lifetime = Duration.seconds(30)
  /// Maximum unused tickets.
  private static let ticketsMax = 10_000
  /// Maximum unused tickets of one device or user, or of all unauthenticated callers of one
  /// network.
  private static let ticketsOfOneMax = 100
  private static let byteCount = 32

  private let clock: WallClock
  private let random: RandomBytes
  private let state = Mutex(State())

  package init(clock: WallClock, random: RandomBytes) {
    self.clock = clock
    self.random = random
  }

  /// - Parameter network: the owner for callers without a registered device and a verified user;
  ///   made-up credentials do not change the network.
  package func issue(to caller: Caller, from network: ClientNetwork) throws(Failure) -> String {
    let ticket = Base64URL.encode(random.bytes(Self.byteCount))
    let digest = Self.digest(of: ticket)
    let now = clock.now()
    // With open registration anyone can register devices, so a device without a user is not better
    // known.
    let known = caller.user ?? (caller.isAdmin ? "admin" : nil)
    let owner = known ?? caller.device?.id ?? "network \(network.name)"
    let isIssued = state.withLock { state in
      // Entries hold callers with all credentials, so expired ones are removed regularly.
      if state.nextSweep.map({ $0 <= now }) ?? true {
        Self.sweep(&state, at: now)
        state.nextSweep = now.advanced(by: Self.lifetime)
      }
      guard state.entries.count < Self.ticketsMax,
        known != nil || state.unknownCount < Self.ticketsMax / 2,
        state.counts[owner, default: 0] < Self.ticketsOfOneMax
      else { return false }
      if known == nil { state.unknownCount += 1 }
      state.entries[digest] = Entry(
        caller: caller, owner: owner, isUnknown: known == nil,
        expires: now.advanced(by: Self.lifetime))
      state.counts[owner, default: 0] += 1
      return true
    }
    guard isIssued else {
      throw Failure(
        .rateLimited, "Too many unused stream tickets; retry later.", retry: .after,
        retryAfter: Self.lifetime)
    }
    return ticket
  }

  func redeem(_ ticket: String) throws(Failure) -> Caller {
    let now = clock.now()
    let digest = Self.digest(of: ticket)
    let entry = state.withLock { $0.remove(digest) }
    guard let entry, now < entry.expires else {
      throw Failure(.unauthenticated, "The stream ticket is invalid, expired or already used.")
    }
    return entry.caller
  }

  private static func sweep(_ state: inout State, at now: Timestamp) {
    for (digest, entry) in state.entries where entry.expires <= now { _ = state.remove(digest) }
  }

  private static func digest(of ticket: String) -> String {
    Base64URL.encode(SHA256.hash(data: Array(ticket.utf8)))
  }
}
