import DequeModule
import Model
import Synchronization

/// The subjects of one live stream, each with at most one delivery that waits for the writer.
///
/// Each subject has a task that reads its own stream and waits with what it read until the writer has
/// taken it, so a slow client holds up its own subjects and no others, and one busy subject delays the
/// others by one delivery at most: the writer takes deliveries in the order in which they came. What is
/// rendered for the client, see ``StagedSource``, is rendered once little enough waits for the writer.
///
/// Synchronisation: the mutex guards the state. A task ends when its subject is removed or the board is
/// closed.
final class LiveBoard: Sendable {
  /// Subjects of one stream that start at a time, as browsers open six connections to a host.
  private static let startsMax = 6
  /// Once so many bytes wait for the writer, no more events are rendered.
  private static let waitingBytesMax = 64 << 10
  /// The tasks of one stream, for each subject that it can have: those of removed subjects end a moment
  /// later, and a call to upstream goes on until its response.
  private static let tasksOfSubjectMax = 4

  enum Delivery {
    case frames([UInt8])
    case failed(Failure)
    case ended

    var byteCount: Int {
      if case .frames(let frames) = self { frames.count } else { 0 }
    }
  }

  private struct Entry {
    let subject: LiveSubject
    let caller: Caller
    /// Whether the client had the stream that this one continues.
    let isResumed: Bool
    /// The id of the last event that the client got.
    var position: String?
    var task: Task<Void, Never>?
    var delivery: Delivery?
    /// Resumed when the delivery was taken; with false if no more are wanted.
    var taken: CheckedContinuation<Bool, Never>?
    /// Resumed when the subject can render; with false if it no longer needs to.
    var rendering: CheckedContinuation<Bool, Never>?
  }

  private struct State {
    var entries: [UInt64: Entry] = [:]
    var numbers: [ExactText: UInt64] = [:]
    /// Entries with a delivery, in the order in which they came.
    var ready: Deque<UInt64> = []
    /// The bytes of all deliveries.
    var waitingBytes = 0
    /// Whether a subject renders.
    var isRendering = false
    /// Entries that wait until they can render.
    var unrendered: Deque<UInt64> = []
    var lastNumber: UInt64 = 0
    /// The number of tasks that have not ended.
    var tasks = 0
    var isOpen = false
    var isClosed = false
  }

  let id: String
  let caller: Caller
  let owner: CallerOwner
  let listener: ChangeListener
  private let ledger: ListLedger
  private let starts = LaneTurns<UInt8>(laneMax: startsMax, max: startsMax)
  private let state = Mutex(State())

  /// - Parameter ledger: counts what the subjects take.
  init(
    id: String, caller: Caller, owner: CallerOwner, listener: ChangeListener, ledger: ListLedger
  ) {
    self.ledger = ledger
    self.id = id
    self.caller = caller
    self.owner = owner
    self.listener = listener
  }

  // MARK: Subjects

  /// The ids of the subjects, in the order in which they were added.
  var subjects: [String] {
    state.withLock { state in
      state.entries.sorted { $0.key < $1.key }.map(\.value.subject.id)
    }
  }

  var count: Int { state.withLock { $0.entries.count } }

