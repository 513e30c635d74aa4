import HTTPClient
import HTTPTypes
import Synchronization
import Transport

/// A ``FakeOneSignal`` behind a socket, for a service that goes the whole way to it.
package final class OneSignalServer: Sendable {
  package let app: FakeOneSignal
  /// Where it is asked; without a slash at the end.
  package let url: String
  private let group: EventLoopGroup

  /// - Parameter port: nil for a free one.
  package init(_ app: FakeOneSignal, port: UInt16? = nil) async throws {
    group = try EventLoopGroup(count: 1)
    self.app = app
    let listener = try await group.listen(on: .host("127.0.0.1", port: port ?? 0)) { _ in
      Acceptor(app: app)
    }
    url = "http://127.0.0.1:\(listener.address.port ?? 0)\(app.pathPrefix)"
  }

  /// Refuses connections from now on.
  package func stop() async {
    await group.shutdown()
  }

  private final class Acceptor: StreamAcceptor {
    let app: FakeOneSignal

    init(app: FakeOneSignal) {
      self.app = app
    }

    func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
      Connection(app: app)
    }
  }

  /// As much of HTTP/1.1 as the service's own client speaks.
  private final class Connection: StreamDelegate {
    private static let headEnd = Array("\r\n\r\n".utf8)

    let app: FakeOneSignal
    var buffer: [UInt8] = []

    init(app: FakeOneSignal) {
      self.app = app
    }

    func received(
      _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
    ) {
      buffer += bytes
      while let request = takeRequest() {
        guard let response = app.respond(to: request) else { return stream.close() }
        var head = "HTTP/1.1 \(response.status.code) Answer\r\nContent-Type: application/json\r\n"
        for field in response.fields { head += "\(field.name): \(field.value)\r\n" }
        head += "Content-Length: \(response.body.count)\r\n\r\n"
        stream.write(Array(head.utf8) + response.body)
      }
    }

    private func takeRequest() -> HTTPClientRequest? {
      guard let end = buffer.firstRange(of: Self.headEnd) else { return nil }
      let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
        .split(separator: "\r\n")
      var fields = HTTPFields()
      for line in lines.dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let name = HTTPField.Name(String(parts[0])) else { continue }
        fields[name] = String(parts[1].drop { $0 == " " })
      }
      let length = fields[.contentLength].flatMap { Int($0) } ?? 0
      guard buffer.count >= end.upperBound + length else { return nil }
      let body = Array(buffer[end.upperBound..<end.upperBound + length])
      buffer.removeFirst(end.upperBound + length)
      let words = lines.first?.split(separator: " ") ?? []
      guard words.count == 3, let method = HTTPRequest.Method(rawValue: String(words[0])),
        let url = try? HTTPURL("http://onesignal.test\(words[1])")
      else { return nil }
      return HTTPClientRequest(method: method, url: url, fields: fields, body: body)
    }

    func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
      stream.close()
    }

    func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {}
  }
}
