/// Parser of an event stream (WHATWG HTML, 9.2.6): bytes in, events out.
///
/// The result does not depend on how the stream is split. An event that the stream ends in the middle
/// of is never returned.
package struct EventStreamParser: Sendable {
  package struct Event: Sendable, Equatable {
    /// The event's name; empty for an unnamed event, which browsers call `message`.
    package var name = ""
    /// The lines of data, joined by LF. Not validated as UTF-8.
    package var data: [UInt8] = []
    /// Whether the event has a data line. Browsers drop an event without one.
    package var hasData = false

    package init(name: String = "", data: [UInt8] = [], hasData: Bool = false) {
      self.name = name
      self.data = data
      self.hasData = hasData
    }
  }

  package enum Fault: Error, Equatable, Sendable {
    /// An event, or a line of the stream, is longer than the limit.
    case tooLarge(bytesMax: Int)
  }

  private let eventBytesMax: Int
  /// The line whose end has not arrived.
  private var line: [UInt8] = []
  private var event = Event()
  /// Whether the last byte was CR: an LF after it belongs to the same line end.
  private var endedWithReturn = false
  private var isAtStart = true
  /// The last `id`, which a client sends as `Last-Event-ID` when it reconnects.
  package private(set) var lastEventID: [UInt8] = []

  /// - Parameter eventBytesMax: the maximum size of an event's data, and of a line.
  package init(eventBytesMax: Int) {
    self.eventBytesMax = eventBytesMax
  }

  /// Reads the next piece of the stream, and returns the events that end in it.
  ///
  /// After a fault the stream cannot be read further.
  package mutating func parse(_ piece: [UInt8]) throws(Fault) -> [Event] {
    var events: [Event] = []
    var rest = piece[...]
    if endedWithReturn, let first = rest.first {
      endedWithReturn = false
      if first == Self.lineFeed { rest = rest.dropFirst() }
    }
    while let end = rest.firstIndex(where: { $0 == Self.lineFeed || $0 == Self.carriageReturn }) {
      try extend(by: rest[..<end])
      let isReturn = rest[end] == Self.carriageReturn
      rest = rest[rest.index(after: end)...]
      if isReturn {
        if rest.first == Self.lineFeed {
          rest = rest.dropFirst()
        } else if rest.isEmpty {
          endedWithReturn = true
        }
      }
      if let event = try endLine() { events.append(event) }
    }
    try extend(by: rest)
    return events
  }

  private mutating func extend(by bytes: ArraySlice<UInt8>) throws(Fault) {
    guard line.count + bytes.count <= eventBytesMax + Self.fieldBytesMax else {
      throw .tooLarge(bytesMax: eventBytesMax)
    }
    line += bytes
  }

  /// - Returns: the event that ends with this line, if it is blank.
  private mutating func endLine() throws(Fault) -> Event? {
    var text = line[...]
    if isAtStart {
      isAtStart = false
      if text.starts(with: Self.byteOrderMark) { text = text.dropFirst(3) }
    }
    defer { line.removeAll(keepingCapacity: line.capacity <= Self.keptBytesMax) }
    if text.isEmpty {
      let ended = event
      event = Event()
      return ended.hasData || !ended.name.isEmpty ? ended : nil
    }
    let name = text.prefix { $0 != UInt8(ascii: ":") }
    var value = text[name.endIndex...].dropFirst()
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    try take(name, value)
    return nil
  }

  private mutating func take(
    _ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>
  ) throws(Fault) {
    if name.elementsEqual(Self.dataField) {
      guard event.data.count + value.count < eventBytesMax else {
        throw .tooLarge(bytesMax: eventBytesMax)
      }
      if event.hasData { event.data.append(Self.lineFeed) }
      event.hasData = true
      event.data += value
    } else if name.elementsEqual(Self.eventField) {
      guard value.count <= Self.fieldBytesMax else { throw .tooLarge(bytesMax: eventBytesMax) }
      event.name = String(decoding: value, as: UTF8.self)
    } else if name.elementsEqual(Self.idField), !value.contains(0) {
      guard value.count <= Self.fieldBytesMax else { throw .tooLarge(bytesMax: eventBytesMax) }
      lastEventID = Array(value)
    }
    // `retry` is the server's wish for browsers; comments and unknown fields say nothing.
  }

  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  private static let dataField = Array("data".utf8)
  private static let eventField = Array("event".utf8)
  private static let idField = Array("id".utf8)
  /// The maximum size of a name or id, which no server comes near.
  private static let fieldBytesMax = 1024
  /// The capacity of the line buffer that is kept from line to line.
  private static let keptBytesMax = 64 << 10
}
