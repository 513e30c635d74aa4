package import HTTPWire

/// A request's content, chunk by chunk as it arrives, with its content coding decoded.
///
/// It can be read once. The socket is not read while the reader lags, so that a body of any size takes
/// bounded memory.
package struct RequestBody: AsyncSequence, Sendable {
  package typealias Element = [UInt8]
  package typealias Failure = BodyReadError

  fileprivate enum Source: Sendable {
    case none
    case plain(BodyChannel)
    case coded(DecodedContent)

    func next() async throws(BodyReadError) -> [UInt8]? {
      switch self {
      case .none: nil
      case .plain(let channel): try await channel.next()
      case .coded(let content): try await content.next()
      }
    }
  }

  private let source: Source
  /// Bytes of content; `nil` if the client does not announce it, or only the length of the coded form.
  package let length: Int?
  /// Whether the content was within the limits in the form in which a client sent it, so that readers' limits do not
  /// apply to it.
  private var isAdmitted = false

  /// No content.
  package static let empty = RequestBody(channel: nil, length: 0)

  init(channel: BodyChannel?, length: Int?) {
    source = channel.map(Source.plain) ?? .none
    self.length = length
  }

  /// Content in a coding.
  init(
    channel: BodyChannel?, length: Int?, coding: ContentDecoding, limits: DecodingLimits,
    isAdmitted: Bool = false
  ) {
    self.isAdmitted = isAdmitted
    if let channel, coding != .identity {
      source = .coded(DecodedContent(channel, isGzip: coding == .gzip, limits: limits))
      self.length = nil
    } else {
      source = channel.map(Source.plain) ?? .none
      self.length = length
    }
  }

  /// Creates content that is already complete, for tests of handlers.
  package init(_ bytes: [UInt8]) {
    let channel = BodyChannel()
    channel.offer(bytes)
    channel.finish(nil)
    self.init(channel: channel, length: bytes.count)
  }

  /// Creates content that was read from a request, so that it is within the limits of that, which are higher for
  /// coded content than for the decoded bytes.
  package init(admitted bytes: [UInt8]) {
    self.init(bytes)
    isAdmitted = true
  }

  package var isEmpty: Bool {
    if case .none = source { return true }
    return false
  }

  /// Whether the content is so short that a handler processes it quickly.
  var isShort: Bool { isEmpty || length.map { $0 <= Self.shortBytesMax } ?? false }

  /// JSON of this length takes less than a millisecond to read.
  private static let shortBytesMax = 16 * 1024

  package func makeAsyncIterator() -> Iterator { Iterator(source: source) }

  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let source: Source

    package mutating func next() async throws(BodyReadError) -> [UInt8]? {
      try await source.next()
    }

    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(BodyReadError) -> [UInt8]? {
      try await source.next()
    }
  }

  /// Reads the whole content.
  ///
  /// - Parameter bytesMax: the limit on uncoded content. Decoded content can exceed it by the ratio of
  ///   the server's limits.
  /// - Throws: ``BodyReadError/tooLarge(bytesMax:)`` as soon as the limit is exceeded.
  package func collect(upTo bytesMax: Int) async throws(BodyReadError) -> [UInt8] {
    var bytesMax = bytesMax
    if case .coded(let content) = source { bytesMax = content.limits.readerBytesMax(bytesMax) }
    // The server's own limit has applied while it arrived.
    if isAdmitted { bytesMax = .max }
    if let length, length > bytesMax { throw .tooLarge(bytesMax: bytesMax) }
    guard var whole = try await source.next() else { return [] }
    while whole.count <= bytesMax {
      guard let chunk = try await source.next() else { return whole }
      whole += chunk
    }
    throw .tooLarge(bytesMax: bytesMax)
  }
}

/// The reason a request's content could not be read to its end.
package enum BodyReadError: Error, Sendable, Hashable {
  /// The content exceeds the limit of the reader or the route: 413.
  case tooLarge(bytesMax: Int)
  /// The content is faulty or late. The server responds itself and drops the handler's response, except
  /// for a faulty content coding, which only the reader sees: 400.
  case refused(RequestError)
  /// The client stopped sending before the content was complete. It may still read: 400.
  case incomplete
  /// The connection is closed; no client waits for the response.
  case disconnected
  /// The handler's task was cancelled.
  case cancelled
}

/// How a route accepts the content of a request.
package struct ContentRule: Sendable, Equatable {
  /// The limit on its bytes; `nil` for the server's own limit.
  package var bytesMax: Int?
  /// Whether to pass the content in the coding it was sent in. If not, it is decoded, and unknown
  /// codings are refused.
  package var keepsCoding: Bool

  package init(bytesMax: Int? = nil, keepsCoding: Bool = false) {
    self.bytesMax = bytesMax
    self.keepsCoding = keepsCoding
  }
}

/// The rule for the content of one request, and what responds to it.
package struct ContentRoute: Sendable {
  package typealias Respond = @Sendable (ServerRequest) async -> ServerResponse

  package var rule: ContentRule
  /// The responder of the route that was looked up for the rule, which the request keeps, so that it is
  /// looked up once; `nil` without a look-up.
  package var respond: Respond?

  package init(rule: ContentRule = ContentRule(), respond: Respond? = nil) {
    self.rule = rule
    self.respond = respond
  }
}

extension BodyFraming {
  /// Bytes of content, if the framing states a length.
  var length: Int? {
    switch self {
    case .none: 0
    case .length(let length): length
    case .chunked, .untilClose: nil
    }
  }
}
