import Glibc
import LosslessJSON

/// A keep-alive connection that sends requests in batches, reads their responses in order, and reconnects
/// when the service closes.
final class HostileConnection {
  enum Problem: Error {
    case connect(Int32)
    /// No response within the longest time that one takes.
    case silent
    case closed
    case malformed
  }

  /// The parts of a response that are checked.
  struct Answer {
    let status: Int
    let contentType: String
    /// The content coding that the response names; empty for none.
    let contentCoding: String
    /// The body; empty for an event stream, which is read to the end of its head only.
    let body: [UInt8]
  }

  /// The number of requests sent before the first response is read.
  private static let depth = 16
  private static let timeoutSeconds = 30

  private let port: Int
  private var descriptor: Int32 = -1
  private var buffer: [UInt8] = []
  private var read = 0

  init(port: Int) {
    self.port = port
  }

  deinit { close() }

  private func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
    (buffer, read) = ([], 0)
  }

  /// Sends requests and returns the response of each, in order.
  func exchange(
    _ requests: [[UInt8]], _ take: (_ index: Int, _ answer: Answer) throws -> Void
  ) throws {
    var next = 0
    var hasFailed = false
    while next < requests.count {
      let batch = next..<min(next + Self.depth, requests.count)
      do {
        if descriptor < 0 { try connect() }
        // Not `joined()`: byte by byte, that took more time here than the service did.
        try send(requests[batch].reduce(into: []) { $0 += $1 })
        for index in batch {
          let (answer, isLast) = try answer()
          try take(index, answer)
          next = index + 1
          hasFailed = false
          if isLast {
            close()
            break
          }
        }
      } catch Problem.closed {
        // The previous response announced the close, or the connection closed while these requests were in
        // flight: send once more, alone.
        close()
        guard !hasFailed else { throw Problem.closed }
        hasFailed = true
      }
    }
  }

  // MARK: Reading

  private func answer() throws -> (Answer, isLast: Bool) {
    while true {
      let head = try head()
      let status = head.status
      if status < 200 { continue }
      let type = head["content-type"] ?? ""
      if type.hasPrefix("text/event-stream") {
        return (Answer(status: status, contentType: type, contentCoding: "", body: []), true)
      }
      var body: [UInt8] = []
      if status != 204, status != 304 {
        body = try content(of: head)
      }
      return (
        Answer(
          status: status, contentType: type, contentCoding: head["content-encoding"] ?? "",
          body: body),
        head["connection"]?.lowercased() == "close"
      )
    }
  }

  private struct Head {
    let status: Int
    private let lines: [Substring]

    init?(_ text: String) {
      lines = text.split(separator: "\r\n")
      guard let words = lines.first?.split(separator: " "), words.count >= 2,
        let status = Int(words[1])
      else { return nil }
      self.status = status
    }

    /// - Parameter name: in lower case.
    subscript(name: String) -> String? {
      for line in lines.dropFirst() {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name else {
          continue
        }
        return String(line[line.index(after: colon)...].drop { $0 == " " })
      }
      return nil
    }
  }

  private func head() throws -> Head {
    while true {
      let end = (read..<max(read, buffer.count - 3)).first { place in
        buffer[place] == 13 && buffer[place + 1] == 10 && buffer[place + 2] == 13
          && buffer[place + 3] == 10
      }
      if let end {
        let text = String(decoding: buffer[read..<end], as: UTF8.self)
        read = end + 4
        guard let head = Head(text) else { throw Problem.malformed }
        return head
      }
      try fill()
    }
  }

  private func content(of head: Head) throws -> [UInt8] {
    if let length = head["content-length"].flatMap({ Int($0) }) { return try take(length) }
    guard head["transfer-encoding"] == "chunked" else { throw Problem.malformed }
    var body: [UInt8] = []
    while true {
      guard let size = Int(try line(), radix: 16) else { throw Problem.malformed }
      body += try take(size)
      guard try line().isEmpty else { throw Problem.malformed }
      if size == 0 { return body }
    }
  }

  private func line() throws -> String {
    while true {
      if let end = buffer[read...].firstIndex(of: 10), end > read {
        defer { read = end + 1 }
        return String(decoding: buffer[read..<end - 1], as: UTF8.self)
      }
      try fill()
    }
  }

  private func take(_ count: Int) throws -> [UInt8] {
    while buffer.count - read < count { try fill() }
    defer { read += count }
    return Array(buffer[read..<read + count])
  }

  // MARK: Socket

  private func connect() throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw Problem.connect(errno) }
    var wait = timeval(tv_sec: Self.timeoutSeconds, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
  }

  private func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      // Data sent before the close can still be read.
      if count <= 0 { return }
      sent += count
    }
  }

  private func fill() throws {
    if read == buffer.count { (buffer, read) = ([], 0) }
    let room = 65_536
    var piece = [UInt8](repeating: 0, count: room)
    let count = recv(descriptor, &piece, room, 0)
    if count > 0 {
      buffer += piece[..<count]
    } else if count == 0 || errno == ECONNRESET {
      throw Problem.closed
    } else {
      throw Problem.silent
    }
  }
}
