import LosslessJSON
import Testing
import Traces
import Tracing

@testable import Gateway

struct TraceDocumentTests {
  private static let document = TraceDocument(
    resource: TraceResource(name: "larder", version: "1.2.3", instance: "i1"))

  /// The spans that a tracer with counted ids records.
  private static func record(_ body: (SpanTracer) throws -> Void) rethrows -> [SpanRecord] {
    let numbers = SpanNumbers()
    let tracer = SpanTracer(
      ratio: SamplingRatio(1), buffer: SpanBuffer { _ in }, random: { numbers.next() },
      clock: { 1_700_000_000_123_456_789 })
    try body(tracer)
    return tracer.buffer.take(bytesMax: .max)
  }

  @Test("The document has the form of OTLP's JSON")
  func hasTheForm() throws {
    var caller = try #require(
      TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
    caller.state = "a=1"
    let spans = Self.record { tracer in
      let span = tracer.entry("GET /films/{id}", kind: .server, parent: caller, isSampled: true)
      span.set("http.route", "/films/{id}")
      span.set("http.response.status_code", 503)
      span.attributes["flag"] = true
      span.attributes["left out"] = [1.5, 2.5]
      span.addLink(to: caller)
      span.fail("503")
      span.end(atNanoseconds: 1_700_000_000_223_456_789)
    }
    let expected: JSONValue = [
      "resourceSpans": [
        [
          "resource": [
            "attributes": [
              ["key": "service.instance.id", "value": ["stringValue": "i1"]],
              ["key": "service.name", "value": ["stringValue": "larder"]],
              ["key": "service.version", "value": ["stringValue": "1.2.3"]],
            ]
          ],
          "scopeSpans": [
            [
              "scope": ["name": "larder", "version": "1.2.3"],
              "spans": [
                [
                  "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "0000000000000001",
                  "traceState": "a=1", "parentSpanId": "b7ad6b7169203331", "flags": 769,
                  "name": "GET /films/{id}", "kind": 2,
                  "startTimeUnixNano": "1700000000123456789",
                  "endTimeUnixNano": "1700000000223456789",
                  "attributes": [
                    ["key": "error.type", "value": ["stringValue": "503"]],
                    ["key": "flag", "value": ["boolValue": true]],
                    ["key": "http.response.status_code", "value": ["intValue": "503"]],
                    ["key": "http.route", "value": ["stringValue": "/films/{id}"]],
                  ],
                  "links": [
                    [
                      "traceId": "0af7651916cd43dd8448eb211c80319c",
                      "spanId": "b7ad6b7169203331", "traceState": "a=1", "flags": 257,
                    ]
                  ],
                  "status": ["code": 2],
                ]
              ],
              "schemaUrl": .string(TraceDocument.schema),
            ]
          ],
          "schemaUrl": .string(TraceDocument.schema),
        ]
      ]
    ]
    let found = try JSONValue(parsing: Self.document.bytes(spans))
    #expect(found == expected, "\(found.text)")
  }

  @Test("A span without parent, links and status has no such members")
  func leavesOutWhatIsNotThere() throws {
    let spans = Self.record { tracer in
      tracer.entry("GET", kind: .server, parent: nil, isSampled: true).end()
    }
    let document = try JSONValue(parsing: Self.document.bytes(spans))
    let span = try #require(
      document["resourceSpans"]?.array?.first?["scopeSpans"]?.array?.first?["spans"]?.array?.first)
    #expect(
      (span.members ?? []).map(\.name) == [
        "traceId", "spanId", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano",
      ])
    // Sampled and random; the parent is not remote.
    #expect(span["flags"]?.int64 == 0x103)
  }

  @Test("Each kind has the number of trace.proto")
  func numbersKinds() throws {
    let kinds: [(SpanKind, Int64)] = [
      (.internal, 1), (.server, 2), (.client, 3), (.producer, 4), (.consumer, 5),
    ]
    for (kind, number) in kinds {
      let spans = Self.record {
        $0.entry("span", kind: kind, parent: nil, isSampled: true).end()
      }
      let text = String(decoding: Self.document.bytes(spans), as: UTF8.self)
      #expect(text.contains(#""kind":\#(number),"#), "\(text)")
    }
  }

  @Test("Texts of clients are escaped")
  func escapesTexts() throws {
    let path = "/a\"b\\c\u{1}\u{2028}é"
    let spans = Self.record { tracer in
      let span = tracer.entry(path, kind: .server, parent: nil, isSampled: true)
      span.set("url.path", path)
      span.end()
    }
    let document = try JSONValue(parsing: Self.document.bytes(spans))
    let span = document["resourceSpans"]?.array?.first?["scopeSpans"]?.array?.first?["spans"]?
      .array?.first
    #expect(span?["name"]?.string == path)
    #expect(span?["attributes"]?.array?.first?["value"]?["stringValue"]?.string == path)
  }
}
