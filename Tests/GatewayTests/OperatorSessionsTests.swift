import Model
import Synchronization
import Testing

@testable import Gateway

struct OperatorSessionsTests {
  private static let admin = String(repeating: "a", count: 40)
  private static let viewer = String(repeating: "v", count: 40)
  private static let here = ClientNetwork("192.0.2.1")

  private let clock = TestClock()
  private let sessions: OperatorSessions
  private let ended = EndedSessions()

  init() {
    let bytes = DifferentBytes()
    sessions = OperatorSessions(
      adminToken: Self.admin, viewerToken: Self.viewer, clock: clock.clock,
      random: RandomBytes { bytes.next() }, whenEnded: { [ended] in ended.note($0) })
  }

  /// A source whose every 32 bytes differ from the others.
  private final class DifferentBytes: Sendable {
    private let count = Atomic<UInt64>(0)

    func next() -> UInt8 {
      let number = count.wrappingAdd(1, ordering: .relaxed).newValue
      return UInt8(truncatingIfNeeded: (number / 32) &* 31 &+ number % 32)
    }
  }

  private final class EndedSessions: Sendable {
    private let list = Mutex<[String]>([])

    var ids: [String] { list.withLock { $0 } }

    func note(_ id: String) { list.withLock { $0.append(id) } }
  }

  private func signIn(_ token: String = admin) throws -> OperatorSessions.Opened {
    try sessions.signIn(token: token, from: Self.here)
  }

  @Test("Each token opens a session of its role, and other tokens none")
  func rolesFollowTokens() throws {
    #expect(try signIn(Self.admin).session.role == .admin)
    #expect(try signIn(Self.viewer).session.role == .viewer)
    for wrong in ["", "a", Self.admin + "a", Self.admin.uppercased()] {
      #expect(throws: Failure.self) { try signIn(wrong) }
    }
    let off = OperatorSessions(
      adminToken: nil, viewerToken: Self.viewer, clock: clock.clock, random: RandomBytes { 1 },
      whenEnded: { _ in })
    #expect(throws: Failure.self) { try off.signIn(token: Self.viewer, from: Self.here) }
  }

  @Test("A session ends after its idle time, which each request extends")
  func idleSessionsEnd() throws {
    let opened = try signIn()
    let almost = OperatorSessions.idleMax - .seconds(1)
    clock.advance(by: almost)
    let found = try #require(sessions.find(cookie: opened.cookie))
    #expect(found.idleExpires == clock.clock.now().advanced(by: OperatorSessions.idleMax))
    clock.advance(by: almost)
    #expect(sessions.find(cookie: opened.cookie) != nil)
    clock.advance(by: OperatorSessions.idleMax)
    #expect(sessions.find(cookie: opened.cookie) == nil)
    #expect(opened.session.hasEnded)
  }

  @Test("A session ends twelve hours after the sign-in, however much it is used")
  func usedSessionsEnd() throws {
    let opened = try signIn()
    let step = Duration.seconds(1_200)
    var passed = Duration.zero
    while passed + step < OperatorSessions.lifetime {
      clock.advance(by: step)
      passed += step
      #expect(sessions.find(cookie: opened.cookie) != nil)
    }
    clock.advance(by: step)
    #expect(sessions.find(cookie: opened.cookie) == nil)
    #expect(opened.session.hasEnded)
  }

  @Test("An ended session is not found, and what holds it notices")
  func endedSessionsAreGone() throws {
    let opened = try signIn()
    let other = try signIn()
    sessions.end(cookie: opened.cookie)
    #expect(sessions.find(cookie: opened.cookie) == nil && opened.session.hasEnded)
    #expect(sessions.find(cookie: other.cookie) != nil && !other.session.hasEnded)
    #expect(ended.ids == [opened.session.id])
  }

  @Test("Beyond the maximum the least recently used session makes room")
  func sessionsAreBounded() throws {
    var opened: [OperatorSessions.Opened] = []
    for _ in 0..<OperatorSessions.sessionsMax {
      clock.advance(by: .seconds(1))
      opened.append(try signIn())
    }
    clock.advance(by: .seconds(1))
    #expect(sessions.find(cookie: opened[0].cookie) != nil)
    clock.advance(by: .seconds(1))
    _ = try signIn()
    #expect(sessions.find(cookie: opened[0].cookie) != nil)
    #expect(sessions.find(cookie: opened[1].cookie) == nil && opened[1].session.hasEnded)
  }

  @Test("Wrong tokens are limited for each network, and right ones are taken in any case")
  func attemptsAreLimited() throws {
    for _ in 0..<OperatorSessions.attemptsPerMinute * 3 { _ = try signIn() }
    func code(_ token: String, from network: ClientNetwork = Self.here) -> Failure.Code? {
      do throws(Failure) {
        _ = try sessions.signIn(token: token, from: network)
        return nil
      } catch {
        return error.code
      }
    }
    for _ in 0..<OperatorSessions.attemptsPerMinute {
      #expect(code("wrong") == .invalidCredentials)
    }
    #expect(code("wrong") == .rateLimited && code(Self.admin) == nil)
    #expect(code("wrong", from: ClientNetwork("192.0.2.2")) == .invalidCredentials)
    clock.advance(by: .seconds(60))
    #expect(code("wrong") == .invalidCredentials)
  }