  /// Adds and removes subjects: all of them, or none if there is a fault.
  ///
  /// - Parameters:
  ///   - removed: ids; unknown ones are ignored, since a subject can have ended by itself.
  ///   - positions: where subjects continue, by their digests.
  ///   - isResumed: whether the client continues a former stream.
  /// - Returns: the faults.
  func change(
    add added: [LiveSubject.Requested], remove removed: [String], by caller: Caller,
    positions: [[UInt8]: String] = [:], isResumed: Bool = false, subjectsMax: Int
  ) -> [Failure.Detail] {
    var begun: [UInt64] = []
    var gone: [Entry] = []
    let faults = state.withLock { state -> [Failure.Detail] in
      // Nothing would end what is added now.
      if state.isClosed { return [] }
      let leaving = Set(removed.map { ExactText($0) })
      var taken = Set(state.numbers.keys).subtracting(leaving)
      var faults: [Failure.Detail] = []
      for request in added where !taken.insert(ExactText(request.subject.id)).inserted {
        faults.append(
          Failure.Detail(
            place: .pointer("\(request.pointer)/id"),
            detail: "\(request.subject.id) is the id of another subject"))
      }
      if faults.isEmpty, taken.count > subjectsMax {
        faults.append(
          Failure.Detail(
            place: .pointer(""),
            detail:
              "the stream would have \(taken.count) subjects; at most \(subjectsMax) are allowed"
          ))
      }
      if faults.isEmpty, state.tasks + added.count > Self.tasksOfSubjectMax * subjectsMax {
        faults.append(
          Failure.Detail(
            place: .pointer(""),
            detail: "the stream's subjects change too often; removed ones are still ending"))
      }
      guard faults.isEmpty else { return faults }
      for id in leaving { if let entry = remove(id, in: &state) { gone.append(entry) } }
      for request in added {
        state.lastNumber += 1
        let subject = request.subject
        state.entries[state.lastNumber] = Entry(
          subject: subject, caller: caller, isResumed: isResumed,
          position: positions[subject.digest])
        state.numbers[ExactText(subject.id)] = state.lastNumber
        ledger.note(events: subject.byteCount, of: owner)
        begun.append(state.lastNumber)
      }
      if !state.isOpen || state.isClosed { begun = [] }
      state.tasks += begun.count
      return []
    }
    for entry in gone { Self.end(entry) }
    renderNext()
    for number in begun { begin(number) }
    return faults
  }

  private func remove(_ id: ExactText, in state: inout State) -> Entry? {
    guard let number = state.numbers.removeValue(forKey: id) else { return nil }
    state.ready.removeAll { $0 == number }
    state.unrendered.removeAll { $0 == number }
    guard let entry = state.entries.removeValue(forKey: number) else { return nil }
    state.waitingBytes -= entry.delivery?.byteCount ?? 0
    ledger.note(events: -entry.subject.byteCount, of: owner)
    return entry
  }

  private static func end(_ entry: Entry) {
    entry.task?.cancel()
    entry.taken?.resume(returning: false)
    entry.rendering?.resume(returning: false)
  }

  /// Begins to read all subjects.
  ///
  /// - Returns: the subjects that continue where the client was.
  func open() -> [String] {
    let (numbers, resumed) = state.withLock { state in
      state.isOpen = true
      let sorted = state.entries.sorted { $0.key < $1.key }
      state.tasks += sorted.count
      return (sorted.map(\.key), sorted.filter { $0.value.position != nil }.map(\.value.subject.id))
    }
    for number in numbers { begin(number) }
    return resumed
  }

  /// Ends all subjects; later ones do not begin.
  func close() {
    let entries = state.withLock { state in
      state.isClosed = true
      defer {
        state.entries = [:]
        state.numbers = [:]
        state.ready = []
        state.waitingBytes = 0
        state.unrendered = []
      }
      return Array(state.entries.values)
    }
    for entry in entries {
      ledger.note(events: -entry.subject.byteCount, of: owner)
      Self.end(entry)
    }
  }

  // MARK: The subjects' tasks

  private func begin(_ number: UInt64) {
    let task = Task.detached { [self] in
      await read(number)
      state.withLock { $0.tasks -= 1 }
    }
    let isKept = state.withLock { state in
      guard state.entries[number] != nil else { return false }
      state.entries[number]?.task = task
      return true
    }
    if !isKept { task.cancel() }
  }

  private func read(_ number: UInt64) async {
    do throws(Failure) {
      guard let opening = try await start(number) else { return }
      let source = opening()
      if let staged = source as? any StagedSource {
        guard try await read(staged, number) else { return }
      } else {
        while let frames = try await source.next() {
          // The live stream has heartbeats of its own.
          if frames == EventFrame.comment { continue }
          guard await deliver(.frames(frames), of: number) else { return }
        }
      }
      _ = await deliver(.ended, of: number)
    } catch {
      _ = await deliver(.failed(error), of: number)
    }
  }

