import HTTPWire

/// Feeds a server connection and records its events; the test decides about responses.
struct ConnectionDriver: ~Copyable {
  var connection: ServerConnection
  var events: [String] = []
  var content = ""
  var refusal: RequestError?
  private let bodyBytesMax: Int
  private var kept: [UInt8] = []

  init(limits: ServerConnectionLimits = ServerConnectionLimits(), bodyBytesMax: Int = 0) {
    connection = ServerConnection(limits: limits)
    self.bodyBytesMax = bodyBytesMax
  }

  mutating func receive(_ text: String) {
    kept += Array(text.utf8)
    resume()
  }

  /// Goes on with what was kept.
  mutating func resume() {
    let input = kept
    input.withUnsafeBytes { raw in
      var offset = 0
      while step(raw, &offset) {}
      kept = Array(raw[offset...])
    }
  }

  private mutating func step(_ input: UnsafeRawBufferPointer, _ offset: inout Int) -> Bool {
    switch connection.next(input, from: &offset) {
    case .needMore: return note("needMore", goesOn: false)
    case .pause: return note("pause", goesOn: false)
    case .ignored: return note("ignored", goesOn: true)
    case .close: return note("close", goesOn: false)
    case .endOfRequest: return note("endOfRequest", goesOn: true)
    case .content(let range):
      content += String(decoding: input[range], as: UTF8.self)
      return note("content", goesOn: true)
    case .refuse(let error):
      refusal = error
      return note("refuse", goesOn: false)
    case .request:
      if connection.head.hasBody { refusal = connection.allowContent(bytesMax: bodyBytesMax) }
      return note("request \(connection.head.path.text)", goesOn: refusal == nil)
    }
  }

  private mutating func note(_ event: String, goesOn: Bool) -> Bool {
    events.append(event)
    return goesOn
  }
}
