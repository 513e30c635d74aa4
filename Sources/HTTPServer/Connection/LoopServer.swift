import HTTPWire
import Transport

/// The server on one loop: accepts connections and holds their shared state.
final class LoopServer: StreamAcceptor, TimerDelegate {
  /// How often counters and access log entries are flushed, while there are any: rare enough to cost
  /// nothing, and short enough for readers of the log.
  private static let tallyInterval: Duration = .milliseconds(250)
  /// The size at which access log entries are flushed early: about two hundred requests.
  private static let notesBytesMax = 32 * 1024

  let shared: ServerShared
  // Copies of values that every request needs: each access through a shared object costs a retain.
  let limits: ServerLimits
  private(set) var handler: any RequestHandler
  private(set) var term: HandlerTerm
  /// Increased with each replacement of the handler.
  private(set) var termNumber = 0
  /// Whether requests wait for another handler.
  var isHolding = false
  let accessLog: (any AccessLog)?
  /// `nil` without tracing.
  let tracing: LoopTracing?
  let rates: RateLimiter?
  let idleNanoseconds: UInt64
  let ageNanosecondsMax: UInt64
  let stamp: ResponseStamp
  let gzip = GzipEncoder.Pool()
  /// The output of the session at work in this turn; kept between turns for its storage.
  var output: [UInt8] = []
  var tally: LoopTally
  private(set) var names: RequestNames
  private var notes: [UInt8] = []
  private(set) var isDraining = false
  private(set) var sessions: Set<SessionReference> = []
  private var tallyTimer: LoopTimer?
  var shortage = Shortage.none

  init(shared: ServerShared, place: HandlerPlace, on reactor: isolated Reactor) {
    self.shared = shared
    limits = shared.limits
    term = place.term
    handler = term.handler
    names = handler.names
    tally = LoopTally(operationCount: names.operations.count)
    accessLog = shared.configuration.accessLog
    tracing = shared.configuration.tracer.map {
      LoopTracing($0, seed: shared.configuration.makeSeed())
    }
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
    joinEviction(on: reactor)
    join(place, on: reactor)
  }

  /// Uses the handler of another term for the requests that begin from now on.
  func replace(by term: HandlerTerm) {
    addTally()
    self.term = term
    handler = term.handler
    names = handler.names
    tally = LoopTally(operationCount: names.operations.count)
    termNumber += 1
  }

  /// Starts a session for a registered connection.
  func begin(
    _ stream: ByteStream, _ admission: Admission, on reactor: isolated Reactor
  ) -> ServerSession {
    let session = ServerSession(stream: stream, server: self, admission: admission, on: reactor)
    sessions.insert(SessionReference(session))
    tally.connections += 1
    noteCounted(on: reactor)
    return session
  }

  /// Removes a session whose stream has closed.
  func ended(_ session: ServerSession, on reactor: isolated Reactor) {
    guard sessions.remove(SessionReference(session)) != nil else { return }
    switch session.admission {
    case .admitted: shared.connections.leavePlace()
    case .evicted: shared.connections.evictionEnded()
    case .waiting, .refused: break
    }
    // Once the registry is empty the server can end, and no timer fires any more.
    if isDraining || sessions.isEmpty { flushNotes() }
    shared.connections.leave(session.stream.remoteAddress)
    noteCounted(on: reactor)
  }

  /// Schedules a flush of the counters. No timer runs while nothing is counted.
  @inline(__always)
  func noteCounted(on reactor: isolated Reactor) {
    guard let tallyTimer, tallyTimer.deadline == nil else { return }
    tallyTimer.set(after: Self.tallyInterval)
  }

  /// Whether requests are currently written to the access log.
  var isLogging: Bool { accessLog?.isOn ?? false }

  /// Adds a request to the access log.
  func log(_ entry: borrowing AccessLogEntry) {
    accessLog?.append(entry, to: &notes)
    if notes.count >= Self.notesBytesMax { flushNotes() }
  }

  private func flushNotes() {
    guard !notes.isEmpty else { return }
    accessLog?.take(notes)
    notes = []
  }

  func timerFired(_ timer: LoopTimer, on reactor: isolated Reactor) {
    flushNotes()
    addTally()
  }

  private func addTally() {
    shared.counters.add(tally, names: names)
    tally.clear()
  }

  private func beginDraining(on reactor: isolated Reactor) {
    isDraining = true
    for reference in sessions { reference.session.beginDraining() }
  }

  private func cutOffAll() {
    for reference in sessions { reference.session.stream.reset() }
  }

  private func watch(
    _ signal: AsyncSignal, on reactor: isolated Reactor,
    then act: @escaping (LoopServer) -> Void
  ) {
    Task {
      _ = reactor
      await signal.wait(ignoresCancellation: true)
      act(self)
    }
  }
}

/// State shared by the loops of one server.
struct ServerShared: Sendable {
  let configuration: HTTPServerConfiguration
  let connections: ConnectionRegistry
  let eviction: IdleEviction
  /// Notified once, when the server is to end.
  let drain: AsyncSignal
  /// Notified when the remaining connections are to be reset.
  let cutOff: AsyncSignal
  let counters: ServerCounters
  /// `nil` without a rate limit.
  let rates: RateLimiter?
  let blockingPool: BlockingPool

  var limits: ServerLimits { configuration.limits }
}

extension Reactor {
  /// Runs a closure on the loop.
  func ask<Value: Sendable>(_ body: @Sendable (isolated Reactor) -> Value) -> Value {
    body(self)
  }
}
