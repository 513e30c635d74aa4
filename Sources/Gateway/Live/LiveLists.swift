package import Model
import Synchronization

/// The lists that streams follow: each is read once for all streams of the same list and viewer, after
/// commits that touched what it was read from, and never otherwise.
///
/// A commit notes on its writer's thread what it changed and wakes a task for each list it touched. That
/// task reads the changed rows alone where it can, and wakes the list's streams only if it shows
/// something else than before.
package final class LiveLists: Sendable {
  /// Reads of one owner's lists at a time.
  private static let readsOfOneMax = 4
  /// Reads at a time: fewer than the store lets wait for one kind of caller.
  private static let readsMax = 16
  /// The time between two reads of a list that is changed all the time.
  static let pause = Duration.milliseconds(20)
  /// The time after which a list is read again that could not be read.
  private static let retryPause = Duration.seconds(1)

  private struct Key: Hashable {
    let viewer: Viewer
    let question: ExactText
  }

  private struct State {
    var lists: [Key: SharedList] = [:]
    var numbered: [UInt64: SharedList] = [:]
    var index = ListIndex()
    var lastNumber: UInt64 = 0
  }

  let devices: DeviceRegistry
  let signal: CommitSignal
  let memory: ListMemory
  let ledger: ListLedger
  private let entities: EntityReader
  private let cursors: CursorIssuer
  private let meters = LiveMeters()
  private let turns = LaneTurns<CallerOwner>(laneMax: readsOfOneMax, max: readsMax)
  private let changed = ChangedEntities()
  private let sleep: @Sendable (Duration) async throws -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - memory: the one in which `entities` keeps its lists.
  ///   - ledger: the limits of the lists' number and memory.
  ///   - sleep: returns after the duration, or throws if its task is cancelled.
  package init(
    entities: EntityReader, memory: ListMemory, ledger: ListLedger = ListLedger(),
    cursors: CursorIssuer, devices: DeviceRegistry, signal: CommitSignal,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.entities = entities
    self.memory = memory
    self.ledger = ledger
    self.cursors = cursors
    self.devices = devices
    self.signal = signal
    self.sleep = sleep
  }

  /// The number of lists that are followed.
  package var count: Int { state.withLock { $0.lists.count } }

  /// The numbers of reads so far: of whole lists, of single rows, and changes that did not concern the list
  /// and cost no read of its own.
  package var reads: LiveMeters.Reads { meters.reads }

  // MARK: Streams

  /// Starts to follow a list, with its first read, so that a failure is an HTTP response.
  ///
  /// - Parameters:
  ///   - owner: the one for whose share the list counts.
  ///   - knownTag: the tag of the list that the client has.
  package func start(
    _ question: ListQuestion, caller: Caller, owner: CallerOwner, knownTag: String?
  ) async throws(Failure) -> ListStream.Start {
    if signal.hasEnded {
      throw Failure(
        .draining, "The service is shutting down.", retry: .after, retryAfter: .seconds(1))
    }
    // Each caller, because a list is shared by callers with the same view and different rights.
    try entities.admit(caller, to: question)
    let subscription = try subscribe(question, caller, owner)
    let list = subscription.list
    if list.isRead, !list.hasDocuments, try list.current()?.tag != knownTag {
      list.note(.everything)
    }
    read([list])
    try await list.upToDate()
    if let version = try list.current(), version.tag != knownTag {
      try subscription.reserve(version.fullByteCount)
    }
    return ListStream.Start(subscription: subscription, caller: caller, knownTag: knownTag)
  }

  /// Opens a stream. Must be called by the task that reads it.
  package func open(_ start: ListStream.Start) -> ListStream {
    ListStream(lists: self, start: start)
  }

  private func subscribe(
    _ question: ListQuestion, _ caller: Caller, _ owner: CallerOwner
  ) throws(Failure) -> ListSubscription {
    // Also for a list that others follow: an owner whose clients do not read gets no more of them.
    try ledger.admit(0, of: owner)
    let viewer = caller.viewer
    let key = Key(viewer: viewer, question: question.text)
    let list = state.withLock { state -> Result<SharedList, Failure> in
      if let list = state.lists[key] {
        list.addUser(owner)
        return .success(list)
      }
      let bytes = ListLedger.Bytes(rows: FollowedList.byteCount(of: question))
      do throws(Failure) { try ledger.add(bytes, of: owner) } catch { return .failure(error) }
      state.lastNumber += 1
      let list = SharedList(
        number: state.lastNumber, question: question, caller: caller, viewer: viewer, owner: owner,
        bytes: bytes, ledger: ledger, sleep: sleep)
      list.addUser(owner)
      state.lists[key] = list
      state.numbered[list.number] = list
      return .success(list)
    }
    return ListSubscription(list: try list.get(), owner: owner, lists: self)
  }

  func release(_ list: SharedList, _ owner: CallerOwner) {
    state.withLock { state in
      if list.removeUser(owner) { Self.forget(list, in: &state) }
    }
  }

  /// Reads a list whole for a stream that needs its documents.
  func readWhole(_ list: SharedList) {
    list.note(.everything)
    read([list])
  }

  private static func forget(_ list: SharedList, in state: inout State) {
    let key = Key(viewer: list.viewer, question: list.question.text)
    if state.lists[key] === list { state.lists[key] = nil }
    state.numbered[list.number] = nil
    state.index.remove(list.number)
  }

  // MARK: Commits

  /// Notes a commit. Must be called once the commit is visible and its head is published, in the order of
  /// commits; does no more than look up the lists it touched.
  package func note(_ report: CommitReport) {
    changed.noteCommit()
    let touched = state.withLock { state -> [SharedList] in
      guard !state.index.isEmpty else { return [] }
      return state.index.touched(by: report).compactMap { number, touch in
        guard let list = state.numbered[number] else { return nil }
        list.note(touch)
        return list
      }
    }
    if !touched.isEmpty { read(touched) }
  }

  private func read(_ lists: [SharedList]) {
    let begun = lists.filter { $0.begin() }
    guard !begun.isEmpty else { return }
    Task.detached { [self] in
      for list in begun.dropFirst() { Task.detached { await self.read(list) } }
      await read(begun[0])
    }
  }

  /// Why a list could not be read.
  private struct Fault: Error {
    let failure: Failure
    /// Whether it is one of the moment, after which the list is read again. At the start the client gets
    /// every failure.
    let passes: Bool

    init(reading failure: Failure) {
      self.failure = failure
      passes = failure.code == .storageUnavailable || failure.code == .overloaded
    }

    /// There is no room for what the list has become.
    init(tooLarge failure: Failure) {
      self.failure = failure
      passes = false
    }
  }

  /// Reads a list until it is current.
  private func read(_ list: SharedList) async {
    while let job = list.take() {
      let fault: Fault? = await turns.run(list.lanes) {
        let fault: Fault?
        do throws(Fault) {
          try await read(list, job)
          fault = nil
        } catch {
          fault = error
        }
        list.endJob()
        // In the same turn, so that few documents wait at a time.
        if fault == nil { await list.deliver() }
        return fault
      }
      if let fault {
        guard list.isRead, fault.passes else {
          state.withLock { Self.forget(list, in: &$0) }
          list.fail(fault.failure)
          continue
        }
        list.note(.everything)
        try? await sleep(Self.retryPause)
      } else if list.isTouched {
        try? await sleep(Self.pause)
      }
    }
  }

  private func read(_ list: SharedList, _ job: SharedList.Job) async throws(Fault) {
    // Noted before the read, so that the cursor is never ahead of the data.
    let head = cursors.head
    let former: FollowedList?
    let next: FollowedList
    do throws(Failure) {
      switch job {
      case .rows(let known, let keys):
        former = known
        let moment = changed.moment(at: head)
        switch try await entities.follow(
          known, changed: keys, changed, at: moment, list.caller)
        {
        case .same: return meters.noteNone()
        case .next(let read):
          meters.noteRows()
          next = read
        case .unknown: next = try await whole(list, after: known)
        }
      case .whole(let known):
        former = known
        next = try await whole(list, after: known)
      }
    } catch {
      throw Fault(reading: error)
    }
    let isMoved = state.withLock { state in
      guard state.numbered[list.number] === list else { return false }
      return state.index.set(list.number, to: next.dependencies, seenBy: list.viewer)
    }
    // A commit since then can have touched what the list was not known to depend on.
    if isMoved, cursors.head != head { list.note(.everything) }
    var version: ListVersion?
    if next.tag != former?.tag || (!list.hasDocuments && next.hasDocuments) {
      memory.keep(next.vector, tag: next.tag, seenBy: list.viewer)
      let cursor = String(decoding: cursors.cursor(for: list.viewer, at: head), as: UTF8.self)
      version = ListVersion(next, cursor: cursor)
    }
    do throws(Failure) {
      try list.publish(next, version)
    } catch {
      throw Fault(tooLarge: error)
    }
  }

  private func whole(
    _ list: SharedList, after former: FollowedList?
  ) async throws(Failure) -> FollowedList {
    meters.noteWhole()
    do throws(Failure) {
      return try await entities.follow(list.question, list.caller)
    } catch {
      // An entity that no longer exists is a list without entities, and can come back.
      guard let former, error.code == .notFound || error.code == .deleted else { throw error }
      return FollowedList(of: nil, dependencies: former.dependencies)
    }
  }
}
