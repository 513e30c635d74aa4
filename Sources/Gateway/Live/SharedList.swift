import Model
import Synchronization
import Transport

/// A list that one or more streams of the same viewer follow: read once for all of them.
///
/// Synchronisation: the mutex guards the state; one task at a time reads the list and publishes its new
/// state, see ``begin()`` and ``take()``.
final class SharedList: Sendable {
  private struct State {
    var version: ListVersion?
    /// The list before it: most streams have one of the two.
    var former: ListVersion.Base?
    var followed: FollowedList?
    /// What must be read; nil if the list is current.
    var touch: ListIndex.Touch? = .everything
    var isReading = false
    /// Whether a job was taken and has not ended.
    var hasJob = false
    /// Jobs that have ended.
    var jobCount = 0
    /// Reads of single rows since the list was last read whole.
    var partialReads = 0
    /// Why the list cannot be followed; final.
    var failure: Failure?
    var listeners: [ObjectIdentifier: ChangeListener] = [:]
    /// The listeners of streams that do not have the present state.
    var late: Set<ObjectIdentifier> = []
    /// Subscriptions, by owner.
    var users: [CallerOwner: Int] = [:]
    var userCount = 0
    /// The one for whose share the list counts.
    var owner: CallerOwner
    var bytes: ListLedger.Bytes
  }

  /// After so many reads of single rows the list is read whole: eviction, which the log does not report,
  /// can have removed rows.
  private static let partialReadsMax = 500
  /// Owners among whose lanes a read chooses.
  private static let lanesMax = 8
  /// How long the documents of a state wait for streams that do not have it, if there is no room for them.
  private static let deliveryMax = Duration.milliseconds(500)

  let number: UInt64
  let question: ListQuestion
  /// The first caller: all others see the same data.
  let caller: Caller
  let viewer: Viewer
  private let ledger: ListLedger
  private let state: Mutex<State>
  /// Wakes those who wait for a state, or for its delivery.
  private let isReady: AsyncSignal

  /// - Parameters:
  ///   - owner: its first user, see ``addUser(_:)``.
  ///   - bytes: what was counted for it.
  ///   - sleep: returns after the duration, or throws if its task is cancelled.
  init(
    number: UInt64, question: ListQuestion, caller: Caller, viewer: Viewer, owner: CallerOwner,
    bytes: ListLedger.Bytes, ledger: ListLedger,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.ledger = ledger
    state = Mutex(State(owner: owner, bytes: bytes))
    isReady = AsyncSignal(sleep: sleep)
    self.number = number
    self.question = question
    self.caller = caller
    self.viewer = viewer
  }

  // MARK: Streams

  /// The present state.
  ///
  /// - Throws: the reason for which the list can no longer be followed.
  func current() throws(Failure) -> ListVersion? {
    let (version, failure) = state.withLock { ($0.version, $0.failure) }
    if let failure { throw failure }
    return version
  }

  /// Whether there is a state.
  var isRead: Bool { state.withLock { $0.version != nil } }

  /// Waits for a state that has everything which was committed before the call, so that a client that
  /// has written finds its change in the list.
  func upToDate() async throws(Failure) {
    let wanted = state.withLock { state in
      // A touch that no job has taken is read after the job in progress.
      state.jobCount + (state.touch == nil ? 0 : 1) + (state.hasJob ? 1 : 0)
    }
    while true {
      let seen = isReady.count
      let isCurrent = state.withLock { $0.version != nil && $0.jobCount >= wanted }
      if try current() != nil, isCurrent { return }
      if Task.isCancelled {
        throw Failure(.draining, "The client has disconnected.", retry: .after)
      }
      await isReady.wait(after: seen)
    }
  }

  func add(_ listener: ChangeListener) {
    state.withLock { state in
      state.listeners[ObjectIdentifier(listener)] = listener
      state.late.insert(ObjectIdentifier(listener))
    }
  }

  func remove(_ listener: ChangeListener) {
    state.withLock { state in
      state.listeners.removeValue(forKey: ObjectIdentifier(listener))
      state.late.remove(ObjectIdentifier(listener))
    }
    isReady.notify()
  }

  func addUser(_ owner: CallerOwner) {
    state.withLock { state in
      state.userCount += 1
      state.users[owner, default: 0] += 1
    }
  }

  /// Ends a use, and the count of the list with the last one.
  ///
  /// - Returns: whether that was the last one.
  func removeUser(_ owner: CallerOwner) -> Bool {
    let isLast = state.withLock { state in
      state.userCount -= 1
      state.users[owner, default: 1] -= 1
      if state.users[owner] == 0 { state.users[owner] = nil }
      if state.userCount == 0 {
        ledger.remove(state.bytes, of: state.owner)
        state.version = nil
        state.followed = nil
        return true
      }
      if state.users[state.owner] == nil, let other = state.users.keys.first {
        ledger.move(state.bytes, from: state.owner, to: other)
        state.owner = other
      }
      return false
    }
    isReady.notify()
    return isLast
  }

