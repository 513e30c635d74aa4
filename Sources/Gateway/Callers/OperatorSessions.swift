import Cryptography
package import Model
import Synchronization

/// The session of an operator who signed in to the console.
package final class OperatorSession: Sendable {
  /// Names the session to the streams that were opened in it; it grants nothing.
  let id: String
  package let role: OperatorRole
  /// Proves that a request comes from a page that could read the response to the sign-in, which pages of
  /// other origins cannot.
  package let csrfToken: String
  /// The time at which it ends however much it is used.
  package let expires: Timestamp
  /// Of the token that it was opened with: it ends when the settings have another one.
  fileprivate let tokenDigest: [UInt8]
  private let isOver = Atomic(false)

  fileprivate init(
    id: String, role: OperatorRole, tokenDigest: [UInt8], csrfToken: String, expires: Timestamp
  ) {
    self.id = id
    self.role = role
    self.tokenDigest = tokenDigest
    self.csrfToken = csrfToken
    self.expires = expires
  }

  package var hasEnded: Bool { isOver.load(ordering: .relaxed) }

  func end() { isOver.store(true, ordering: .relaxed) }

  /// Whether a request has the session's CSRF token.
  package func hasCSRFToken(_ presented: String?) -> Bool {
    guard let presented else { return false }
    return constantTimeEqual(Array(csrfToken.utf8), Array(presented.utf8))
  }
}

/// What a process keeps of operators' sessions when a reload replaces the settings. Its content is in memory
/// only: a restart ends them all.
package final class OperatorSessionMemory: Sendable {
  fileprivate struct Entry {
    let session: OperatorSession
    var used: Timestamp
  }

  /// By the digests of their cookies.
  fileprivate let entries = Mutex<[String: Entry]>([:])
  fileprivate let attempts = AttemptThrottle(perMinute: OperatorSessions.attemptsPerMinute)

  package init() {}
}

/// The sessions of operators.
///
/// A session is found by the digest of its cookie. It ends after ``idleMax`` without a request, after
/// ``lifetime`` in any case, when the least recently used of ``sessionsMax`` sessions has to make room, and
/// when a reload brings settings without the token that it was opened with.
package final class OperatorSessions: Sendable {
  /// A new session, and the text that its cookie has.
  package struct Opened: Sendable {
    package let cookie: String
    package let session: OperatorSession
    package let idleExpires: Timestamp
  }

  private typealias Entry = OperatorSessionMemory.Entry

  package static let idleMax = Duration.seconds(1_800)
  package static let lifetime = Duration.seconds(12 * 3_600)
  static let sessionsMax = 64
  /// Attempts with a wrong token per minute, of one network.
  static let attemptsPerMinute = 10
  private static let byteCount = 32

  private let tokens: OperatorTokens
  private let clock: WallClock
  private let random: RandomBytes
  private let whenEnded: @Sendable (_ id: String) -> Void
  private let memory: OperatorSessionMemory

  /// - Parameters:
  ///   - memory: the sessions of the process.
  ///   - adminToken: nil if administration is off.
  ///   - viewerToken: the token of operators who only read; nil for none.
  ///   - whenEnded: called with the id of each session that has ended, to end its streams.
  package init(
    memory: OperatorSessionMemory = OperatorSessionMemory(), adminToken: String?,
    viewerToken: String?, clock: WallClock, random: RandomBytes,
    whenEnded: @escaping @Sendable (_ id: String) -> Void
  ) {
    self.memory = memory
    self.whenEnded = whenEnded
    tokens = OperatorTokens(admin: adminToken, viewer: viewerToken)
    self.clock = clock
    self.random = random
  }

  /// Opens a session for the holder of the admin or the viewer token. Attempts with a wrong token are
  /// limited for each network.
  package func signIn(
    token: String, from network: ClientNetwork
  ) throws(Failure) -> Opened {
    let now = clock.now()
    // A right token is never refused for the attempts of others behind the same address.
    guard let role = tokens.role(of: token) else {
      if let wait = memory.attempts.take(network.attemptNames, at: now) {
        throw Failure(
          .rateLimited, "Too many attempts; retry later.", retry: .after, retryAfter: wait)
      }
      throw Failure(
        .invalidCredentials, "This is neither the admin token nor the viewer token of the settings."
      )
    }
    let cookie = Base64URL.encode(random.bytes(Self.byteCount))
    let session = OperatorSession(
      id: "console \(Base64URL.encode(random.bytes(Self.byteCount)))", role: role,
      tokenDigest: OperatorTokens.digest(token),
      csrfToken: Base64URL.encode(random.bytes(Self.byteCount)),
      expires: now.advanced(by: Self.lifetime))
    let ended = memory.entries.withLock { entries in
      var ended = entries.filter { isOver($0.value, at: now) }.map(\.key)
      // Of the same role: viewers end no session of an admin.
      let peers = entries.filter {
        !isOver($0.value, at: now) && $0.value.session.role == role
      }
      if peers.count >= Self.sessionsMax,
        let oldest = peers.min(by: { $0.value.used < $1.value.used })
      {
        ended.append(oldest.key)
      }
      let sessions = ended.compactMap { entries.removeValue(forKey: $0)?.session }
      entries[Self.digest(cookie)] = Entry(session: session, used: now)
      return sessions
    }
    for session in ended { end(session) }
    return Opened(cookie: cookie, session: session, idleExpires: idleExpires(of: session, at: now))
  }

  /// Finds a session and extends its idle time; nil if it has ended.
  package func find(cookie: String) -> Opened? {
    let now = clock.now()
    let digest = Self.digest(cookie)
    let (session, isOver) = memory.entries.withLock { entries -> (OperatorSession?, Bool) in
      guard let entry = entries[digest] else { return (nil, false) }
      guard !self.isOver(entry, at: now) else {
        entries[digest] = nil
        return (entry.session, true)
      }
      entries[digest]?.used = max(entry.used, now)
      return (entry.session, false)
    }
    guard let session else { return nil }
    guard !isOver else {
      end(session)
      return nil
    }
    return Opened(cookie: cookie, session: session, idleExpires: idleExpires(of: session, at: now))
  }

  /// Ends a session, and the streams that were opened with it.
  package func end(cookie: String) {
    let ended = memory.entries.withLock { $0.removeValue(forKey: Self.digest(cookie)) }
    if let session = ended?.session { end(session) }
  }

  /// Ends the sessions that are over although no request shows it, and the streams that were opened with
  /// them. Called at short intervals.
  package func endIdle() {
    let now = clock.now()
    let ended = memory.entries.withLock { entries in
      entries.filter { isOver($0.value, at: now) }.map(\.key).compactMap {
        entries.removeValue(forKey: $0)?.session
      }
    }
    for session in ended { end(session) }
  }

  private func isOver(_ entry: Entry, at now: Timestamp) -> Bool {
    now >= entry.session.expires || entry.used.elapsed(until: now) >= Self.idleMax
      || tokens.role(ofDigest: entry.session.tokenDigest) != entry.session.role
  }

  private func end(_ session: OperatorSession) {
    session.end()
    whenEnded(session.id)
  }

  private func idleExpires(of session: OperatorSession, at now: Timestamp) -> Timestamp {
    min(session.expires, now.advanced(by: Self.idleMax))
  }

  private static func digest(_ cookie: String) -> String {
    Base64URL.encode(SHA256.hash(data: Array(cookie.utf8)))
  }
}
