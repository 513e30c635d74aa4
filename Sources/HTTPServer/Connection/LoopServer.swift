import HTTPWire
import Transport

/// The server's part on one loop: takes connections and holds what they share.
final class LoopServer: StreamAcceptor, TimerDelegate {
  /// How often counted numbers and the access log's notes are handed over, while there are any:
  /// seldom enough to cost nothing, and whoever follows the log does not notice.
  private static let tallyInterval: Duration = .milliseconds(250)
  /// Notes handed over before their time: some two hundred requests.
  private static let notesBytesMax = 32 * 1024

  let shared: ServerShared
  // What every request asks for stands here itself: each step into a shared value is a retain.
  let limits: ServerLimits
  let handler: any RequestHandler
  let accessLog: (any AccessLog)?
  let rates: RateLimiter?
  let idleNanoseconds: UInt64
  let ageNanosecondsMax: UInt64
  let stamp: ResponseStamp
  let gzip = GzipEncoder.Pool()
  /// What is written in this turn, by the one session that is at work; kept for its storage.
  var output: [UInt8] = []
  var tally = LoopTally()
  private var notes: [UInt8] = []
  private(set) var isDraining = false
  private(set) var sessions: Set<SessionReference> = []
  private var tallyTimer: LoopTimer?
  var shortage = Shortage.none

  init(shared: ServerShared, handler: any RequestHandler, on reactor: isolated Reactor) {
    self.shared = shared
    limits = shared.limits
    self.handler = handler
    accessLog = shared.configuration.accessLog
    rates = shared.rates
    idleNanoseconds = LoopInstant.nanoseconds(in: shared.limits.idleDeadline)
    ageNanosecondsMax = LoopInstant.nanoseconds(in: shared.limits.connectionAgeMax)
    stamp = ResponseStamp(
      seed: shared.configuration.makeSeed(),
      strictTransportAge: shared.configuration.strictTransportAge)
    tallyTimer = LoopTimer(delegate: self, on: reactor)
    output.reserveCapacity(16 * 1024)
    watch(shared.drain, on: reactor) { $0.beginDraining(on: reactor) }
    watch(shared.cutOff, on: reactor) { $0.cutOffAll() }
    joinShedding(on: reactor)
  }

  /// Serves a connection that was entered.
  func begin(
    _ stream: ByteStream, _ admission: Admission, on reactor: isolated Reactor
  ) -> ServerSession {
    let session = ServerSession(stream: stream, server: self, admission: admission, on: reactor)
    sessions.insert(SessionReference(session))
    tally.connections += 1
    noteCounted(on: reactor)
    return session
  }

  /// A session's stream is over.
  func ended(_ session: ServerSession, on reactor: isolated Reactor) {
    guard sessions.remove(SessionReference(session)) != nil else { return }
    switch session.admission {
    case .admitted: shared.book.leavePlace()
    case .shed: shared.book.shedHasEnded()
    case .waiting, .refused: break
    }
    // Once the book is empty the server may be over, and no timer will come.
    if isDraining || sessions.isEmpty { handOverNotes() }
    shared.book.leave(session.stream.remoteAddress)
    noteCounted(on: reactor)
  }

  /// Has the tally handed over soon. Nothing ticks while nothing is counted.
  @inline(__always)
  func noteCounted(on reactor: isolated Reactor) {
    guard let tallyTimer, tallyTimer.deadline == nil else { return }
    tallyTimer.set(after: Self.tallyInterval)
  }

  /// Whether requests are noted in the access log now.
  var isLogging: Bool { accessLog?.isOn ?? false }

  /// Has the access log take a note of a request.
  func log(_ entry: borrowing AccessLogEntry) {
    accessLog?.append(entry, to: &notes)
    if notes.count >= Self.notesBytesMax { handOverNotes() }
  }

  private func handOverNotes() {
    guard !notes.isEmpty else { return }
    accessLog?.take(notes)
    notes = []
  }

  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    handOverNotes()
    shared.counters.add(tally)
    shared.counters.setOpen(shared.book.total)
    tally = LoopTally()
  }

  private func beginDraining(on reactor: isolated Reactor) {
    isDraining = true
    for reference in sessions { reference.session.beginDraining() }
  }

  private func cutOffAll() {
    for reference in sessions { reference.session.stream.reset() }
  }

  private func watch(
    _ signal: DrainSignal, on reactor: isolated Reactor,
    then act: @escaping (LoopServer) -> Void
  ) {
    Task {
      _ = reactor
      await signal.wait()
      act(self)
    }
  }
}
