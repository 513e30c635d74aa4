package import HTTPTypes
import HTTPWire

extension HTTPClient {
  /// The limit on a streamed exchange, which can last as long as both sides make progress; it only ends
  /// abandoned exchanges.
  private static let streamTimeMax = Duration.seconds(86_400)

  /// Sends `request` and returns the response as soon as its head has arrived, whatever its status.
  ///
  /// Neither content is held in memory, and neither has a total time limit: each ends when it makes no
  /// progress for `stallTimeout` while this side waits for the upstream. Codings are not decoded: the
  /// caller sets `Accept-Encoding` itself.
  ///
  /// - Parameter content: sent in place of the request's `body`. It is no longer read once this method
  ///   has returned.
  package func stream(
    _ request: HTTPClientRequest, content: HTTPClientContent? = nil
  ) async throws(HTTPClientError) -> HTTPClientStream {
    let outgoing = content.map { _ in OutgoingContent() }
    let incoming = IncomingContent()
    let order = ExchangeOrder(
      request: try RenderedRequest(request, content: content?.framing),
      isSafeToRepeat: request.isSafeToRepeat && content == nil, responseBytesMax: .max,
      limit: Self.streamTimeMax, outgoing: outgoing, incoming: incoming)
    let origin = try client(for: request.url.origin)
    let ticket = try origin.admit(request.operation, at: clock())
    let exchange = origin.nextExchange()
    let sending = content.map { content in
      Task { await Self.send(content, outgoing, of: exchange, to: origin) }
    }
    let result = await origin.perform(order, as: exchange)
    outgoing?.stop()
    sending?.cancel()
    await sending?.value
    origin.record(Self.outcome(of: result), of: ticket, at: clock(), chance: random())
    return HTTPClientStream(
      try result.get(), content: incoming, exchange: exchange, origin: origin)
  }

  /// Sends content piece by piece, as fast as the connection accepts it.
  private static func send(
    _ content: HTTPClientContent, _ outgoing: OutgoingContent?, of exchange: Int,
    to origin: OriginClient
  ) async {
    guard let count = content.byteCount else {
      return await sendChunks(of: content, outgoing, of: exchange, to: origin)
    }
    var left = count
    while left > 0, let outgoing, await outgoing.room() {
      guard case .piece(let piece) = await content.next(), piece.count <= left else {
        return origin.cancel(exchange)
      }
      if piece.isEmpty { continue }
      left -= piece.count
      guard await origin.send(piece, isLast: left == 0, of: exchange) == .taken else { return }
    }
  }

  /// Sends content of unknown length, each piece as a chunk (RFC 9112, 7.1).
  private static func sendChunks(
    of content: HTTPClientContent, _ outgoing: OutgoingContent?, of exchange: Int,
    to origin: OriginClient
  ) async {
    while let outgoing, await outgoing.room() {
      var chunk: [UInt8] = []
      var isLast = false
      switch await content.next() {
      case .piece(let piece): ChunkEncoder.append(piece, to: &chunk)
      case .end:
        ChunkEncoder.appendEnd(to: &chunk)
        isLast = true
      case .failed: return origin.cancel(exchange)
      }
      if chunk.isEmpty { continue }
      guard await origin.send(chunk, isLast: isLast, of: exchange) == .taken, !isLast else {
        return
      }
    }
  }
}

extension HTTPClientContent {
  fileprivate var framing: BodyFraming { byteCount.map { .length($0) } ?? .chunked }
}

/// A response whose content is read as it arrives. Releasing it before its end closes its connection.
package final class HTTPClientStream: Sendable {
  package let status: HTTPResponse.Status
  /// The fields as received.
  package let fields: HTTPFields
  private let content: IncomingContent
  private let exchange: Int
  private let origin: OriginClient

  init(
    _ head: HTTPClientResponse, content: IncomingContent, exchange: Int, origin: OriginClient
  ) {
    status = head.status
    fields = head.fields
    self.content = content
    self.exchange = exchange
    self.origin = origin
  }

  deinit {
    if !content.hasEnded { origin.cancel(exchange) }
  }

  /// Returns the next piece of the content as it was sent; nil at its end.
  ///
  /// Supports one reader at a time. When its task is cancelled, the connection is closed.
  package func next() async throws(HTTPClientError) -> [UInt8]? {
    let result = await withTaskCancellationHandler {
      () async -> Result<(piece: [UInt8]?, resumes: Bool), HTTPClientError> in
      do throws(HTTPClientError) {
        return .success(try await content.next())
      } catch {
        return .failure(error)
      }
    } onCancel: {
      origin.cancel(exchange)
    }
    let (piece, resumes) = try result.get()
    if resumes { origin.resume(exchange) }
    return piece
  }

  /// Reads the rest of the content.
  ///
  /// - Throws: ``HTTPClientError/responseTooLarge`` for more than `bytesMax` bytes.
  package func rest(bytesMax: Int) async throws(HTTPClientError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try await next() {
      guard bytes.count + piece.count <= bytesMax else { throw .responseTooLarge }
      bytes += piece
    }
    return bytes
  }
}
