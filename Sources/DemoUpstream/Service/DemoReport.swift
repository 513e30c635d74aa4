package import LosslessJSON

/// The counters of a demo server since it started or they were reset.
package struct DemoReport: Sendable {
  /// Counters of one operation name; unnamed operations count under the empty name.
  package struct Operation: Sendable, Hashable {
    /// All requests, including failed ones.
    package var requests = 0
    /// Requests failed by a fail mode.
    package var failed = 0
    /// Requests executed.
    package var executed = 0
    /// Requests with a replayed response to the same idempotency key.
    package var replayed = 0
  }

  package internal(set) var operations: [String: Operation] = [:]
  package internal(set) var inFlight = 0
  /// Maximum concurrent requests so far.
  package internal(set) var concurrencyMax = 0
  /// The latest requests, newest last.
  package internal(set) var recent: [RecordedRequest] = []

  package var requests: Int { operations.values.reduce(0) { $0 + $1.requests } }

  package subscript(operation: String) -> Operation { operations[operation] ?? Operation() }
}

/// A received GraphQL request, kept to inspect what a gateway sends.
package struct RecordedRequest: Sendable {
  package let operationName: String
  package let query: String
  package let variables: JSONValue
  /// Fields in the order of the wire, with names in lower case.
  package let fields: [(name: String, value: String)]

  /// The first field with this name, given in lower case.
  package subscript(field: String) -> String? {
    fields.first { $0.name == field }?.value
  }
}

extension DemoReport {
  /// Fields whose values are not shown, because the demo can run behind a gateway with real tokens.
  private static let secretFields: Set<String> = ["authorization", "cookie"]

  /// The members of `GET /__demo` beside the switches.
  var json: JSONValue {
    let named = operations.sorted { $0.key < $1.key }
    return [
      "requests": .int(requests),
      "inFlight": .int(inFlight),
      "concurrencyMax": .int(concurrencyMax),
      "operations": .object(named.map { JSONMember($0.key, $0.value.json) }),
      "recent": .array(recent.map(Self.json)),
    ]
  }

  private static func json(_ request: RecordedRequest) -> JSONValue {
    let fields = request.fields.map { field in
      JSONMember(field.name, .string(secretFields.contains(field.name) ? "…" : field.value))
    }
    return [
      "operationName": .string(request.operationName), "variables": request.variables,
      "fields": .object(fields),
    ]
  }
}

extension DemoReport.Operation {
  fileprivate var json: JSONValue {
    [
      "requests": .int(requests), "failed": .int(failed),
      "executed": .int(executed), "replayed": .int(replayed),
    ]
  }
}
