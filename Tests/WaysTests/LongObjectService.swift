import Synchronization
import Transport

/// An S3 service with one object, `long`, which has no end: more is written as the reader takes it. Every
/// other request succeeds.
final class LongObjectService: Sendable {
  static let byteCount = 1 << 40

  /// The downloads that are still open, and all there have been.
  struct Downloads: Equatable {
    var open = 0
    var begun = 0
  }

  let port: UInt16
  private let group: EventLoopGroup
  private let book: Book

  private final class Book: Sendable {
    private let downloads = Mutex(Downloads())

    var value: Downloads { downloads.withLock { $0 } }

    func began() { downloads.withLock { $0 = Downloads(open: $0.open + 1, begun: $0.begun + 1) } }

    func ended() { downloads.withLock { $0.open -= 1 } }
  }

  init() async throws {
    let book = Book()
    self.book = book
    group = try EventLoopGroup(count: 1)
    let listener = try await group.listen(on: .host("127.0.0.1", port: 0)) { _ in
      Acceptor(book: book)
    }
    port = listener.address.port ?? 0
  }

  var downloads: Downloads { book.value }

  func stop() async {
    await group.shutdown()
  }

  private final class Acceptor: StreamAcceptor {
    let book: Book

    init(book: Book) { self.book = book }

    func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
      Connection(book: book)
    }
  }

  private final class Connection: StreamDelegate {
    private static let piece = [UInt8](repeating: 0x61, count: 64 * 1024)

    let book: Book
    var head = ""
    var isSending = false

    init(book: Book) { self.book = book }

    func received(
      _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
    ) {
      head += String(decoding: bytes, as: UTF8.self)
      guard head.hasSuffix("\r\n\r\n") else { return }
      if head.hasPrefix("GET /pics/long ") {
        isSending = true
        book.began()
        stream.write(
          Array(
            """
            HTTP/1.1 200 OK\r\nETag: "e"\r\nContent-Type: text/plain\r\n\
            Last-Modified: Fri, 24 May 2013 00:00:00 GMT\r\n\
            Content-Length: \(LongObjectService.byteCount)\r\n\r\n
            """.utf8))
        send(on: stream)
      } else {
        stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
      }
      head = ""
    }

    func drained(_ stream: ByteStream, on reactor: isolated Reactor) {
      if isSending { send(on: stream) }
    }

    private func send(on stream: ByteStream) {
      while stream.acceptsWrites, !stream.isBackedUp { stream.write(Self.piece) }
    }

    func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
      stream.reset()
    }

    func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {
      if isSending { book.ended() }
    }
  }
}
