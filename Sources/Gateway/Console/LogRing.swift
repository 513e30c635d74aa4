import LosslessJSON
import Model
import Synchronization

/// One line of the log.
package struct LoggedLine: Hashable, Sendable {
  /// Grows with each line.
  package let id: Int64
  /// In ISO 8601, as it was written.
  package let time: String
  package let level: String
  package let logger: String
  package let message: String
  package let fields: [Field]

  package struct Field: Hashable, Sendable {
    package let name: String
    package let value: String
  }

  package subscript(field: String) -> String? { fields.first { $0.name == field }?.value }
}

/// The latest lines of the log, in memory, for operators. It holds what was written, where secrets are
/// masked.
///
/// Lines about requests have a part of the memory of their own, so that a busy service does not push out its
/// warnings.
package final class LogRing: Sendable {
  /// The lines that a reader wants.
  package struct Question: Sendable {
    /// The id that the lines come after; nil for the latest lines.
    package var after: Int64?
    /// The lowest level, by its place in ``LogRing/levels``; nil for all.
    package var level: String?
    package var requestID: String?
    package var logger: String?
    package var limit: Int

    package init(
      after: Int64? = nil, level: String? = nil, requestID: String? = nil, logger: String? = nil,
      limit: Int
    ) {
      self.after = after
      self.level = level
      self.requestID = requestID
      self.logger = logger
      self.limit = limit
    }
  }

  package struct Page: Sendable {
    /// In the order in which they were written.
    package let lines: [LoggedLine]
    /// The id to read on after.
    package let next: Int64
    /// The id of the oldest line that is kept; 0 for none.
    package let oldest: Int64
  }

  /// From the lowest to the highest.
  package static let levels = [
    "trace", "debug", "info", "notice", "warning", "error", "critical",
  ]
  /// Bytes of the lines of each part.
  package static let bytesMax = 1 << 20

  /// Lines that were written together.
  private struct Batch {
    let first: Int64
    let last: Int64
    let bytes: [UInt8]
  }

  private struct Part {
    var batches: ArraySlice<Batch> = []
    var byteCount = 0

    mutating func append(_ batch: Batch, bytesMax: Int) {
      batches.append(batch)
      byteCount += batch.bytes.count
      while byteCount > bytesMax, let oldest = batches.first {
        batches = batches.dropFirst()
        byteCount -= oldest.bytes.count
      }
    }
  }

  private struct State {
    var last: Int64 = 0
    var requests = Part()
    var others = Part()
  }

  private let bytesMax: Int
  private let state = Mutex(State())

  /// - Parameter bytesMax: the limit of each of the two parts.
  package init(bytesMax: Int = LogRing.bytesMax) {
    self.bytesMax = bytesMax
  }

  /// Takes complete lines.
  package func take(_ lines: [UInt8]) {
    let count = Int64(lines.count { $0 == UInt8(ascii: "\n") })
    guard count > 0 else { return }
    let isOfRequests = Self.isOfRequest(lines)
    state.withLock { state in
      let batch = Batch(first: state.last + 1, last: state.last + count, bytes: lines)
      state.last += count
      if isOfRequests {
        state.requests.append(batch, bytesMax: bytesMax)
      } else {
        state.others.append(batch, bytesMax: bytesMax)
      }
    }
  }

  package func page(_ question: Question) -> Page {
    let (batches, last) = state.withLock { state in
      (Array(state.requests.batches) + Array(state.others.batches), state.last)
    }
    let sorted = batches.sorted { $0.first < $1.first }
    let oldest = sorted.first?.first ?? 0
    guard let after = question.after else {
      var lines: [LoggedLine] = []
      for batch in sorted.reversed() where lines.count < question.limit {
        lines = Self.lines(of: batch).filter { Self.matches($0, question) } + lines
      }
      return Page(lines: Array(lines.suffix(question.limit)), next: last, oldest: oldest)
    }
    var lines: [LoggedLine] = []
    for batch in sorted where batch.last > after {
      lines += Self.lines(of: batch).filter { $0.id > after && Self.matches($0, question) }
      if lines.count > question.limit { break }
    }
    guard lines.count > question.limit else {
      return Page(lines: lines, next: last, oldest: oldest)
    }
    let page = Array(lines.prefix(question.limit))
    return Page(lines: page, next: page.last?.id ?? after, oldest: oldest)
  }

  private static func matches(_ line: LoggedLine, _ question: Question) -> Bool {
    if let level = question.level, rank(line.level) < rank(level) { return false }
    if let id = question.requestID, line["request_id"] != id { return false }
    if let logger = question.logger, line.logger != logger { return false }
    return true
  }

  private static func rank(_ level: String) -> Int { levels.firstIndex(of: level) ?? levels.count }

  /// Whether the first line is of the access log.
  private static func isOfRequest(_ lines: [UInt8]) -> Bool {
    let start = lines.prefix(160)
    return start.firstRange(of: Array(": request method=".utf8)) != nil
      || start.firstRange(of: Array(#""message":"request""#.utf8)) != nil
  }

  private static func lines(of batch: Batch) -> [LoggedLine] {
    batch.bytes.split(separator: UInt8(ascii: "\n")).enumerated().map { offset, bytes in
      LoggedLine(id: batch.first + Int64(offset), bytes)
    }
  }
}

extension LoggedLine {
  /// Reads a line in either format of the log.
  init(id: Int64, _ bytes: ArraySlice<UInt8>) {
    if bytes.first == UInt8(ascii: "{"), let value = try? JSONValue(parsing: Array(bytes)) {
      self.init(id: id, json: value)
    } else {
      self.init(id: id, text: String(decoding: bytes, as: UTF8.self))
    }
  }

  private init(id: Int64, json: JSONValue) {
    func text(_ name: String) -> String { json[name]?.string ?? "" }
    let known: Set<String> = ["time", "level", "logger", "message"]
    self.init(
      id: id, time: text("time"), level: text("level"), logger: text("logger"),
      message: text("message"),
      fields: (json.members ?? []).filter { !known.contains($0.name) }.map {
        Field(name: $0.name, value: $0.value.string ?? $0.value.text)
      })
  }

  /// Reads `TIME LEVEL LOGGER: MESSAGE name=value name="value as JSON"`.
  private init(id: Int64, text: String) {
    let words = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
    guard words.count == 4, words[2].hasSuffix(":") else {
      self.init(id: id, time: "", level: "", logger: "", message: text, fields: [])
      return
    }
    let (message, fields) = Self.parse(words[3])
    self.init(
      id: id, time: String(words[0]), level: String(words[1]),
      logger: String(words[2].dropLast()), message: message, fields: fields)
  }

  private static func parse(_ text: Substring) -> (message: String, fields: [Field]) {
    var rest = text
    var message = ""
    if rest.first == "\"", let end = quotedEnd(of: rest) {
      message = unquoted(rest[..<end])
      rest = rest[end...].drop { $0 == " " }
    }
    var fields: [Field] = []
    while !rest.isEmpty {
      let word = rest.prefix { $0 != " " }
      if let equals = word.firstIndex(of: "="), isName(word[..<equals]) {
        let start = word.index(after: equals)
        let end = rest[start...].first == "\"" ? quotedEnd(of: rest[start...]) : nil
        let value = rest[start..<(end ?? word.endIndex)]
        fields.append(
          Field(name: String(word[..<equals]), value: end == nil ? String(value) : unquoted(value)))
        rest = rest[value.endIndex...]
      } else {
        // Words between the fields are none of this format's, but are not lost.
        if fields.isEmpty { message += (message.isEmpty ? "" : " ") + word }
        rest = rest[word.endIndex...]
      }
      rest = rest.drop { $0 == " " }
    }
    return (message, fields)
  }

  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
          || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
          || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
      }
  }

  /// The place after the closing quote of a text that begins with one.
  private static func quotedEnd(of text: Substring) -> Substring.Index? {
    var index = text.index(after: text.startIndex)
    while index < text.endIndex {
      if text[index] == "\\" {
        index = text.index(after: index)
        guard index < text.endIndex else { return nil }
      } else if text[index] == "\"" {
        return text.index(after: index)
      }
      index = text.index(after: index)
    }
    return nil
  }

  private static func unquoted(_ text: Substring) -> String {
    (try? JSONValue(parsing: Array(text.utf8)))?.string ?? String(text.dropFirst().dropLast())
  }
}
