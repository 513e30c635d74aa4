package import Tracing

/// A span that has ended, as it is exported.
package struct SpanRecord: Sendable {
  /// Another span that this one concerns without being its child.
  package struct Link: Sendable {
    package let context: TraceContext
    package let attributes: SpanAttributes
  }

  package let context: TraceContext
  /// Nil for the first span of a trace.
  package let parent: SpanID?
  /// Whether the parent is a span of another process.
  package let hasRemoteParent: Bool
  package let name: String
  package let kind: SpanKind
  /// Nanoseconds since 1970.
  package let start: UInt64
  /// Nanoseconds since 1970; not before ``start``.
  package let end: UInt64
  package let attributes: SpanAttributes
  package let links: [Link]
  package let status: SpanStatus?

  /// The approximate size in memory, and of the JSON it becomes.
  package var byteCount: Int {
    var count = Self.fixedBytes + name.utf8.count + context.state.utf8.count
    func add(_ name: String, _ value: SpanAttribute) {
      count += Self.attributeBytes + name.utf8.count
      if case .string(let text) = value { count += text.utf8.count }
    }
    attributes.forEach(add)
    for link in links { count += Self.linkBytes + link.context.state.utf8.count }
    return count
  }

  private static let fixedBytes = 256
  private static let attributeBytes = 48
  private static let linkBytes = 160
}
