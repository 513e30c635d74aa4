import HTTPWire

/// A client without sockets that has sent one request and reads the response.
struct ClientSimulation {
  private(set) var status: Int?
  private(set) var body: [UInt8] = []
  private(set) var isComplete = false
  private(set) var error: ResponseError?
  private(set) var continues = 0
  private var connection: ClientConnection

  init(method: RequestMethod, asksForUpgrade: Bool = false) {
    connection = ClientConnection(bodyLimits: BodyLimits())
    connection.requestSent(method: method, asksForUpgrade: asksForUpgrade)
  }

  var canBeReused: Bool { connection.canBeReused }

  mutating func receive(_ bytes: ArraySlice<UInt8>) {
    Array(bytes).withUnsafeBytes { raw in
      var offset = 0
      do throws(ResponseError) {
        while !isComplete, error == nil {
          guard try step(raw, &offset) else { return }
        }
      } catch {
        self.error = error
      }
    }
  }

  mutating func receiveEnd() {
    guard !isComplete, error == nil else { return }
    do throws(ResponseError) {
      isComplete = try connection.endOfInput()
    } catch {
      self.error = error
    }
  }

  private mutating func step(
    _ input: UnsafeRawBufferPointer, _ offset: inout Int
  ) throws(ResponseError) -> Bool {
    switch try connection.next(input, from: &offset) {
    case .needMore: return false
    case .continue: continues += 1
    case .response: status = connection.head.status
    case .content(let range), .switchedBytes(let range): body += input[range]
    case .endOfResponse: isComplete = true
    }
    return true
  }
}
