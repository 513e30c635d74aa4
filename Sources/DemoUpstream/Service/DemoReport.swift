/// What a demo server has seen since it started or its counters were reset.
package struct DemoReport: Sendable {
  /// Of one operation name; unnamed operations count under the empty name.
  package struct Operation: Sendable, Hashable {
    /// All that came, failed ones included.
    package var requests = 0
    /// Answered in a fail mode.
    package var failed = 0
    /// Carried out by the executor.
    package var executed = 0
    /// Answered from an earlier request with the same idempotency key.
    package var replayed = 0
  }

  package internal(set) var operations: [String: Operation] = [:]
  package internal(set) var inFlight = 0
  /// The most requests there were at one time.
  package internal(set) var concurrencyMax = 0
  /// The latest requests, the newest last.
  package internal(set) var recent: [RecordedRequest] = []

  package var requests: Int { operations.values.reduce(0) { $0 + $1.requests } }

  package subscript(operation: String) -> Operation { operations[operation] ?? Operation() }
}