  /// The lanes in which the list can be read: a busy owner does not delay a list that others follow too.
  var lanes: [CallerOwner] {
    state.withLock { state in
      state.users.isEmpty ? [state.owner] : Array(state.users.keys.prefix(Self.lanesMax))
    }
  }

  // MARK: Delivery

  /// The list with a tag, if it is the present one or the one before it.
  func base(tagged tag: String) -> ListVersion.Base? {
    state.withLock { state in
      if let version = state.version, version.tag == tag { return version.base }
      return state.former?.tag == tag ? state.former : nil
    }
  }

  /// Whether the whole list can be rendered without a read.
  var hasDocuments: Bool { state.withLock { $0.version?.hasDocuments ?? false } }

  /// Notes that a stream has a state.
  func noteTaken(_ version: ListVersion, by listener: ChangeListener) {
    let isDelivered = state.withLock { state in
      guard state.version === version, state.late.remove(ObjectIdentifier(listener)) != nil else {
        return false
      }
      return state.late.isEmpty
    }
    guard isDelivered else { return }
    version.dropEvents()
    isReady.notify()
  }

  /// Waits, if there is no room for the documents, until all streams have the state or have had time to,
  /// and drops the documents.
  func deliver() async {
    while true {
      let seen = isReady.count
      let isDone = state.withLock { state in
        state.bytes.documents > 0 || state.failure != nil || state.touch != nil
          || state.version?.hasDocuments != true
          || (state.late.isEmpty && state.userCount <= state.listeners.count)
      }
      if isDone { break }
      await isReady.wait(after: seen, atMost: Self.deliveryMax)
      if isReady.count == seen { break }
    }
    state.withLock { state in
      guard state.bytes.documents == 0 else { return }
      state.version?.dropDocuments()
      state.followed?.dropDocuments()
    }
  }

  // MARK: Reading

  /// What the reader does next.
  enum Job {
    case rows(of: FollowedList, changed: Set<EntityKey>)
    case whole(after: FollowedList?)
  }

  /// Notes what a commit changed.
  func note(_ touch: ListIndex.Touch) {
    state.withLock { state in
      if state.touch == nil { state.touch = touch } else { state.touch?.add(touch) }
    }
    isReady.notify()
  }

  /// Makes the caller the reader, if something must be read and there is none.
  func begin() -> Bool {
    state.withLock { state in
      guard !state.isReading, state.touch != nil, state.failure == nil, state.userCount > 0 else {
        return false
      }
      state.isReading = true
      return true
    }
  }

  /// Returns the reader's next job; nil if there is none, which ends its task.
  func take() -> Job? {
    state.withLock { state in
      guard let touch = state.touch, state.failure == nil, state.userCount > 0 else {
        state.isReading = false
        return nil
      }
      state.touch = nil
      state.hasJob = true
      if case .keys(let keys) = touch, let followed = state.followed,
        state.partialReads < Self.partialReadsMax
      {
        state.partialReads += 1
        return .rows(of: followed, changed: keys)
      }
      state.partialReads = 0
      return .whole(after: state.followed)
    }
  }

  /// Notes the end of the job that was taken last.
  func endJob() {
    state.withLock { state in
      state.hasJob = false
      state.jobCount += 1
    }
    isReady.notify()
  }

  /// Whether something was changed since the last ``take()``.
  var isTouched: Bool { state.withLock { $0.touch != nil } }

  /// Publishes a state, if there is room for what a diff from it needs.
  ///
  /// - Parameter version: nil if the list shows the same as before and has its documents.
  /// - Throws: ``Failure/Code/overloaded``; the former state remains.
  func publish(_ followed: FollowedList, _ version: ListVersion?) throws(Failure) {
    let rows = FollowedList.byteCount(of: question) + followed.byteCount
    let documents = followed.documentByteCount
    let result = state.withLock { state -> Result<[ChangeListener], Failure> in
      guard state.userCount > 0 else { return .success([]) }
      do throws(Failure) {
        state.bytes = try ledger.change(
          state.bytes, rows: rows, documents: documents, of: state.owner)
      } catch {
        return .failure(error)
      }
      state.followed = followed
      guard let version else { return .success([]) }
      if let former = state.version, former.tag != version.tag { state.former = former.base }
      state.version = version
      state.late = Set(state.listeners.keys)
      return .success(Array(state.listeners.values))
    }
    ChangeListener.wake(try result.get(), .commit)
  }

  /// Ends the list for all its streams.
  func fail(_ failure: Failure) {
    let listeners = state.withLock { state in
      state.failure = failure
      state.followed = nil
      state.version = nil
      state.former = nil
      return Array(state.listeners.values)
    }
    ChangeListener.wake(listeners, .commit)
    isReady.notify()
  }
}