  /// Reads a source that renders in its turn.
  ///
  /// - Returns: false if no more are wanted.
  private func read(_ source: any StagedSource, _ number: UInt64) async throws(Failure) -> Bool {
    while try await source.ready() {
      guard await beginRendering(number) else { return false }
      let frames: [UInt8]?
      do throws(Failure) {
        frames = try source.take()
      } catch {
        endRendering()
        throw error
      }
      guard let frames else {
        endRendering()
        continue
      }
      guard await deliver(.frames(frames), of: number, isRendered: true) else { return false }
    }
    return true
  }

  // MARK: Rendering

  /// Waits until no other subject renders and little enough waits for the writer.
  ///
  /// - Returns: false if the subject was removed.
  private func beginRendering(_ number: UInt64) async -> Bool {
    await withCheckedContinuation { continuation in
      let isWanted = state.withLock { state in
        guard state.entries[number] != nil else { return false }
        state.entries[number]?.rendering = continuation
        state.unrendered.append(number)
        return true
      }
      if isWanted { renderNext() } else { continuation.resume(returning: false) }
    }
  }

  private func endRendering() {
    state.withLock { $0.isRendering = false }
    renderNext()
  }

  /// Lets the next subject render, if it can.
  private func renderNext() {
    let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
      guard !state.isRendering, state.waitingBytes < Self.waitingBytesMax,
        let number = state.unrendered.popFirst(), let next = state.entries[number]?.rendering
      else { return nil }
      state.entries[number]?.rendering = nil
      state.isRendering = true
      return next
    }
    next?.resume(returning: true)
  }

  private func start(_ number: UInt64) async throws(Failure) -> (@Sendable () -> any EventSource)? {
    let started = await starts.run([0]) { () -> Result<@Sendable () -> any EventSource, Failure>? in
      guard let entry = state.withLock({ $0.entries[number] }) else { return nil }
      do throws(Failure) {
        return .success(
          try await entry.subject.source.start(
            for: entry.caller, at: entry.position, isResumed: entry.isResumed))
      } catch {
        return .failure(error)
      }
    }
    return try started?.get()
  }

  /// Leaves a delivery for the writer and waits until it was taken.
  ///
  /// - Parameter isRendered: whether the subject rendered it, which lets the next one render.
  /// - Returns: false if no more are wanted.
  private func deliver(
    _ delivery: Delivery, of number: UInt64, isRendered: Bool = false
  ) async -> Bool {
    await withCheckedContinuation { continuation in
      let isWanted = state.withLock { state in
        if isRendered { state.isRendering = false }
        guard state.entries[number] != nil else { return false }
        state.entries[number]?.delivery = delivery
        state.entries[number]?.taken = continuation
        state.ready.append(number)
        state.waitingBytes += delivery.byteCount
        return true
      }
      if isRendered { renderNext() }
      guard isWanted else { return continuation.resume(returning: false) }
      listener.wake(.commit)
    }
  }

  // MARK: The writer

  /// Takes the next delivery; nil if there is none. A subject that ended or failed is removed.
  func take() -> (subject: String, delivery: Delivery)? {
    var taken: CheckedContinuation<Bool, Never>?
    let found = state.withLock { state -> (String, Delivery)? in
      guard let number = state.ready.popFirst(), let entry = state.entries[number],
        let delivery = entry.delivery
      else { return nil }
      taken = entry.taken
      state.waitingBytes -= delivery.byteCount
      state.entries[number]?.delivery = nil
      state.entries[number]?.taken = nil
      if case .frames = delivery {
      } else {
        _ = remove(ExactText(entry.subject.id), in: &state)
      }
      return (entry.subject.id, delivery)
    }
    taken?.resume(returning: true)
    renderNext()
    return found
  }

  /// Notes the id of the last event that is written of a subject; an empty one means that the client has
  /// nothing to continue from.
  func note(position: String, of subject: String) {
    state.withLock { state in
      guard let number = state.numbers[ExactText(subject)] else { return }
      state.entries[number]?.position = position.isEmpty ? nil : position
    }
  }

  /// The positions of all subjects that have one, by digest, in the order in which they were added.
  var positions: [(digest: [UInt8], id: String)] {
    state.withLock { state in
      state.entries.sorted { $0.key < $1.key }.compactMap { _, entry in
        entry.position.map { (entry.subject.digest, $0) }
      }
    }
  }
}
