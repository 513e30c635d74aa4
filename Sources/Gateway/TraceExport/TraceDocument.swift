import LosslessJSON
import Traces
import Tracing

/// The service that traces are exported for (OpenTelemetry's semantic conventions, "service").
package struct TraceResource: Hashable, Sendable {
  /// `service.name`, the same for all instances.
  package let name: String
  /// `service.version`.
  package let version: String
  /// `service.instance.id`: unique to this start of the process.
  package let instance: String

  package init(name: String, version: String, instance: String) {
    self.name = name
    self.version = version
    self.instance = instance
  }
}

/// The body of an export: `ExportTraceServiceRequest` as JSON (OTLP 1.x, "JSON Protobuf Encoding": ids in
/// hexadecimal, 64-bit numbers as strings, enums as numbers).
struct TraceDocument {
  /// The version of the semantic conventions that the names of attributes are of.
  static let schema = "https://opentelemetry.io/schemas/1.37.0"

  let resource: TraceResource

  func bytes(_ spans: [SpanRecord]) -> [UInt8] {
    var writer = JSONWriter()
    writer.reserve(spans.reduce(1_024) { $0 + $1.byteCount * 2 })
    writer.object {
      $0.array("resourceSpans") { writer in
        writer.object { writer in
          writer.object("resource") { $0.attributes(resourceAttributes) }
          writer.array("scopeSpans") { writer in
            writer.object { writer in
              writer.object("scope") {
                $0.member("name", "larder")
                $0.member("version", resource.version)
              }
              writer.array("spans") { writer in
                for span in spans { writer.span(span) }
              }
              writer.member("schemaUrl", Self.schema)
            }
          }
          writer.member("schemaUrl", Self.schema)
        }
      }
    }
    return writer.bytes
  }

  private var resourceAttributes: SpanAttributes {
    [
      "service.name": .string(resource.name), "service.version": .string(resource.version),
      "service.instance.id": .string(resource.instance),
    ]
  }
}

extension JSONWriter {
  fileprivate mutating func object(_ body: (inout JSONWriter) -> Void) {
    beginObject()
    body(&self)
    endObject()
  }

  fileprivate mutating func object(_ name: String, _ body: (inout JSONWriter) -> Void) {
    self.name(name)
    object(body)
  }

  fileprivate mutating func array(_ name: String, _ body: (inout JSONWriter) -> Void) {
    self.name(name)
    beginArray()
    body(&self)
    endArray()
  }

  fileprivate mutating func member(_ name: String, _ value: String) {
    self.name(name)
    string(value)
  }

  fileprivate mutating func member(_ name: String, number value: Int) {
    self.name(name)
    int(value)
  }

  fileprivate mutating func span(_ span: SpanRecord) {
    object { writer in
      writer.ids(of: span.context)
      if let parent = span.parent { writer.member("parentSpanId", "\(parent)") }
      writer.member(
        "flags", number: Int(span.context.flags) | SpanFlags.of(isRemote: span.hasRemoteParent))
      writer.member("name", span.name)
      writer.member("kind", number: span.kind.number)
      writer.member("startTimeUnixNano", "\(span.start)")
      writer.member("endTimeUnixNano", "\(span.end)")
      writer.attributes(span.attributes)
      if !span.links.isEmpty {
        writer.array("links") { writer in
          for link in span.links {
            writer.object { writer in
              writer.ids(of: link.context)
              writer.member(
                "flags", number: Int(link.context.flags) | SpanFlags.of(isRemote: false))
              writer.attributes(link.attributes)
            }
          }
        }
      }
      if let status = span.status {
        writer.object("status") { writer in
          writer.member("code", number: status.code.number)
          if let message = status.message { writer.member("message", message) }
        }
      }
    }
  }

  private mutating func ids(of context: TraceContext) {
    member("traceId", "\(context.traceID)")
    member("spanId", "\(context.spanID)")
    if !context.state.isEmpty { member("traceState", context.state) }
  }

  /// Writes attributes in alphabetical order; those of kinds that this service does not use are left out.
  fileprivate mutating func attributes(_ attributes: SpanAttributes) {
    var all: [(name: String, value: SpanAttribute)] = []
    func add(_ name: String, _ value: SpanAttribute) { all.append((name, value)) }
    attributes.forEach(add)
    guard !all.isEmpty else { return }
    array("attributes") { writer in
      for (name, value) in all.sorted(by: { $0.name < $1.name }) {
        guard let value = AttributeValue(value) else { continue }
        writer.object { writer in
          writer.member("key", name)
          writer.object("value") { value.write(to: &$0) }
        }
      }
    }
  }
}

/// The kinds of attribute values that are exported (`AnyValue`).
private enum AttributeValue {
  case text(String)
  case number(Int64)
  case flag(Bool)

  init?(_ value: SpanAttribute) {
    switch value {
    case .string(let text): self = .text(text)
    case .int64(let number): self = .number(number)
    case .int32(let number): self = .number(Int64(number))
    case .bool(let flag): self = .flag(flag)
    default: return nil
    }
  }

  func write(to writer: inout JSONWriter) {
    switch self {
    case .text(let text): writer.member("stringValue", text)
    case .number(let number): writer.member("intValue", "\(number)")
    case .flag(let flag):
      writer.name("boolValue")
      writer.bool(flag)
    }
  }
}

/// The bits of `flags` above those of W3C's trace flags (`SpanFlags` of trace.proto).
private enum SpanFlags {
  private static let hasIsRemote = 0x100
  private static let isRemote = 0x200

  static func of(isRemote: Bool) -> Int { hasIsRemote | (isRemote ? Self.isRemote : 0) }
}

extension SpanKind {
  /// The number in trace.proto.
  fileprivate var number: Int {
    switch self {
    case .internal: 1
    case .server: 2
    case .client: 3
    case .producer: 4
    case .consumer: 5
    }
  }
}

extension SpanStatus.Code {
  /// The number in trace.proto.
  fileprivate var number: Int {
    switch self {
    case .ok: 1
    case .error: 2
    }
  }
}
