package import HTTPWire
package import Transport

/// A log of every request.
///
/// An entry is bytes, appended to the loop's buffer, and each loop submits its buffer a few times a
/// second: serving a cached response needs no string, no lock and no system call for the log.
package protocol AccessLog: Sendable {
  /// Whether requests are currently logged. Read for each request, on the loop.
  var isOn: Bool { get }

  /// Appends the entry of one request. Called on the loop.
  func append(_ entry: borrowing AccessLogEntry, to notes: inout [UInt8])

  /// Submits complete entries of one loop. Called on the loop: it must not block.
  func take(_ notes: [UInt8])

  /// Waits until everything submitted has been written, at most a second. Called when the server ends.
  func finish() async
}

/// One request in the access log. Valid for one call: the slices refer to the loop's buffers.
package struct AccessLogEntry: ~Copyable {
  /// Nil if the request's method could not be read.
  package let method: RequestMethod?
  /// Path and query as sent; empty if they could not be read. Can contain secrets: see
  /// ``LoggedTarget``.
  package let target: ArraySlice<UInt8>
  package let status: Int
  /// Bytes of the response, head included, as written to the socket.
  package let bytes: Int
  /// From the turn that read the request's head to the end of its response.
  package let nanoseconds: UInt64
  package let requestID: ArraySlice<UInt8>
  /// The client: the peer, or the address that a trusted proxy reports.
  package let remoteAddress: SocketAddress
  /// The time of the response, in milliseconds since 1970.
  package let time: Int64
  package let facts: LoggedFacts
  /// 32 hexadecimal digits; empty without a trace.
  package let traceID: ArraySlice<UInt8>
  /// As sent; empty without one.
  package let userAgent: ArraySlice<UInt8>

  package init(
    method: RequestMethod?, target: ArraySlice<UInt8>, status: Int, bytes: Int,
    nanoseconds: UInt64, requestID: ArraySlice<UInt8>, remoteAddress: SocketAddress, time: Int64,
    facts: LoggedFacts = LoggedFacts(), traceID: ArraySlice<UInt8> = [],
    userAgent: ArraySlice<UInt8> = []
  ) {
    self.method = method
    self.target = target
    self.status = status
    self.bytes = bytes
    self.nanoseconds = nanoseconds
    self.requestID = requestID
    self.remoteAddress = remoteAddress
    self.time = time
    self.facts = facts
    self.traceID = traceID
    self.userAgent = userAgent
  }
}

/// What the handler knew of a request, with its names.
package struct LoggedFacts: Sendable {
  package var operation: String?
  package var cacheUse: CacheUse?
  package var upstreamNanoseconds: Int64?
  package var caller: LoggedCaller?

  package init() {}

  init(_ facts: RequestFacts, names: RequestNames) {
    operation = names.operation(facts.operation)
    cacheUse = facts.cacheUse
    upstreamNanoseconds = facts.upstreamNanoseconds
    caller = facts.caller
  }
}
