import Cryptography
package import Model
import Synchronization

/// Tickets for clients that cannot set headers, such as browsers' `EventSource`. A ticket
/// authenticates its caller once, within half a minute.
///
/// A renewable ticket authenticates its caller again, on one path, while a stream that was opened with
/// it lives and for a minute longer, so that `EventSource` can reconnect. It ends with the caller's
/// token, with the device, and when the user signs out.
///
/// Tickets are kept in memory only, by digest.
package final class StreamTickets: Sendable {
  private struct Entry {
    let caller: Caller
    let owner: String
    let isUnknown: Bool
    /// The target that it is good for; nil for any stream.
    let target: StreamTarget?
    let isRenewable: Bool
    var expires: Timestamp
    /// The number of open streams.
    var streamCount = 0
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
  /// How long a renewable ticket is good after its last stream has ended.
  package static let renewalTime = Duration.seconds(60)
  /// Maximum open streams of one renewable ticket: a reconnecting client's former stream can still be
  /// open here.
  static let streamsOfOneMax = 8
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

  /// - Parameters:
  ///   - network: the owner for callers without a registered device and a verified user; made-up
  ///     credentials do not change the network.
  ///   - target: the only target that it is good for; nil for any stream.
  package func issue(
    to caller: Caller, from network: ClientNetwork, for target: StreamTarget? = nil,
    isRenewable: Bool = false
  ) throws(Failure) -> String {
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
        caller: caller, owner: owner, isUnknown: known == nil, target: target,
        isRenewable: isRenewable,
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

  /// A ticket's caller, and the part of a renewable ticket that its stream holds.
  struct Redeemed {
    let caller: Caller
    let lease: StreamLease?
  }

  private enum Redemption {
    case caller(Caller, isRenewable: Bool)
    case refused(Failure)
  }

  func redeem(_ ticket: String, for target: StreamTarget) throws(Failure) -> Redeemed {
    let now = clock.now()
    let digest = Self.digest(of: ticket)
    let redemption = state.withLock { Self.redeem(digest, for: target, at: now, in: &$0) }
    switch redemption {
    case .caller(let caller, let isRenewable):
      return Redeemed(
        caller: caller, lease: isRenewable ? StreamLease(tickets: self, digest: digest) : nil)
    case .refused(let failure): throw failure
    }
  }

  private static func redeem(
    _ digest: String, for target: StreamTarget, at now: Timestamp, in state: inout State
  ) -> Redemption {
    guard let entry = state.entries[digest], entry.streamCount > 0 || now < entry.expires else {
      return .refused(
        Failure(.unauthenticated, "The stream ticket is invalid, expired or already used."))
    }
    if let bound = entry.target, !bound.covers(target) {
      return .refused(Failure(.forbidden, "The stream ticket was issued for another path."))
    }
    guard entry.isRenewable else {
      _ = state.remove(digest)
      return .caller(entry.caller, isRenewable: false)
    }
    guard entry.streamCount < streamsOfOneMax else {
      return .refused(
        Failure(
          .rateLimited,
          "The stream ticket has \(streamsOfOneMax) open streams; close one, or use another ticket.",
          retry: .after, retryAfter: .seconds(1)))
    }
    state.entries[digest]?.streamCount += 1
    return .caller(entry.caller, isRenewable: true)
  }

  /// Notes that a stream opened with a renewable ticket has ended.
  fileprivate func release(_ digest: String) {
    let now = clock.now()
    state.withLock { state in
      guard state.entries[digest] != nil else { return }
      state.entries[digest]?.streamCount -= 1
      state.entries[digest]?.expires = now.advanced(by: Self.renewalTime)
    }
  }

  /// Ends the tickets of a user who has signed out.
  func end(user: String) {
    end { $0.caller.user?.equalsExactly(user) == true }
  }

  /// Ends the tickets of a device whose user has signed out.
  func end(device: String) {
    end { $0.caller.device?.id == device }
  }

  private func end(_ isEnded: (Entry) -> Bool) {
    state.withLock { state in
      for (digest, entry) in state.entries where isEnded(entry) { _ = state.remove(digest) }
    }
  }

  private static func sweep(_ state: inout State, at now: Timestamp) {
    for (digest, entry) in state.entries where entry.expires <= now && entry.streamCount == 0 {
      _ = state.remove(digest)
    }
  }

  private static func digest(of ticket: String) -> String {
    Base64URL.encode(SHA256.hash(data: Array(ticket.utf8)))
  }
}

/// The part of a renewable ticket that an open stream holds: released with the stream.
package final class StreamLease: Sendable {
  private let tickets: StreamTickets
  private let digest: String

  fileprivate init(tickets: StreamTickets, digest: String) {
    self.tickets = tickets
    self.digest = digest
  }

  deinit { tickets.release(digest) }
}