  @Test("Sessions of viewers end no session of an admin")
  func rolesHaveSessionsOfTheirOwn() throws {
    let admin = try signIn()
    for _ in 0...OperatorSessions.sessionsMax {
      clock.advance(by: .seconds(1))
      _ = try sessions.signIn(token: Self.viewer, from: Self.here)
    }
    #expect(sessions.find(cookie: admin.cookie) != nil)
  }

  @Test("Only the session's own CSRF token counts")
  func comparesCSRFTokens() throws {
    let (one, other) = (try signIn().session, try signIn().session)
    #expect(one.hasCSRFToken(one.csrfToken))
    #expect(!one.hasCSRFToken(other.csrfToken) && !one.hasCSRFToken(nil) && !one.hasCSRFToken(""))
  }

  @Test(
    "The console's cookies are found among others, and removed before others are passed on",
    arguments: [
      ("larder-console=a", ["a"], nil), ("__Host-larder-console=a", ["a"], nil),
      ("x=1; larder-console=a; y=2", ["a"], "x=1; y=2"),
      ("larder-console=a;  larder-console=b ;z", ["a", "b"], "z"),
      ("not-larder-console=a", [], "not-larder-console=a"),
      ("x=larder-console=a", [], "x=larder-console=a"),
      ("larder-console", [], nil), ("x=1", [], "x=1"),
      ("larder-console=a; __Host-larder-console=b", ["b"], nil),
      (
        "larder-console=1;larder-console=2;larder-console=3;larder-console=4;larder-console=5",
        ["1", "2", "3", "4"], nil
      ),
    ] as [(String, [String], String?)])
  func findsCookies(field: String, values: [String], others: String?) {
    #expect(OperatorCookie.values(in: field) == values)
    #expect(OperatorCookie.removed(from: field) == others)
  }

  @Test("The cookie is for this host, HTTP and the same site alone, and over TLS for TLS alone")
  func setsCookies() {
    #expect(
      OperatorCookie.setting("a", isSecure: false)
        == "larder-console=a; Path=/; HttpOnly; SameSite=Strict")
    #expect(
      OperatorCookie.setting("a", isSecure: true)
        == "__Host-larder-console=a; Path=/; HttpOnly; SameSite=Strict; Secure")
    #expect(OperatorCookie.removing(isSecure: true).contains("Max-Age=0"))
  }

  /// The sessions of the same process after a reload with these tokens.
  private func reloaded(
    _ memory: OperatorSessionMemory, admin: String?, viewer: String?, ended: EndedSessions
  ) -> OperatorSessions {
    let bytes = DifferentBytes()
    return OperatorSessions(
      memory: memory, adminToken: admin, viewerToken: viewer, clock: clock.clock,
      random: RandomBytes { bytes.next() }, whenEnded: { ended.note($0) })
  }

  @Test("Sessions outlive a reload; those whose token the settings no longer have are over")
  func sessionsOutliveReloads() throws {
    let memory = OperatorSessionMemory()
    let ended = EndedSessions()
    let other = String(repeating: "o", count: 40)
    let before = reloaded(memory, admin: Self.admin, viewer: Self.viewer, ended: ended)
    let admin = try before.signIn(token: Self.admin, from: Self.here)
    let second = try before.signIn(token: Self.admin, from: Self.here)
    let viewer = try before.signIn(token: Self.viewer, from: Self.here)
    let same = reloaded(memory, admin: Self.admin, viewer: Self.viewer, ended: ended)
    for opened in [admin, viewer] {
      #expect(same.find(cookie: opened.cookie)?.session.csrfToken == opened.session.csrfToken)
    }
    let changed = reloaded(memory, admin: other, viewer: Self.viewer, ended: ended)
    #expect(changed.find(cookie: admin.cookie) == nil)
    #expect(changed.find(cookie: viewer.cookie) != nil)
    #expect(admin.session.hasEnded && ended.ids == [admin.session.id])
    // Also those that send no request.
    changed.endIdle()
    #expect(second.session.hasEnded && !viewer.session.hasEnded)
    // A token that changes its role is another one.
    let raised = reloaded(memory, admin: Self.viewer, viewer: nil, ended: ended)
    #expect(raised.find(cookie: viewer.cookie) == nil)
    // Neither does a reload back to the former token bring a session back, nor without any token one live.
    let back = reloaded(memory, admin: Self.admin, viewer: Self.viewer, ended: ended)
    #expect(back.find(cookie: admin.cookie) == nil)
    let third = try back.signIn(token: Self.admin, from: Self.here)
    #expect(
      reloaded(memory, admin: nil, viewer: nil, ended: ended).find(cookie: third.cookie) == nil)
  }

  @Test("A session that has sent no request for its idle time ends with its streams")
  func idleSessionsEndTheirStreams() throws {
    let idle = try signIn()
    clock.advance(by: OperatorSessions.idleMax - .seconds(1))
    let used = try signIn()
    sessions.endIdle()
    #expect(ended.ids == [])
    clock.advance(by: .seconds(1))
    sessions.endIdle()
    #expect(ended.ids == [idle.session.id] && idle.session.hasEnded && !used.session.hasEnded)
    sessions.endIdle()
    #expect(ended.ids.count == 1)
  }
}
