import LosslessJSON
import Model
import Storage
import SyncScheduler

/// Submits mutations to the inbox of a cluster, on any node and whether or not there is a leader.
///
/// A submission is acknowledged in one of two ways. With a leader, once this node has applied the commit that
/// enqueues it: the response then says what the queue decided. Without one, or
/// if the leader takes too long, as soon as it is in the inbox and this node has applied what the log had after
/// that. An earlier mutation with the same key is then either in this node's store or in the inbox, which has
/// one entry for a key: no acknowledged mutation can turn out to be a replay or a conflict later.
///
/// A node refuses what is above a device's limits as far as it knows: its store, the inbox as it last saw it, and what
/// it is adding at the moment. What other nodes add at the same time only the leader sees, which refuses it; the
/// submission then fails in the same way, or ends as rejected if it was acknowledged without the leader.
struct InboxSubmitter: Sendable {
  /// What a node responds about its submission.
  struct Answer: Sendable {
    let receipts: [MutationReceipt]
    /// The number of the entry that the inbox has or had; nil for a submission that was known before. Enqueueing
    /// need not begin a new revision, so a cursor covers this too.
    let entry: Int64?
  }

  /// How long a request waits for the leader to enqueue its mutations.
  static let drainMax = Duration.seconds(2)
  /// How long a request waits after that for this node to apply what the log has. Under load it is late, and what is
  /// in the inbox is stored: the client waits rather than repeats the request, which is more load.
  static let catchUpMax = Duration.seconds(8)
  /// How often a submission is tried whose key disappears from the inbox while it is looked up.
  private static let attemptsMax = 4

  let inbox: any MutationInbox
  let mirror: InboxMirror
  let store: Store
  let signal: CommitSignal
  let environment: QueueEnvironment
  let adding = AddedMutations()

  /// Submits mutations of one request.
  func submit(
    _ mutations: [NewMutation], of device: String, pointers: [String]
  ) async throws(Failure) -> Answer {
    let attempt = Attempt(mutations: mutations, device: device, pointers: pointers)
    // Registered first, so that no commit in between is missed.
    let listener = signal.listen(as: Viewer(layers: [.device(device)]))
    defer { signal.remove(listener) }
    let result: Result<Answer, Failure>
    do throws(InboxOutage) {
      result = try await submit(attempt, listener)
    } catch {
      if error.isOfDelay {
        throw Failure(
          .nodeBehind,
          "The mutation is stored in the cluster's database, and this node does not know yet what the queue "
            + "made of it. Repeat the request with the same key.", retry: .sameKey,
          retryAfter: .seconds(1), cause: error.cause)
      }
      throw Failure(
        .storageUnavailable,
        error.isNothingStored
          ? "The mutation could not be stored in the cluster's database; nothing was enqueued."
          : "It is not known whether the mutation was stored in the cluster's database. Repeat the "
            + "request with the same key.", retry: .sameKey, retryAfter: .seconds(1),
        cause: error.cause, remedy: InboxOutage.remedy)
    }
    return try result.get()
  }

  private struct Attempt: Sendable {
    let mutations: [NewMutation]
    let device: String
    let pointers: [String]

    var keys: [String] { mutations.map(\.submission.key) }
    var isForced: Bool { mutations.contains { $0.submission.mode == .force } }

    /// Whether a submission with the same key is this one, sent again.
    func isRepeated(by other: InboxSubmission) -> Bool {
      other.mutations.map(\.submission.key) == keys
        && other.mutations.map(\.submission.fingerprint) == mutations.map(\.submission.fingerprint)
    }

    func failure(_ refusal: ArrivalRefusal) -> Failure { Failure(refusal, pointers: pointers) }
  }

  private func submit(
    _ attempt: Attempt, _ listener: ChangeListener
  ) async throws(InboxOutage) -> Result<Answer, Failure> {
    for _ in 0..<Self.attemptsMax {
      if let result = try await submitOnce(attempt, listener) { return result }
    }
    throw InboxOutage(cause: "the key was in the inbox and disappeared, several times")
  }

