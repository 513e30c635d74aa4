#if canImport(Glibc)
  import Foundation

  /// A parser of one HTTP/1.1 response (RFC 9112) from pieces that are cut anywhere. Interim responses
  /// are skipped.
  struct HTTPResponseParser {
    enum Event: Equatable {
      case head(status: Int, headers: [String: String])
      case body(Data)
      case end
    }

    struct Fault: Error {}

    private enum State {
      case head
      case length(Int)
      case chunkSize
      case chunk(Int)
      case chunkEnd
      case trailer
      case untilClose
      case done
    }

    private static let headBytesMax = 64 << 10
    /// Of the size of a chunk, and of a trailer field.
    private static let lineBytesMax = 4 << 10

    private let isHead: Bool
    private var state = State.head
    private var buffer: [UInt8] = []

    /// - Parameter isHead: whether the request's method is HEAD, so that there is no body.
    init(isHead: Bool) {
      self.isHead = isHead
    }

    mutating func take(_ piece: some Sequence<UInt8>) throws -> [Event] {
      buffer.append(contentsOf: piece)
      var events: [Event] = []
      while try step(&events) {}
      return events
    }

    /// The end of the connection. Throws if that is not the end of the response.
    mutating func finish() throws -> [Event] {
      switch state {
      case .done: return []
      case .untilClose: return [.end]
      default: throw Fault()
      }
    }

    /// Makes one step; false if more bytes are needed.
    private mutating func step(_ events: inout [Event]) throws -> Bool {
      switch state {
      case .head:
        guard let end = endOfHead else {
          if buffer.count > Self.headBytesMax { throw Fault() }
          return false
        }
        try readHead(Array(buffer[..<end]), &events)
        buffer.removeFirst(end)
        return true
      case .length(let left):
        return emit(left, &events) { left in left > 0 ? .length(left) : .done }
      case .chunk(let left):
        return emit(left, &events) { left in left > 0 ? .chunk(left) : .chunkEnd }
      case .chunkEnd:
        guard let line = try takeLine() else { return false }
        guard line.isEmpty else { throw Fault() }
        state = .chunkSize
        return true
      case .chunkSize:
        guard let line = try takeLine() else { return false }
        let digits = line.split(separator: ";").first?.trimmingCharacters(in: .whitespaces) ?? ""
        guard let size = Int(digits, radix: 16), size >= 0 else { throw Fault() }
        state = size > 0 ? .chunk(size) : .trailer
        return true
      case .trailer:
        guard let line = try takeLine() else { return false }
        if line.isEmpty { end(&events) }
        return true
      case .untilClose:
        if !buffer.isEmpty { events.append(.body(Data(buffer))) }
        buffer.removeAll()
        return false
      case .done: return false
      }
    }

    private mutating func end(_ events: inout [Event]) {
      state = .done
      events.append(.end)
    }

    private mutating func emit(
      _ left: Int, _ events: inout [Event], then next: (Int) -> State
    ) -> Bool {
      guard !buffer.isEmpty else { return false }
      let count = min(left, buffer.count)
      events.append(.body(Data(buffer[..<count])))
      buffer.removeFirst(count)
      state = next(left - count)
      if case .done = state { end(&events) }
      return true
    }

    /// The next line; nil if its end has not come yet.
    private mutating func takeLine() throws -> String? {
      guard let end = buffer.firstIndex(of: 0x0A) else {
        if buffer.count > Self.lineBytesMax { throw Fault() }
        return nil
      }
      let text = Self.text(buffer[..<end])
      buffer.removeFirst(end + 1)
      return text
    }

    /// A line without its end. Only CR and LF end lines: a value can have other line ends of Unicode.
    private static func text(_ line: ArraySlice<UInt8>) -> String {
      String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    }

    /// The number of bytes of the head with its empty line.
    private var endOfHead: Int? {
      var lineStart = 0
      for (index, byte) in buffer.enumerated() where byte == 0x0A {
        let line = buffer[lineStart..<index]
        if line.isEmpty || line.elementsEqual([0x0D]) { return index + 1 }
        lineStart = index + 1
      }
      return nil
    }

    private mutating func readHead(_ bytes: [UInt8], _ events: inout [Event]) throws {
      let lines = bytes.split(separator: 0x0A).filter { $0 != [0x0D] }
      let parts = Self.text(lines.first ?? []).split(separator: " ", maxSplits: 2)
      guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), let status = Int(parts[1]),
        (100...999).contains(status)
      else { throw Fault() }
      var headers: [String: String] = [:]
      for line in lines.dropFirst() {
        guard let colon = line.firstIndex(of: 0x3A) else { throw Fault() }
        let name = Self.text(line[..<colon]).lowercased()
        let value = Self.text(line[(colon + 1)...]).trimmingCharacters(in: .whitespaces)
        headers[name] = headers[name].map { "\($0), \(value)" } ?? value
      }
      if status < 200 { return }
      events.append(.head(status: status, headers: headers))
      if isHead || status == 204 || status == 304 {
        end(&events)
      } else if headers["transfer-encoding"]?.lowercased().hasSuffix("chunked") == true {
        state = .chunkSize
      } else if let text = headers["content-length"] {
        guard let length = Int(text), length >= 0 else { throw Fault() }
        if length > 0 { state = .length(length) } else { end(&events) }
      } else {
        state = .untilClose
      }
    }
  }
#endif
