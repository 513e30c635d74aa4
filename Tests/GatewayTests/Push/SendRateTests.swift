import Gateway
import Logging
import LosslessJSON
import Model
import Synchronization
import Testing

/// The rate limit on one user's notifications, on a clock that the test controls.
struct SendRateTests {
  private static let perMinute = 3

  private final class Uptime: Sendable {
    private let elapsed = Mutex(Duration.zero)

    var reading: Duration { elapsed.withLock { $0 } }

    func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }
  }

  private let folder: StoreFolder
  private let uptime = Uptime()
  private let push: PushService

  init() throws {
    folder = try StoreFolder()
    let numbers = Atomic<Int>(0)
    push = PushService(
      store: folder.store, sender: OutboxSender(), senders: .users,
      sendsPerMinute: Self.perMinute, isAdminOn: true, rules: [],
      environment: PushEnvironment(
        wall: Timestamp(milliseconds: 1_700_000_000_000), reading: { [uptime] in uptime.reading },
        boot: "boot", random: RandomBytes { 7 }, chance: { 0.5 }, sleep: { _ in }),
      logger: Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() },
      makeID: { "\(numbers.wrappingAdd(1, ordering: .relaxed).newValue)" })
  }

  /// - Returns: the time to wait, nil if accepted.
  private func send(
    _ key: String, by user: String, text: String = "Hello"
  ) async throws -> Duration? {
    do {
      _ = try await push.send(
        NotificationRequest(
          chatID: "c", userIDs: ["u"], text: text, heading: nil, data: [], canonicalText: text),
        key: key, by: Caller(user: user))
      return nil
    } catch {
      guard error.code == .rateLimited else { throw error }
      #expect(error.retry == .sameKey)
      let wait: Duration = try #require(error.retryAfter)
      return wait
    }
  }

  @Test("A user sends a burst, then at an even rate")
  func burstThenEvenRate() async throws {
    for number in 0..<Self.perMinute {
      #expect(try await send("k\(number)", by: "ada") == nil)
    }
    #expect(try await send("more", by: "ada") == .seconds(20))
    // Other users have their own limit.
    #expect(try await send("k0", by: "bob") == nil)
    uptime.advance(by: .seconds(10))
    #expect(try await send("more", by: "ada") == .seconds(10))
    uptime.advance(by: .seconds(10))
    #expect(try await send("more", by: "ada") == nil)
    #expect(try await send("yet more", by: "ada") == .seconds(20))
  }

  /// Nothing was accepted, so nothing counts.
  @Test("Replays and refused notifications do not count against the rate limit")
  func replaysAndRefusalsDoNotCount() async throws {
    #expect(try await send("k", by: "ada") == nil)
    for _ in 0..<Self.perMinute * 2 { #expect(try await send("k", by: "ada") == nil) }
    for _ in 0..<Self.perMinute * 2 {
      await #expect(throws: Failure.self) { _ = try await send("k", by: "ada", text: "Other") }
    }
    #expect(try await send("k2", by: "ada") == nil)
    #expect(try await send("k3", by: "ada") == nil)
    #expect(try await send("k4", by: "ada") != nil)
  }

  @Test("The operator is not rate-limited")
  func operatorIsNotLimited() async throws {
    for number in 0..<Self.perMinute * 3 {
      _ = try await push.send(
        NotificationRequest(
          chatID: "c", userIDs: ["u"], text: "t", heading: nil, data: [], canonicalText: "t"),
        key: "k\(number)", by: Caller(isAdmin: true))
    }
    let outbox = try JSONValue(parsing: try await push.notifications(after: nil, limit: 100))
    #expect(outbox["items"]?.array?.count == Self.perMinute * 3)
  }
}
