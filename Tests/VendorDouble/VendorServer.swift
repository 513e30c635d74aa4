package import HTTPClient
import HTTPTypes
import Transport

/// An HTTP server for a vendor's double.
package final class VendorServer: Sendable {
  /// - Returns: nil to lose the response with its connection.
  package typealias Responder = @Sendable (HTTPClientRequest) -> HTTPClientResponse?

  package let port: UInt16
  private let group: EventLoopGroup

  /// - Parameter port: nil for a free one.
  package init(port: UInt16? = nil, respond: @escaping Responder) async throws {
    group = try EventLoopGroup(count: 1)
    let listener = try await group.listen(on: .host("127.0.0.1", port: port ?? 0)) { _ in
      Acceptor(respond: respond)
    }
    self.port = listener.address.port ?? 0
  }

  /// Refuses connections from now on.
  package func stop() async {
    await group.shutdown()
  }

  private final class Acceptor: StreamAcceptor {
    let respond: Responder

    init(respond: @escaping Responder) {
      self.respond = respond
    }

    func accepted(_ stream: ByteStream, on reactor: isolated Reactor) -> (any StreamDelegate)? {
      Connection(respond: respond)
    }
  }

  /// The part of HTTP/1.1 that the service's own client uses.
  private final class Connection: StreamDelegate {
    private static let headEnd = Array("\r\n\r\n".utf8)

    let respond: Responder
    var buffer: [UInt8] = []

    init(respond: @escaping Responder) {
      self.respond = respond
    }

    func received(
      _ bytes: UnsafeRawBufferPointer, from stream: ByteStream, on reactor: isolated Reactor
    ) {
      buffer += bytes
      while let request = takeRequest() {
        guard let response = respond(request) else { return stream.close() }
        var head = "HTTP/1.1 \(response.status.code) Answer\r\n"
        if response.fields[.contentType] == nil { head += "Content-Type: application/json\r\n" }
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
        let url = try? HTTPURL("http://vendor.test\(words[1])")
      else { return nil }
      return HTTPClientRequest(method: method, url: url, fields: fields, body: body)
    }

    func reachedEnd(of stream: ByteStream, on reactor: isolated Reactor) {
      stream.close()
    }

    func closed(_ stream: ByteStream, reason: CloseReason, on reactor: isolated Reactor) {}
  }
}