  /// - Returns: nil to try again.
  private func submitOnce(
    _ attempt: Attempt, _ listener: ChangeListener
  ) async throws(InboxOutage) -> Result<Answer, Failure>? {
    let known = try await known(attempt)
    if let conflict = conflict(attempt, known) { return .failure(conflict) }
    let isKnown = attempt.mutations.allSatisfy { isReplay($0, known[$0.submission.key]) }
    if isKnown { return answer(attempt, known, isReplay: { _ in true }, entry: nil) }
    let before = Set(attempt.mutations.filter { isReplay($0, known[$0.submission.key]) }.map(\.id))

    let other: InboxSubmission?
    do throws(InboxOutage) {
      other = try await waiting(attempt)
    } catch {
      throw InboxOutage(cause: error.cause, isNothingStored: true)
    }
    if let other { return try await acknowledge(other, attempt, isOwn: false, before, listener) }
    let place = adding.enter(attempt.mutations.count, of: attempt.device)
    defer { adding.leave(place) }
    if let refusal = try await refusal(of: attempt, after: place) { return .failure(refusal) }
    let addition = try await inbox.add(
      device: attempt.device, key: attempt.keys[0], body: MutationCodec.encode(attempt.mutations))
    guard addition.isNew else {
      // Sent twice at once, or drained a moment ago.
      _ = try await mirror.refresh(attempt.device)
      if let other = try await waiting(attempt) {
        return try await acknowledge(other, attempt, isOwn: false, before, listener)
      }
      _ = try await inbox.catchUp(within: InboxMirror.catchUpMax)
      return nil
    }
    let submission = InboxSubmission(
      number: addition.number, device: attempt.device, mutations: attempt.mutations, age: .zero)
    return try await acknowledge(submission, attempt, isOwn: true, before, listener)
  }

  /// Returns a submission in the inbox with the same key.
  private func waiting(_ attempt: Attempt) async throws(InboxOutage) -> InboxSubmission? {
    let all =
      inbox.hasLeader
      ? mirror.submissions(of: attempt.device) : try await mirror.refresh(attempt.device)
    return all.first { $0.mutations.first?.submission.key == attempt.keys[0] }
  }

  /// Returns why a device may not submit more; nil if it may.
  ///
  /// - Parameter place: that of the attempt among what this node is adding.
  private func refusal(
    of attempt: Attempt, after place: AddedMutations.Place
  ) async throws(InboxOutage) -> Failure? {
    if attempt.isForced, !inbox.hasLeader {
      return Failure(
        .notSent,
        "The cluster has no leader, so the mutation cannot be sent now; it was not stored.",
        retry: .sameKey, retryAfter: .seconds(1))
    }
    let mirrored = mirror.submissions(of: attempt.device).reduce(0) { $0 + $1.mutations.count }
    let waiting = mirrored + place.before
    let refusal = try await reading { () async throws(StorageError) in
      try await store.refusal(
        of: attempt.mutations, by: attempt.device, waiting: waiting, policy: environment.policy)
    }
    return refusal.map(attempt.failure)
  }

  // MARK: Acknowledging

  /// Waits until a submission can be acknowledged.
  ///
  /// - Parameters:
  ///   - isOwn: false if an earlier request with the same key added it.
  ///   - before: the mutations of the attempt that were known before.
  private func acknowledge(
    _ submission: InboxSubmission, _ attempt: Attempt, isOwn: Bool, _ before: Set<MutationID>,
    _ listener: ChangeListener
  ) async throws(InboxOutage) -> Result<Answer, Failure> {
    guard attempt.isRepeated(by: submission) else {
      return .failure(attempt.failure(.keyReused(index: 0)))
    }
    let isReplay = { (id: MutationID) in !isOwn || before.contains(id) }
    if inbox.hasLeader, try await isDrained(submission, listener) {
      return try await drainedAnswer(attempt, submission.number, isReplay)
    }
    let hasCaughtUp = try await inbox.catchUp(within: Self.catchUpMax)
    if try await undrained(submission).isEmpty {
      return try await drainedAnswer(attempt, submission.number, isReplay)
    }
    guard hasCaughtUp else { throw .behind }
    let known = try await known(attempt)
    if let conflict = conflict(attempt, known) {
      // Not acknowledged: what the leader would make of it is not wanted.
      if isOwn { try await inbox.remove([submission.number]) }
      return .failure(conflict)
    }
    try await mirror.note(submission)
    let folded = try await reading { () async throws(StorageError) in
      try await store.folding(attempt.device) { () async throws(StorageError) in
        try await store.mutations(keys: attempt.keys, of: attempt.device)
      }
    }
    return answer(attempt, folded, isReplay: isReplay, entry: submission.number)
  }

