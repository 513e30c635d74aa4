import Synchronization
package import Tracing

/// A span of this service. One that is not sampled records nothing and only carries its trace on.
package final class TraceSpan: Span {
  private struct State {
    var name: String
    var attributes: SpanAttributes = [:]
    var links: [SpanRecord.Link] = []
    var status: SpanStatus?
    var hasEnded = false
  }

  /// A span with more links keeps the first ones.
  private static let linksMax = 32
  /// Longer texts are cut.
  package static let textBytesMax = 1_024

  package let trace: TraceContext
  private let parent: SpanID?
  private let hasRemoteParent: Bool
  private let kind: SpanKind
  private let start: UInt64
  private let tracer: SpanTracer
  private let state: Mutex<State>

  init(
    _ name: String, trace: TraceContext, parent: SpanID?, hasRemoteParent: Bool, kind: SpanKind,
    start: UInt64, tracer: SpanTracer
  ) {
    self.trace = trace
    self.parent = parent
    self.hasRemoteParent = hasRemoteParent
    self.kind = kind
    self.start = start
    self.tracer = tracer
    state = Mutex(State(name: name))
  }

  /// The trace of work below this span.
  package var active: ActiveTrace {
    ActiveTrace(trace, span: isSampled ? self : nil, tracer: tracer)
  }

  package var context: ServiceContext { active.serviceContext }

  package var isSampled: Bool { trace.isSampled }

  package var isRecording: Bool { isSampled && !state.withLock { $0.hasEnded } }

  package var operationName: String {
    get { state.withLock { $0.name } }
    set { change { $0.name = Self.cut(newValue) } }
  }

  package var attributes: SpanAttributes {
    get { state.withLock { $0.attributes } }
    set { change { $0.attributes = newValue } }
  }

  package func set(_ name: String, _ value: String) {
    change { $0.attributes.set(name, value: .string(Self.cut(value))) }
  }

  package func set(_ name: String, _ value: Int) {
    change { $0.attributes.set(name, value: .int64(Int64(value))) }
  }

  package func setStatus(_ status: SpanStatus) { change { $0.status = status } }

  /// Marks the span as failed.
  ///
  /// - Parameter type: one of a limited number of names, such as a status or the name of an error.
  package func fail(_ type: String) {
    set("error.type", type)
    setStatus(SpanStatus(code: .error))
  }

  /// Events are not exported: this service records none.
  package func addEvent(_ event: SpanEvent) {}

  /// Notes the type of the error, unless a more exact one is noted already. Its text is not recorded, since it can contain data of callers.
  package func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    change {
      if $0.attributes.get("error.type") == nil {
        $0.attributes.set("error.type", value: .string(String(describing: type(of: error))))
      }
    }
  }

  package func addLink(_ link: SpanLink) {
    guard let linked = link.context.trace?.context else { return }
    addLink(to: linked, attributes: link.attributes)
  }

  package func addLink(to linked: TraceContext, attributes: SpanAttributes = [:]) {
    change {
      guard $0.links.count < Self.linksMax else { return }
      $0.links.append(SpanRecord.Link(context: linked, attributes: attributes))
    }
  }

  package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    end(atNanoseconds: instant().nanosecondsSinceEpoch)
  }

  package func end() { end(atNanoseconds: tracer.now()) }

  /// - Parameter end: nanoseconds since 1970. The first end counts.
  package func end(atNanoseconds end: UInt64) {
    guard isSampled else { return }
    let ended: State? = state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      return state
    }
    guard let ended else { return }
    // A clock that was set back in the meantime must not make a negative duration.
    tracer.finish(
      SpanRecord(
        context: trace, parent: parent, hasRemoteParent: hasRemoteParent, name: ended.name,
        kind: kind, start: start, end: max(start, end), attributes: ended.attributes,
        links: ended.links, status: ended.status))
  }

  /// Starts a span below this one; nil if nothing is recorded.
  package func child(_ name: String, kind: SpanKind = .internal) -> TraceSpan? {
    guard isSampled else { return nil }
    return tracer.begin(name, kind: kind, below: trace)
  }

  /// Performs work as the current span of its task, and ends the span. A thrown error marks it as failed.
  package func during<Value, Fault: Error>(
    _ work: () async throws(Fault) -> Value
  ) async throws(Fault) -> Value {
    let result: Result<Value, Fault> = await ServiceContext.withValue(context) {
      do throws(Fault) {
        return .success(try await work())
      } catch {
        return .failure(error)
      }
    }
    if case .failure(let error) = result {
      recordError(error)
      setStatus(SpanStatus(code: .error))
    }
    end()
    return try result.get()
  }

  private func change(_ body: (inout State) -> Void) {
    guard isSampled else { return }
    state.withLock { state in
      if !state.hasEnded { body(&state) }
    }
  }

  private static func cut(_ text: String) -> String {
    guard text.utf8.count > textBytesMax else { return text }
    return String(decoding: text.utf8.prefix(textBytesMax), as: UTF8.self)
  }
}
