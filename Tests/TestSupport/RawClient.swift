import Dispatch
import Glibc

/// A blocking TCP client for tests: it sends exactly the given bytes, and every wait has a deadline.
package final class RawClient {
  package enum Problem: Error {
    case connect(Int32)
    case send(Int32)
    case timeout
    case closed
    case malformed(String)
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  /// - Parameter timeoutSeconds: the limit of each single wait.
  package init(port: Int, timeoutSeconds: Int = 10) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // `deinit` closes the descriptor after a throw as well: all properties are initialised.
    guard connected == 0 else { throw Problem.connect(errno) }
    var wait = timeval(tv_sec: timeoutSeconds, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, size)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &wait, size)
  }

  deinit { Glibc.close(descriptor) }

  package func send(_ text: String) throws { try send(Array(text.utf8)) }

  package func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Problem.send(errno) }
      sent += count
    }
  }

  /// Closes the sending direction; the other one stays open.
  package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Sends a request and reads its response.
  package func request(
    _ method: String, _ target: String, headers: [(String, String)] = [], body: String? = nil
  ) throws -> RawResponse {
    var head = "\(method) \(target) HTTP/1.1\r\n"
    if !headers.contains(where: { $0.0.lowercased() == "host" }) { head += "Host: localhost\r\n" }
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if let body { head += "Content-Length: \(body.utf8.count)\r\n" }
    try send(head + "\r\n" + (body ?? ""))
    return try response(to: method)
  }

  /// Reads one final response, skipping interim ones.
  package func response(to method: String = "GET") throws -> RawResponse {
    while true {
      let head = try readHead()
      let isFinal = head.status >= 200
      let hasBody = isFinal && method != "HEAD" && head.status != 204 && head.status != 304
      guard isFinal else { continue }
      return RawResponse(
        status: head.status, headers: head.headers,
        body: hasBody ? try readBody(head.headers) : [])
    }
  }

  /// The unread data, or else the next data to arrive.
  package func readSome() throws -> [UInt8] {
    if buffer.isEmpty { try fill() }
    defer { buffer = [] }
    return buffer
  }

  /// Whether no unread data has arrived; does not wait.
  package func isQuiet() -> Bool {
    var byte: UInt8 = 0
    return buffer.isEmpty
      && recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) < 0
  }

  /// Waits for the peer to close; false if it does not.
  package func isClosedByPeer() -> Bool {
    var byte: UInt8 = 0
    return buffer.isEmpty && recv(descriptor, &byte, 1, 0) == 0
  }

  private func readHead() throws -> (status: Int, headers: [(String, String)]) {
    let end: [UInt8] = [13, 10, 13, 10]
    while true {
      if let place = buffer.firstRange(of: end) {
        let text = String(decoding: buffer[..<place.lowerBound], as: UTF8.self)
        buffer.removeFirst(place.upperBound)
        let lines = text.split(separator: "\r\n").map(String.init)
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count >= 2, let status = Int(words[1]) else { throw Problem.malformed(text) }
        let headers = lines.dropFirst().map { line in
          let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
          return (parts[0].lowercased(), parts.count > 1 ? trimmed(String(parts[1])) : "")
        }
        return (status, headers)
      }
      try fill()
    }
  }

  private func readBody(_ headers: [(String, String)]) throws -> [UInt8] {
    if headers.contains(where: { $0.0 == "transfer-encoding" && $0.1.lowercased() == "chunked" }) {
      return try readChunks()
    }
    if let length = headers.first(where: { $0.0 == "content-length" }).flatMap({ Int($0.1) }) {
      return try take(length)
    }
    do {
      while true { try fill() }
    } catch Problem.closed {
      return try take(buffer.count)
    }
  }

  private func readChunks() throws -> [UInt8] {
    var body: [UInt8] = []
    while true {
      let line = try readLine().prefix { $0 != ";" }
      guard let size = Int(line, radix: 16) else { throw Problem.malformed(String(line)) }
      if size == 0 {
        while try readLine() != "" {}
        return body
      }
      body += try take(size)
      guard try readLine() == "" else { throw Problem.malformed("chunk end") }
    }
  }

  private func readLine() throws -> String {
    while true {
      if let place = buffer.firstRange(of: [13, 10]) {
        let line = String(decoding: buffer[..<place.lowerBound], as: UTF8.self)
        buffer.removeFirst(place.upperBound)
        return line
      }
      try fill()
    }
  }

  private func take(_ count: Int) throws -> [UInt8] {
    while buffer.count < count { try fill() }
    let taken = Array(buffer.prefix(count))
    buffer.removeFirst(count)
    return taken
  }

  private func fill() throws {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &piece, piece.count, 0)
    if count > 0 {
      buffer += piece[..<count]
      return
    }
    if count == 0 || errno == ECONNRESET { throw Problem.closed }
    throw Problem.timeout
  }

  private func trimmed(_ text: String) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

/// A response as received, its body unframed.
package struct RawResponse: Sendable {
  package let status: Int
  /// The fields in their order, names in lower case.
  package let headers: [(String, String)]
  package let body: [UInt8]

  package var text: String { String(decoding: body, as: UTF8.self) }

  /// The value of the first field with a name.
  package subscript(name: String) -> String? {
    headers.first { $0.0 == name.lowercased() }?.1
  }
}

/// Runs blocking work on a thread of its own.
///
/// A blocking client on the cooperative pool would hold one of its few threads, and a server in the same
/// process would wait for that thread for ever.
package func onOwnThread<Answer: Sendable>(
  _ work: @escaping @Sendable () throws -> Answer
) async throws -> Answer {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue(label: "blocking test work").async {
      continuation.resume(with: Result { try work() })
    }
  }
}
