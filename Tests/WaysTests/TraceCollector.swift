import HTTPClient
import HTTPTypes
import LosslessJSON
import Synchronization
import TestSupport
import VendorDouble

/// An OpenTelemetry collector that takes only what OTLP/HTTP with JSON allows, and notes everything else
/// as a fault.
final class TraceCollector: Sendable {
  /// A span as it arrived.
  struct Span: Sendable {
    let trace: String
    let id: String
    /// Empty for the first span of a trace.
    let parent: String
    let state: String
    let name: String
    let kind: Int64
    let flags: Int64
    let start: UInt64
    let end: UInt64
    let attributes: [String: JSONValue]
    /// The trace and the id of each linked span.
    let links: [[String]]
    let isFailed: Bool

    func text(_ name: String) -> String? { attributes[name]?.string }
    func number(_ name: String) -> Int64? { attributes[name]?.int64 }
  }

  private struct State {
    var spans: [Span] = []
    var faults: [String] = []
    var requests = 0
    var status = 200
    var authorization: String?
  }

  private final class Record: Sendable {
    let state = Mutex(State())
  }

  private let server: VendorServer
  private let record: Record

  var url: String { "http://127.0.0.1:\(server.port)" }
  var spans: [Span] { record.state.withLock { $0.spans } }
  /// What OTLP does not allow.
  var faults: [String] { record.state.withLock { $0.faults } }
  var requests: Int { record.state.withLock { $0.requests } }
  /// `Authorization` of the last request.
  var authorization: String? { record.state.withLock { $0.authorization } }

  /// Responds with another status from now on; spans of requests that are not accepted are not kept.
  func setStatus(_ status: Int) { record.state.withLock { $0.status = status } }

  init() async throws {
    let record = Record()
    self.record = record
    server = try await VendorServer { request in
      let reading = TraceReading(request)
      return record.state.withLock { state in
        state.requests += 1
        state.authorization = request.fields[.authorization]
        state.faults += reading.faults
        if state.status == 200 { state.spans += reading.spans }
        return HTTPClientResponse(
          status: HTTPResponse.Status(code: state.status), body: Array("{}".utf8))
      }
    }
  }

  func stop() async { await server.stop() }

  /// Waits until spans satisfy a condition, and returns all.
  func spans(until isComplete: @Sendable ([Span]) -> Bool) async -> [Span] {
    _ = await eventuallyHolds(within: .seconds(20)) { isComplete(spans) }
    return spans
  }

  /// Faults between spans: an id that is used twice, and a parent in this process that never arrived, is in
  /// another trace or began after its child.
  var treeFaults: [String] {
    let spans = spans
    var found: [String] = []
    let byID = Dictionary(grouping: spans, by: \.id)
    for (id, namesakes) in byID where namesakes.count > 1 { found.append("\(id) is used twice") }
    for span in spans where !span.parent.isEmpty && span.flags & 0x200 == 0 {
      guard let parent = byID[span.parent]?.first else {
        found.append("\(span.name) has no parent")
        continue
      }
      if parent.trace != span.trace { found.append("\(span.name) is in another trace") }
      if parent.start > span.start { found.append("\(span.name) began before its parent") }
    }
    return found
  }
}

/// The reading of one export.
private struct TraceReading {
  private(set) var spans: [TraceCollector.Span] = []
  private(set) var faults: [String] = []
  /// Nanoseconds since 1970 of 2020 and 2100.
  private static let times: ClosedRange<UInt64> =
    1_577_836_800_000_000_000...4_102_444_800_000_000_000

  init(_ request: HTTPClientRequest) {
    check(request.method == .post, "the method is \(request.method)")
    check(request.url.target == "/v1/traces", "the target is \(request.url.target)")
    check(request.fields[.contentType] == "application/json", "the content is no JSON")
    guard let document = try? JSONValue(parsing: request.body) else {
      faults.append("the body is no JSON")
      return
    }
    members(of: document, ["resourceSpans"])
    for resource in document["resourceSpans"]?.array ?? [] {
      members(of: resource, ["resource", "scopeSpans", "schemaUrl"])
      members(of: resource["resource"] ?? .null, ["attributes"])
      let about = attributes(of: resource["resource"] ?? .null)
      check(about["service.name"]?.string == "larder", "service.name is missing")
      check(about["service.version"]?.string?.isEmpty == false, "service.version is missing")
      check(
        about["service.instance.id"]?.string?.isEmpty == false, "service.instance.id is missing")
      for scope in resource["scopeSpans"]?.array ?? [] {
        members(of: scope, ["scope", "spans", "schemaUrl"])
        members(of: scope["scope"] ?? .null, ["name", "version"])
        for span in scope["spans"]?.array ?? [] { read(span) }
      }
    }
    check(!spans.isEmpty, "there are no spans")
  }

