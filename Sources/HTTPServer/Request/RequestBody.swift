/// A request's content, chunk by chunk as it arrives.
///
/// It can be read once. Reading stops at the socket while the reader lags, so that a body of any
/// size takes bounded memory.
package struct RequestBody: AsyncSequence, Sendable {
  package typealias Element = [UInt8]
  package typealias Failure = BodyReadError

  private let channel: BodyChannel?
  /// Bytes announced by Content-Length; `nil` where the client does not tell.
  package let length: Int?

  /// No content.
  package static let empty = RequestBody(channel: nil, length: 0)

  init(channel: BodyChannel?, length: Int?) {
    self.channel = channel
    self.length = length
  }

  /// Content that is already there, for tests of handlers.
  package init(_ bytes: [UInt8]) {
    let channel = BodyChannel()
    channel.offer(bytes)
    channel.finish(nil)
    self.init(channel: channel, length: bytes.count)
  }

  package var isEmpty: Bool { channel == nil }

  package func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }

  package struct Iterator: AsyncIteratorProtocol {
    let channel: BodyChannel?

    package mutating func next() async throws(BodyReadError) -> [UInt8]? {
      try await channel?.next()
    }

    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(BodyReadError) -> [UInt8]? {
      try await channel?.next()
    }
  }

  /// The whole content.
  ///
  /// - Throws: ``BodyReadError/tooLarge(bytesMax:)`` as soon as there is more than `bytesMax`.
  package func collect(upTo bytesMax: Int) async throws(BodyReadError) -> [UInt8] {
    guard let channel else { return [] }
    if let length, length > bytesMax { throw .tooLarge(bytesMax: bytesMax) }
    guard var whole = try await channel.next() else { return [] }
    while whole.count <= bytesMax {
      guard let chunk = try await channel.next() else { return whole }
      whole += chunk
    }
    throw .tooLarge(bytesMax: bytesMax)
  }
}
