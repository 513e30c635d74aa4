package import Tracing

/// The trace that a task works for.
///
/// It travels in the task's `ServiceContext`, which child tasks inherit and detached ones do not.
package struct ActiveTrace: Sendable {
  /// What is told to the services that the task calls.
  package let context: TraceContext
  /// The span of the current work; nil if the trace is not recorded.
  package let span: TraceSpan?
  /// The tracer of spans below this one; nil if traces are only passed on.
  package let tracer: SpanTracer?

  package init(_ context: TraceContext, span: TraceSpan? = nil, tracer: SpanTracer? = nil) {
    self.context = context
    self.span = span
    self.tracer = tracer
  }

  /// A context with this trace and nothing else.
  package var serviceContext: ServiceContext {
    var context = ServiceContext.topLevel
    context.trace = self
    return context
  }
}

private enum ActiveTraceKey: ServiceContextKey {
  typealias Value = ActiveTrace
  static let nameOverride: String? = "trace"
}

extension ServiceContext {
  package var trace: ActiveTrace? {
    get { self[ActiveTraceKey.self] }
    set { self[ActiveTraceKey.self] = newValue }
  }
}

/// The trace of the current task.
package enum CurrentTrace {
  /// Nil outside of a trace.
  package static var active: ActiveTrace? { ServiceContext.current?.trace }

  /// The id for log lines; nil outside of a trace. It is there for traces that are not recorded too.
  package static var id: TraceID? { active?.context.traceID }

  /// The recorded span of the current work; nil if nothing is recorded.
  package static var span: TraceSpan? { active?.span }

  /// Performs work as a span below the current one, which ends with it. A thrown error marks the span as
  /// failed.
  ///
  /// - Parameter work: gets nil if nothing is recorded.
  package static func within<Value, Fault: Error>(
    _ name: @autoclosure () -> String, kind: SpanKind = .internal,
    _ work: (TraceSpan?) async throws(Fault) -> Value
  ) async throws(Fault) -> Value {
    guard let span = span?.child(name(), kind: kind) else { return try await work(nil) }
    return try await span.during { () async throws(Fault) in try await work(span) }
  }
}
