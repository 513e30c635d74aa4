import Cryptography
package import Model
import Synchronization

/// Tickets for those who cannot set headers, as browsers' `EventSource`: each stands once, for half
/// a minute, for the caller that asked for it.
///
/// They are kept in memory alone, and there by a digest.
package final class StreamTickets: Sendable {
  private struct Entry {
    let caller: Caller
    let owner: String
    let isUnknown: Bool
    let expires: Timestamp
  }

  private struct State {
    var entries: [String: Entry] = [:]
    /// Of these, those of callers without a verified user.
    var unknownCount = 0
    var nextSweep: Timestamp?
    /// How many of them each owner has.
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
  /// Unused ones at a time.
  private static let ticketsMax = 10_000
  /// Of these, for one device, user or, of all who show neither, one network.
  private static let ticketsOfOneMax = 100
  private static let byteCount = 32

  private let clock: WallClock
  private let random: RandomBytes
  private let state = Mutex(State())

  package init(clock: WallClock, random: RandomBytes) {
    self.clock = clock
    self.random = random
  }

  /// - Parameter network: stands for callers without a registered device and a verified user: whoever
  ///   invents credentials is still in one network.
  package func issue(to caller: Caller, from network: ClientNetwork) throws(Failure) -> String {
    let ticket = Base64URL.encode(random.bytes(Self.byteCount))
    let digest = Self.digest(of: ticket)
    let now = clock.now()
    // Anybody may register devices where settings say so: without a user they are no better known.
    let known = caller.user ?? (caller.isAdmin ? "admin" : nil)
    let owner = known ?? caller.device?.id ?? "network \(network.name)"
    let isIssued = state.withLock { state in
      // Each holds a caller with all credentials, so they do not stay until there are too many.
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
        .rateLimited, "Too many stream tickets are unused.", retry: .after,
        retryAfter: Self.lifetime)
    }
    return ticket
  }

  func redeem(_ ticket: String) throws(Failure) -> Caller {
    let now = clock.now()
    let digest = Self.digest(of: ticket)
    let entry = state.withLock { $0.remove(digest) }
    guard let entry, now < entry.expires else {
      throw Failure(.unauthenticated, "The stream ticket was used, is too old or is none.")
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
