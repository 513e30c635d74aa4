import HTTPWire

/// A request's content, chunk by chunk as it arrives, its content coding taken off.
///
/// It can be read once. Reading stops at the socket while the reader lags, so that a body of any
/// size takes bounded memory.
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
  /// Bytes of content; `nil` where the client does not tell, or tells the length of its coded form.
  package let length: Int?

  /// No content.
  package static let empty = RequestBody(channel: nil, length: 0)

  init(channel: BodyChannel?, length: Int?) {
    source = channel.map(Source.plain) ?? .none
    self.length = length
  }

  /// Content in a coding.
  init(
    channel: BodyChannel?, length: Int?, coding: ContentDecoding, limits: DecodingLimits
  ) {
    if let channel, coding != .identity {
      source = .coded(DecodedContent(channel, isGzip: coding == .gzip, limits: limits))
      self.length = nil
    } else {
      source = channel.map(Source.plain) ?? .none
      self.length = length
    }
  }

  /// Content that is already there, for tests of handlers.
  package init(_ bytes: [UInt8]) {
    let channel = BodyChannel()
    channel.offer(bytes)
    channel.finish(nil)
    self.init(channel: channel, length: bytes.count)
  }

  package var isEmpty: Bool {
    if case .none = source { return true }
    return false
  }

  /// Whether the content is so short that whatever a handler does with it is quickly done.
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

  /// The whole content.
  ///
  /// - Parameter bytesMax: of content as it is sent. Coded content may be as many times longer as
  ///   the server's limits say.
  /// - Throws: ``BodyReadError/tooLarge(bytesMax:)`` as soon as there is more than that.
  package func collect(upTo bytesMax: Int) async throws(BodyReadError) -> [UInt8] {
    var bytesMax = bytesMax
    if case .coded(let content) = source { bytesMax = content.limits.readerBytesMax(bytesMax) }
    if let length, length > bytesMax { throw .tooLarge(bytesMax: bytesMax) }
    guard var whole = try await source.next() else { return [] }
    while whole.count <= bytesMax {
      guard let chunk = try await source.next() else { return whole }
      whole += chunk
    }
    throw .tooLarge(bytesMax: bytesMax)
  }
}
