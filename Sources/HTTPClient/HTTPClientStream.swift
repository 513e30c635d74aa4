package import HTTPTypes

/// An answer whose content is read as it comes. Let go before its end, it takes its connection with
/// it.
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

  /// The next piece of the content as it was sent, nil at its end.
  ///
  /// One reader at a time. When its task is cancelled, the connection is closed.
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

  /// The rest of the content.
  ///
  /// - Throws: ``HTTPClientError/answerTooLarge`` for more than `bytesMax`.
  package func rest(bytesMax: Int) async throws(HTTPClientError) -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try await next() {
      guard bytes.count + piece.count <= bytesMax else { throw .answerTooLarge }
      bytes += piece
    }
    return bytes
  }
}
