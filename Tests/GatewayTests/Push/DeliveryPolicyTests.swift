import Model
import Testing

@testable import Gateway
@testable import Storage

struct DeliveryPolicyTests {
  private static let now = Timestamp(milliseconds: 1_000_000)

  private static func batch(strikes: Int = 0) -> ClaimedBatch {
    ClaimedBatch(
      id: 1, claim: 1, key: "k", message: [], userIDs: [], attempts: strikes, strikes: strikes,
      expires: now.advanced(by: .seconds(60)))
  }

  private static func end(
    _ fault: PushFault, strikes: Int = 0, isStrike: Bool = false
  ) -> BatchEnd {
    let consequence = DeliveryPolicy.consequence(of: fault, attempts: strikes, chance: 0.5)
    return DeliveryPolicy.end(
      of: batch(strikes: strikes), after: consequence, isStrike: isStrike, at: now)
  }

  @Test(
    "Failures that concern all deliveries pause all deliveries",
    arguments: [
      (.notSent(reason: "away"), .seconds(5)),
      (.credentialsRefused(reason: "key"), .seconds(60)),
      (.transient(retryAfter: .seconds(7), reason: "busy"), .seconds(7)),
      // At most an hour, whatever is requested.
      (.transient(retryAfter: .seconds(90_000), reason: "busy"), .seconds(3_600)),
      (.transient(retryAfter: nil, reason: "busy"), nil),
      (.permanent(reason: "bad"), nil), (.unknown(reason: "lost"), nil),
    ] as [(PushFault, Duration?)])
  func pauseOfAllDeliveries(fault: PushFault, pausedFor: Duration?) {
    #expect(
      DeliveryPolicy.consequence(of: fault, attempts: 0, chance: 0.5).pausedFor == pausedFor)
  }

  @Test("An attempt that was never sent does not count")
  func unsentAttemptDoesNotCount() {
    #expect(
      Self.end(.notSent(reason: "away"), strikes: 7, isStrike: true)
        == .waits(until: Self.now, isAttempt: false, isStrike: false, reason: "away"))
  }

  @Test("A retryable failure counts as an attempt and waits")
  func retryableFailureWaits() {
    #expect(
      Self.end(.unknown(reason: "lost"))
        == .waits(
          until: Self.now.advanced(by: .milliseconds(500)), isAttempt: true, isStrike: false,
          reason: "lost"))
    #expect(
      Self.end(.transient(retryAfter: .seconds(9), reason: "busy"))
        == .waits(
          until: Self.now.advanced(by: .seconds(9)), isAttempt: true, isStrike: false,
          reason: "busy"))
  }

  @Test("A permanent failure fails the batch")
  func permanentFailure() {
    #expect(Self.end(.permanent(reason: "bad")) == .failed(reason: "bad"))
  }

  /// Only while other deliveries succeed.
  @Test("A batch that keeps failing while others succeed is failed")
  func strikesFailABatch() {
    let busy = PushFault.transient(retryAfter: nil, reason: "busy")
    #expect(Self.end(busy, strikes: 7, isStrike: true) == .failed(reason: "busy"))
    guard case .waits = Self.end(busy, strikes: 6, isStrike: true) else {
      return #expect(Bool(false), "given up too early")
    }
    guard case .waits = Self.end(busy, strikes: 7, isStrike: false) else {
      return #expect(Bool(false), "given up while all fails")
    }
  }
}
