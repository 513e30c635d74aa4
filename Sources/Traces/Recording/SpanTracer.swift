package import Tracing

/// The tracer of one service: makes spans, decides which are recorded, and buffers them for export.
///
/// It is passed to what needs it, not installed for the process: several services can run in one.
package final class SpanTracer: Tracer {
  package typealias Span = TraceSpan

  package let ratio: SamplingRatio
  package let buffer: SpanBuffer
  private let random: @Sendable () -> UInt64
  private let clock: @Sendable () -> UInt64

  /// - Parameters:
  ///   - ratio: the share of traces that begin here and are recorded. For others the caller decides.
  ///   - random: makes ids; unguessable, since other services trust that no two are the same.
  ///   - clock: returns nanoseconds since 1970.
  package init(
    ratio: SamplingRatio, buffer: SpanBuffer, random: @escaping @Sendable () -> UInt64,
    clock: @escaping @Sendable () -> UInt64 = { DefaultTracerClock.now.nanosecondsSinceEpoch }
  ) {
    self.ratio = ratio
    self.buffer = buffer
    self.random = random
    self.clock = clock
  }

  /// Nanoseconds since 1970.
  package func now() -> UInt64 { clock() }

  /// Begins a new trace.
  package func root(isSampled: Bool) -> TraceContext {
    TraceContext(
      traceID: TraceID(random: random), spanID: SpanID(random: random), isSampled: isSampled,
      isRandom: true)
  }

  /// Starts the first span of a trace in this service.
  ///
  /// - Parameters:
  ///   - parent: the caller's span, in another process; nil begins a trace.
  ///   - isSampled: the decision for a trace that begins; otherwise the parent's counts.
  ///   - start: nanoseconds since 1970; now if nil.
  package func entry(
    _ name: String, kind: SpanKind, parent: TraceContext?, isSampled: Bool, start: UInt64? = nil
  ) -> TraceSpan {
    guard let parent else {
      return TraceSpan(
        name, trace: root(isSampled: isSampled), parent: nil, hasRemoteParent: false, kind: kind,
        start: start ?? clock(), tracer: self)
    }
    return begin(name, kind: kind, below: parent, isRemote: true, start: start)
  }

  /// Starts a span that was caused by another one some time ago: the first of its own trace, with a link.
  /// It is recorded if that one was.
  ///
  /// - Parameter cause: nil if it is unknown; the ratio decides then.
  package func follow(_ name: String, kind: SpanKind, cause: TraceContext?) -> TraceSpan {
    let span = TraceSpan(
      name, trace: root(isSampled: cause?.isSampled ?? ratio.includes(random())), parent: nil,
      hasRemoteParent: false, kind: kind, start: clock(), tracer: self)
    if let cause { span.addLink(to: cause) }
    return span
  }

  func begin(
    _ name: String, kind: SpanKind, below parent: TraceContext, isRemote: Bool = false,
    start: UInt64? = nil
  ) -> TraceSpan {
    let trace = TraceContext(
      traceID: parent.traceID, spanID: SpanID(random: random), isSampled: parent.isSampled,
      isRandom: parent.isRandom, state: parent.state)
    return TraceSpan(
      name, trace: trace, parent: parent.spanID, hasRemoteParent: isRemote, kind: kind,
      start: start ?? clock(), tracer: self)
  }

  func finish(_ span: SpanRecord) { buffer.add(span) }

  // MARK: The interface of swift-distributed-tracing

  package func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> TraceSpan {
    let start = instant().nanosecondsSinceEpoch
    guard let active = context().trace else {
      return entry(
        operationName, kind: kind, parent: nil, isSampled: ratio.includes(random()), start: start)
    }
    return begin(
      operationName, kind: kind, below: active.context, isRemote: active.tracer == nil,
      start: start)
  }

  package func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let parent = extractor.extract(key: TraceFieldNames.parent, from: carrier) else { return }
    let state = extractor.extract(key: TraceFieldNames.state, from: carrier)
    guard
      let trace = TraceContext(
        parents: [ArraySlice(parent.utf8)], states: state.map { [ArraySlice($0.utf8)] } ?? [])
    else { return }
    context.trace = ActiveTrace(trace)
  }

  package func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let trace = context.trace?.context else { return }
    trace.inject { injector.inject($1, forKey: $0, into: &carrier) }
  }

  package func forceFlush() { buffer.wakeExporter() }
}

/// The names of the fields of W3C Trace Context, in lower case.
package enum TraceFieldNames {
  package static let parent = "traceparent"
  package static let state = "tracestate"
}

extension TraceContext {
  /// Calls a closure with the name and value of each field that tells another service this context.
  package func inject(_ write: (_ name: String, _ value: String) -> Void) {
    write(TraceFieldNames.parent, traceparent)
    if !state.isEmpty { write(TraceFieldNames.state, state) }
  }
}
