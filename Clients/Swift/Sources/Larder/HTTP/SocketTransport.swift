#if canImport(Glibc)
  import Foundation

  /// HTTP/1.1 without TLS on a socket: one connection and one thread for each exchange.
  struct SocketTransport: HTTPTransport {
    func start(_ request: HTTPRequest, url: URL) -> HTTPExchange {
      let (heads, head) = HTTPExchange.Heads.makeStream()
      let (bodies, body) = HTTPExchange.Body.makeStream()
      let connection = Connection()
      body.onTermination = { reason in
        if case .cancelled = reason { connection.shutDown() }
      }
      Thread.detachNewThread {
        var failure: LarderError?
        do {
          try connection.open(host: url.host ?? "", port: url.port ?? 80)
          try connection.exchange(request, url, head, body)
        } catch {
          failure = error as? LarderError ?? .offline("The response was cut off.", wasSent: true)
        }
        connection.close()
        head.finish(throwing: failure)
        body.finish(throwing: failure)
      }
      return HTTPExchange(heads: heads, body: bodies) {
        // A look-up of the host's name cannot be interrupted: its thread ends later.
        let wasSent = connection.shutDown()
        let failure = LarderError.offline("No response in time.", wasSent: wasSent)
        head.finish(throwing: failure)
        body.finish(throwing: failure)
        return wasSent
      }
    }

    /// A socket that one thread uses, and any can shut down.
    private final class Connection: Sendable {
      private struct State {
        var socket: Int32?
        var isConnected = false
        var isEnded = false
      }

      private let state = Locked(State())

      /// Ends the exchange: reads and writes of the other thread fail.
      ///
      /// - Returns: whether there was a connection.
      @discardableResult
      func shutDown() -> Bool {
        state.withLock { state in
          state.isEnded = true
          if let socket = state.socket { _ = shutdown(socket, Int32(SHUT_RDWR)) }
          return state.isConnected
        }
      }

      func close() {
        state.withLock { state in
          if let socket = state.socket { _ = Glibc.close(socket) }
          state.socket = nil
        }
      }

      private var socket: Int32 {
        get throws {
          try state.withLock { state in
            guard let socket = state.socket else { throw HTTPResponseParser.Fault() }
            return socket
          }
        }
      }

      func open(host: String, port: Int) throws {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let name = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        guard getaddrinfo(name, String(port), &hints, &list) == 0 else {
          throw LarderError.offline("The host \(host) is not known.", wasSent: false)
        }
        defer { freeaddrinfo(list) }
        var detail = "The host \(host) has no address."
        var next = list
        while let address = next?.pointee {
          let descriptor = Glibc.socket(
            address.ai_family, address.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
          guard descriptor >= 0 else { break }
          let isWanted = state.withLock { state in
            if !state.isEnded { state.socket = descriptor }
            return !state.isEnded
          }
          guard isWanted else {
            _ = Glibc.close(descriptor)
            break
          }
          if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 {
            let isWanted = state.withLock { state in
              state.isConnected = !state.isEnded
              return state.isConnected
            }
            if isWanted { return }
          }
          detail = String(cString: strerror(errno))
          close()
          next = address.ai_next
        }
        throw LarderError.offline(detail, wasSent: false)
      }

      func exchange(
        _ request: HTTPRequest, _ url: URL, _ head: HTTPExchange.Heads.Continuation,
        _ body: HTTPExchange.Body.Continuation
      ) throws {
        let socket = try socket
        if request.isStream {
          var silence = timeval(tv_sec: HTTPExchange.streamSilence, tv_usec: 0)
          _ = setsockopt(
            socket, SOL_SOCKET, SO_RCVTIMEO, &silence, socklen_t(MemoryLayout<timeval>.size))
        }
        try write(Self.text(of: request, url), to: socket)
        var parser = HTTPResponseParser(isHead: request.method == "HEAD")
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
          let count = recv(socket, &buffer, buffer.count, 0)
          if count < 0, errno == EINTR { continue }
          guard count >= 0 else { throw HTTPResponseParser.Fault() }
          let events = count > 0 ? try parser.take(buffer[..<count]) : try parser.finish()
          for event in events {
            switch event {
            case .head(let status, let headers):
              head.yield(HTTPExchange.Head(status: status, headers: headers))
            case .body(let piece): body.yield(piece)
            case .end: return
            }
          }
        }
      }

      private static func text(of request: HTTPRequest, _ url: URL) -> Data {
        let host = (url.host ?? "") + (url.port.map { ":\($0)" } ?? "")
        let absolute = url.absoluteString
        let start = absolute.range(of: "://").map(\.upperBound) ?? absolute.startIndex
        let target = absolute[start...].firstIndex(of: "/").map { String(absolute[$0...]) } ?? "/"
        var text = "\(request.method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
        for (name, value) in request.headers {
          // A field cannot end early.
          text += "\(name): \(value.filter { !$0.isNewline })\r\n"
        }
        if let body = request.body {
          text += "Content-Length: \(body.count)\r\n"
        } else if request.method != "GET", request.method != "HEAD" {
          text += "Content-Length: 0\r\n"
        }
        return Data((text + "\r\n").utf8) + (request.body ?? Data())
      }

      private func write(_ data: Data, to socket: Int32) throws {
        var sent = 0
        while sent < data.count {
          let count = data.withUnsafeBytes { bytes in
            send(socket, bytes.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
          }
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { throw HTTPResponseParser.Fault() }
          sent += count
        }
      }
    }
  }
#endif