  private mutating func read(_ span: JSONValue) {
    members(
      of: span,
      [
        "traceId", "spanId", "traceState", "parentSpanId", "flags", "name", "kind",
        "startTimeUnixNano", "endTimeUnixNano", "attributes", "links", "status",
      ])
    let name = span["name"]?.string ?? ""
    check(!name.isEmpty, "a span has no name")
    let trace = id(span, "traceId", digits: 32)
    let ownID = id(span, "spanId", digits: 16)
    let parent = span["parentSpanId"] == nil ? "" : id(span, "parentSpanId", digits: 16)
    let kind = span["kind"]?.int64 ?? 0
    check((1...5).contains(kind), "\(name) has kind \(kind)")
    let start = time(span, "startTimeUnixNano")
    let end = time(span, "endTimeUnixNano")
    check(start <= end, "\(name) ends before it starts")
    let flags = span["flags"]?.int64 ?? -1
    check(flags & 0x101 == 0x101 && flags < 0x400, "\(name) has flags \(flags)")
    var links: [[String]] = []
    for link in span["links"]?.array ?? [] {
      members(of: link, ["traceId", "spanId", "traceState", "attributes", "flags"])
      links.append([id(link, "traceId", digits: 32), id(link, "spanId", digits: 16)])
    }
    if let status = span["status"] { members(of: status, ["code", "message"]) }
    spans.append(
      TraceCollector.Span(
        trace: trace, id: ownID, parent: parent, state: span["traceState"]?.string ?? "",
        name: name, kind: kind, flags: flags, start: start, end: end,
        attributes: attributes(of: span), links: links,
        isFailed: span["status"]?["code"]?.int64 == 2))
  }

  private mutating func attributes(of value: JSONValue) -> [String: JSONValue] {
    var all: [String: JSONValue] = [:]
    for attribute in value["attributes"]?.array ?? [] {
      members(of: attribute, ["key", "value"])
      let name = attribute["key"]?.string ?? ""
      check(!name.isEmpty && all[name] == nil, "the attribute \(name) is there twice")
      let content = attribute["value"]?.members ?? []
      check(content.count == 1, "\(name) has \(content.count) values")
      switch content.first?.name {
      case "stringValue": all[name] = content[0].value
      case "boolValue": all[name] = content[0].value
      case "intValue":
        // 64-bit numbers are strings in protobuf's JSON.
        let number = content[0].value.string.flatMap { Int64($0) }
        check(number != nil, "\(name) is no number")
        all[name] = number.map { .number(JSONNumber($0)) }
      default: faults.append("\(name) has a value of an unknown kind")
      }
    }
    return all
  }

  private mutating func id(_ value: JSONValue, _ name: String, digits: Int) -> String {
    let text = value[name]?.string ?? ""
    let isHexadecimal = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
    }
    check(
      text.utf8.count == digits && isHexadecimal && text.contains { $0 != "0" },
      "\(name) is \(text)")
    return text
  }

  private mutating func time(_ value: JSONValue, _ name: String) -> UInt64 {
    let time = value[name]?.string.flatMap { UInt64($0) } ?? 0
    check(Self.times.contains(time), "\(name) is \(time)")
    return time
  }

  private mutating func members(of value: JSONValue, _ known: Set<String>) {
    guard let members = value.members else {
      faults.append("no object: \(value.text.prefix(80))")
      return
    }
    for member in members where !known.contains(member.name) {
      faults.append("unknown member \(member.name)")
    }
  }

  private mutating func check(_ isRight: Bool, _ fault: String) {
    if !isRight { faults.append(fault) }
  }
}