  /// Waits until this node's store has a submission.
  private func isDrained(
    _ submission: InboxSubmission, _ listener: ChangeListener
  ) async throws(InboxOutage) -> Bool {
    let alarm = signal.alarm(listener, after: Self.drainMax)
    defer { alarm.cancel() }
    while true {
      if try await undrained(submission).isEmpty { return true }
      let wakes = await listener.next()
      if wakes.isDisjoint(with: [.alarm, .end]) { continue }
      return try await undrained(submission).isEmpty
    }
  }

  private func undrained(
    _ submission: InboxSubmission
  ) async throws(InboxOutage) -> [InboxSubmission] {
    try await reading { () async throws(StorageError) in
      try await store.undrained([submission], of: submission.device)
    }
  }

  /// Responds about mutations that the store has.
  private func drainedAnswer(
    _ attempt: Attempt, _ entry: Int64, _ isReplay: (MutationID) -> Bool
  ) async throws(InboxOutage) -> Result<Answer, Failure> {
    let known = try await known(attempt)
    if let conflict = conflict(attempt, known) { return .failure(conflict) }
    return answer(attempt, known, isReplay: isReplay, entry: entry)
  }

  private func answer(
    _ attempt: Attempt, _ known: [String: KnownMutation], isReplay: (MutationID) -> Bool,
    entry: Int64?
  ) -> Result<Answer, Failure> {
    var receipts: [MutationReceipt] = []
    for mutation in attempt.mutations {
      guard let found = known[mutation.submission.key] else {
        return .failure(attempt.failure(.deviceGone))
      }
      if let refusal = found.record.arrivalRefusal { return .failure(refusal) }
      let id = found.record.mutation.id
      receipts.append(
        MutationReceipt(
          mutation: found.record.mutation, isReplay: id != mutation.id || isReplay(id),
          supersedes: found.supersedes, promoted: found.promoted))
    }
    return .success(Answer(receipts: receipts, entry: entry))
  }

  // MARK: Keys

  private func known(_ attempt: Attempt) async throws(InboxOutage) -> [String: KnownMutation] {
    try await reading { () async throws(StorageError) in
      try await store.mutations(keys: attempt.keys, of: attempt.device)
    }
  }

  private func conflict(_ attempt: Attempt, _ known: [String: KnownMutation]) -> Failure? {
    let index = attempt.mutations.firstIndex { mutation in
      guard let found = known[mutation.submission.key] else { return false }
      return found.record.mutation.fingerprint != mutation.submission.fingerprint
    }
    return index.map { attempt.failure(.keyReused(index: $0)) }
  }

  /// Whether the store has the mutation and nothing changes by submitting it again.
  private func isReplay(_ mutation: NewMutation, _ known: KnownMutation?) -> Bool {
    known?.record.mutation.reuse(
      of: mutation.submission.fingerprint, at: environment.now) == .replay
  }

  private func reading<Value>(
    _ body: () async throws(StorageError) -> Value
  ) async throws(InboxOutage) -> Value {
    do throws(StorageError) {
      return try await body()
    } catch {
      throw InboxOutage(cause: "\(error)")
    }
  }
}

extension NewMutation {
  fileprivate var id: MutationID { submission.id }
}

extension MutationRecord {
  /// The failure that its submission gets if the queue refused it when the leader took it from the inbox; nil if
  /// it was enqueued.
  fileprivate var arrivalRefusal: Failure? {
    guard mutation.state == .rejected, !mutation.everSent,
      let problem = result.flatMap({ try? JSONValue(checked: $0) }),
      let code = problem["code"]?.string.flatMap(Failure.Code.init),
      [.objectDeleted, .queueFull].contains(code)
    else { return nil }
    return Failure(
      code, problem["detail"]?.string ?? "The queue refused the mutation.", retry: .newKey,
      retryAfter: code == .queueFull ? .seconds(5) : nil)
  }
}
