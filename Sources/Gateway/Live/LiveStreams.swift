import Metrics
package import Model
import Synchronization

/// The live streams that are open, by their ids: a stream is found only by a caller with the same view,
/// and its id cannot be guessed.
package final class LiveStreams: Sendable {
  /// Maximum subjects of one stream.
  package static let subjectsMax = 100
  /// Maximum streams of one device or user.
  static let streamsOfOneMax = 200
  /// Maximum streams of all unauthenticated callers of one network, which many clients can share.
  static let streamsOfNetworkMax = 2_000
  /// Maximum streams. Unauthenticated callers leave half of them to others.
  static let streamsMax = 20_000
  private static let idByteCount = 18

  private struct State {
    var boards: [String: LiveBoard] = [:]
    /// The number of streams by owner.
    var counts: [CallerOwner: Int] = [:]
    var unknownCount = 0
  }

  let devices: DeviceRegistry
  let signal: CommitSignal
  let codec: LivePositionCodec
  private let ledger: ListLedger
  private let random: RandomBytes
  private let state = Mutex(State())
  private let streamCount = Gauge(label: "larder.live.streams")

  /// - Parameter ledger: the one of the lists that subjects follow.
  package init(
    devices: DeviceRegistry, signal: CommitSignal, codec: LivePositionCodec,
    ledger: ListLedger = ListLedger(), random: RandomBytes
  ) {
    self.ledger = ledger
    self.devices = devices
    self.signal = signal
    self.codec = codec
    self.random = random
  }

  /// The number of open streams.
  package var count: Int { state.withLock { $0.boards.count } }

  /// Registers a stream.
  ///
  /// - Parameters:
  ///   - network: the owner for callers without a registered device and a verified user.
  ///   - lastEventID: the id of the last event of a former stream that the client continues.
  package func start(
    _ subjects: [LiveSubject.Requested], by caller: Caller, from network: ClientNetwork,
    lastEventID: String?
  ) throws(Failure) -> LiveStream.Start {
    if signal.hasEnded {
      throw Failure(
        .draining, "The service is shutting down.", retry: .after, retryAfter: .seconds(1))
    }
    let board = LiveBoard(
      id: "s_\(Base64URL.encode(random.bytes(Self.idByteCount)))", caller: caller,
      owner: caller.owner(in: network),
      listener: signal.listen(
        as: Viewer(layers: []), device: caller.revocableID, user: caller.user,
        lifetime: devices.lifetime(of: caller), wantsHeartbeats: true), ledger: ledger)
    // From here on its release removes the listener too.
    let start = LiveStream.Start(board: board, streams: self)
    guard add(board) else {
      throw Failure(
        .rateLimited, "Too many live streams are open; close one, or retry later.", retry: .after,
        retryAfter: .seconds(5))
    }
    try admit(subjects, of: board)
    let positions = lastEventID.map { codec.decode($0, viewer: caller.viewer) } ?? [:]
    try Self.refuse(
      board.change(
        add: subjects, remove: [], by: caller, positions: positions,
        isResumed: lastEventID != nil, subjectsMax: Self.subjectsMax))
    return start
  }

  /// Opens a stream. Must be called by the task that reads it.
  ///
  /// - Parameter problem: renders a failure as a problem document.
  package func open(
    _ start: LiveStream.Start, problem: @escaping @Sendable (Failure) -> [UInt8]
  ) -> LiveStream {
    LiveStream(streams: self, start: start, problem: problem)
  }

  /// Adds and removes subjects of an open stream.
  ///
  /// - Returns: the ids of its subjects.
  package func change(
    _ id: String, add subjects: [LiveSubject.Requested], remove: [String], by caller: Caller
  ) throws(Failure) -> [String] {
    let board = state.withLock { $0.boards[id] }
    guard let board, board.caller.viewer == caller.viewer, board.caller.isAdmin == caller.isAdmin
    else {
      throw Failure(.notFound, "There is no live stream with this id; it may have ended.")
    }
    try admit(subjects, of: board)
    try Self.refuse(
      board.change(add: subjects, remove: remove, by: caller, subjectsMax: Self.subjectsMax))
    return board.subjects
  }

  /// Throws if there is no room for more subjects of the stream's owner.
  private func admit(
    _ subjects: [LiveSubject.Requested], of board: LiveBoard
  ) throws(Failure) {
    guard !subjects.isEmpty else { return }
    try ledger.admit(subjects.reduce(0) { $0 + $1.subject.byteCount }, of: board.owner)
  }

  private static func refuse(_ faults: [Failure.Detail]) throws(Failure) {
    guard faults.isEmpty else {
      throw Failure(
        .malformedRequest, "\(faults.count) of the subjects are invalid.", details: faults)
    }
  }

  // MARK: Counting

  private func add(_ board: LiveBoard) -> Bool {
    let isUnknown = board.owner.isNetwork
    return state.withLock { state in
      guard state.boards.count < Self.streamsMax,
        !isUnknown || state.unknownCount < Self.streamsMax / 2,
        state.counts[board.owner, default: 0]
          < (isUnknown ? Self.streamsOfNetworkMax : Self.streamsOfOneMax)
      else { return false }
      state.boards[board.id] = board
      state.counts[board.owner, default: 0] += 1
      if isUnknown { state.unknownCount += 1 }
      streamCount.record(state.boards.count)
      return true
    }
  }

  func remove(_ board: LiveBoard) {
    board.close()
    signal.remove(board.listener)
    state.withLock { state in
      guard state.boards[board.id] === board else { return }
      state.boards[board.id] = nil
      state.counts[board.owner, default: 1] -= 1
      if state.counts[board.owner] == 0 { state.counts[board.owner] = nil }
      if board.owner.isNetwork { state.unknownCount -= 1 }
      streamCount.record(state.boards.count)
    }
  }
}
