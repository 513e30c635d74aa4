import Model
import Storage
import SyncScheduler

/// A store with one registered device, and its queue driven by hand.
struct QueueWorld {
  static let device = "d_1"

  let fixture: StoreFixture
  var now = Timestamp(milliseconds: 1_000_000)
  var boot = "boot 1"
  var policy = QueuePolicy()

  init(_ folder: TemporaryFolder = TemporaryFolder()) async throws {
    fixture = try StoreFixture(folder)
    try await fixture.store.register(DeviceTests.phone(Self.device), tokenDigest: "one")
  }

  /// The same device after the process ended.
  init(reopening folder: TemporaryFolder) throws {
    fixture = try StoreFixture(folder, segment: 2)
  }

  var store: Store { fixture.store }
  var viewer: Viewer { Viewer(layers: [.device(Self.device), .public]) }
  var timing: QueueTiming {
    QueueTiming(now: now, policy: policy, boot: boot, random: { 0x9E37_79B9_7F4A_7C15 })
  }

  private static func fingerprint(_ content: UInt8) -> PayloadFingerprint {
    guard let fingerprint = PayloadFingerprint([UInt8](repeating: content, count: 32)) else {
      preconditionFailure("a fingerprint has 32 bytes")
    }
    return fingerprint
  }

  static func arrival(
    _ key: String, mode: MutationMode = .lazy, object: EntityKey? = .film("1"),
    effect: MutationEffect = .update, content: UInt8 = 0, rule: UnknownOutcomeRule = .sendAgain,
    variables: String = #"{"id":"1"}"#, creates: [TemporaryEntity] = [],
    overlays: [OverlayChange] = []
  ) -> NewMutation {
    NewMutation(
      Mutation.Submission(
        id: MutationID("m_\(key)"), key: key,
        fingerprint: fingerprint(content),
        operation: "RateFilm", upstream: "default", mode: mode, effect: effect, unknownRule: rule,
        object: object, footprint: Footprint(object: object, creates: creates)),
      payload: MutationPayload(
        variables: variables, scope: .public, user: nil, partitions: "{}",
        sealedCredential: "sealed", overlays: overlays))
  }

  func enqueue(
    _ arrivals: NewMutation...
  ) async throws -> Result<QueueCommit<[MutationReceipt]>, ArrivalRefusal> {
    try await store.enqueue(arrivals, of: Self.device, timing: timing)
  }

  func claim(_ key: String) async throws -> ClaimedMutation? {
    let ready = QueueSchedule.Ready(
      id: MutationID("m_\(key)"), upstream: "default", place: 0, isForced: false)
    return try await store.claim(ready, of: Self.device, timing: timing).answer
  }

  @discardableResult
  func settle(
    _ claimed: ClaimedMutation, as outcome: SendOutcome, response: NormalisedResponse? = nil
  ) async throws -> Mutation? {
    try await store.settle(
      MutationSettlement(
        claim: claimed.claim, outcome: outcome, othersSucceeded: nil, response: response,
        result: Array(#"{"data":{}}"#.utf8)),
      of: Self.device, timing: timing
    ).answer.mutation
  }

  func state(_ key: String) async throws -> MutationState? {
    try await store.mutation(MutationID("m_\(key)"), of: Self.device)?.mutation.state
  }
}
