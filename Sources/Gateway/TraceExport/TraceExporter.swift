package import HTTPClient
package import HTTPTypes
import HTTPWire
import LosslessJSON
package import Model
import Synchronization
package import Traces
import Transport

/// Sends spans to an OpenTelemetry collector by OTLP/HTTP with JSON, batch by batch.
///
/// One batch is under way at a time: while a collector is slow or unavailable, spans wait in the
/// ``Traces/SpanBuffer`` and are dropped once it is full. Requests of clients never wait.
package final class TraceExporter: Sendable {
  /// Sends one request with a timeout; `HTTPClient.execute`, or a script in tests.
  package typealias Send =
    @Sendable (HTTPClientRequest, Duration) async throws(HTTPClientError) -> HTTPClientResponse

  /// The collector.
  package struct Destination: Sendable {
    package let url: HTTPURL
    /// Sent with each request; they can contain a key.
    package let headers: HTTPFields

    package init(url: HTTPURL, headers: HTTPFields) {
      self.url = url
      self.headers = headers
    }
  }

  /// The longest time that a span waits for others to fill a batch.
  package static let interval = Duration.seconds(2)
  /// The approximate size of a batch.
  private static let batchBytesMax = 1 << 20
  private static let timeout = Duration.seconds(10)
  private static let responseBytesMax = 64 << 10
  private static let reasonCharactersMax = 500

  private let buffer: SpanBuffer
  private let meters: TraceMeters
  private let destination: Destination
  private let document: TraceDocument
  private let clock: WallClock
  private let chance: @Sendable () -> Double
  private let send: Send
  /// Notified at the end, to cut pauses.
  private let ending: AsyncSignal
  private let ended = AsyncSignal()
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// - Parameters:
  ///   - clock: the clock that a date in `Retry-After` is compared with.
  ///   - chance: returns numbers from 0 to 1, to spread retries.
  ///   - sleep: for pauses between attempts.
  package init(
    _ buffer: SpanBuffer, to destination: Destination, resource: TraceResource,
    meters: TraceMeters, clock: WallClock, chance: @escaping @Sendable () -> Double,
    sleep: @escaping @Sendable (Duration) async throws -> Void, send: @escaping Send
  ) {
    self.buffer = buffer
    self.destination = destination
    self.meters = meters
    self.clock = clock
    self.chance = chance
    self.send = send
    document = TraceDocument(resource: resource)
    ending = AsyncSignal(sleep: sleep)
  }

  package func start() {
    task.withLock { task in
      task = task ?? Task.detached { await self.run() }
    }
  }

  /// Accepts no more spans and exports those that wait, each batch once, at most for `limit`. Then the rest
  /// is dropped.
  package func end(within limit: Duration) async {
    buffer.end()
    ending.notify()
    if let task = task.withLock({ $0 }) {
      await ended.wait(atMost: limit, ignoresCancellation: true)
      task.cancel()
      await task.value
    }
    meters.noteDropped(buffer.count, .ended)
    meters.reportDropped()
  }

  private func run() async {
    defer { ended.notify() }
    while true {
      let seen = buffer.isDue.count
      if buffer.count < SpanBuffer.batchMax, !buffer.hasEnded {
        await buffer.isDue.wait(after: seen, atMost: Self.interval)
      }
      while !Task.isCancelled {
        let spans = buffer.take(bytesMax: Self.batchBytesMax)
        if spans.isEmpty { break }
        await export(spans)
      }
      if Task.isCancelled || (buffer.hasEnded && buffer.count == 0) { return }
    }
  }

  private func export(_ spans: [SpanRecord]) async {
    let body = document.bytes(spans)
    var attempt = 0
    while true {
      attempt += 1
      let step = ExportSchedule.step(
        after: await answer(to: body), attempt: attempt, chance: chance())
      switch step {
      case .done(let rejected, let reason):
        let rejected = min(rejected, spans.count)
        meters.noteExported(spans.count - rejected)
        return meters.noteDropped(rejected, .rejected, cause: reason)
      case .drop(let reason):
        return meters.noteDropped(spans.count, .failed, cause: reason)
      case .retry(let pause, let reason):
        guard !buffer.hasEnded else {
          return meters.noteDropped(spans.count, .failed, cause: reason)
        }
        await ending.wait(atMost: pause)
      }
    }
  }

  private func answer(to body: [UInt8]) async -> ExportSchedule.Answer {
    var fields = destination.headers
    fields[.contentType] = "application/json"
    fields[.accept] = "application/json"
    let request = HTTPClientRequest(
      method: .post, url: destination.url, fields: fields, body: body,
      responseBytesMax: Self.responseBytesMax)
    do throws(HTTPClientError) {
      return answer(try await send(request, Self.timeout))
    } catch {
      switch error {
      case .responseTooLarge, .responseUndecodable: return .unreadable(reason: "\(error)")
      default: return .none(reason: "\(error)")
      }
    }
  }

  private func answer(_ response: HTTPClientResponse) -> ExportSchedule.Answer {
    let status = response.status.code
    guard (200...299).contains(status) else {
      let now = HTTPDate(secondsSince1970: clock.now().milliseconds / 1_000)
      let wait = response.fields[.retryAfter].flatMap { RetryAfter.wait($0, now: now) }
      return .status(status, retryAfter: wait)
    }
    // `ExportTraceServiceResponse`: 64-bit numbers are strings, but some collectors write digits.
    let partial = (try? JSONValue(parsing: response.body))?["partialSuccess"]
    let rejected = partial?["rejectedSpans"]
    let count = rejected?.string.flatMap { Int64($0) } ?? rejected?.int64 ?? 0
    return .accepted(
      rejected: Int(clamping: max(0, count)),
      reason: partial?["errorMessage"]?.string.map {
        String($0.filter { !$0.isNewline }.prefix(Self.reasonCharactersMax))
      })
  }
}
