import LosslessJSON
import Model

/// The server's side of one connection that speaks `graphql-transport-ws`: messages and results in,
/// actions out. It does no I/O and has no clock.
///
/// A connection is opened, then initialised by `connection_init`, whose credentials the owner checks
/// (``Action/check(_:)``, answered by ``admit()`` or ``refuse(_:)``), then acknowledged. Only then are
/// operations begun. Each gets a number of its own, since a client can use an id again as soon as the
/// operation is over: results that come late for the number of an ended operation are dropped.
///
/// An operation keeps its place among the connection's operations until its work has ended, of which the
/// owner informs the session (``noteWorkEnded(of:)``): a call to upstream goes on although its client has
/// ended the operation, and would otherwise not count.
///
/// After ``Action/close(_:)`` every input is ignored.
struct GraphQLSession {
  /// What the owner of the connection does, in order.
  enum Action: Equatable, Sendable {
    /// Send a text message.
    case send([UInt8])
    /// Check the credentials in the payload of `connection_init`, an object.
    case check(JSONValue)
    /// Begin an operation.
    case begin(Operation)
    /// Stop the operation with this number; its results are dropped.
    case cancel(UInt64)
    /// Stop all operations and close the connection.
    case close(Close)
  }

  /// An operation that a client begins.
  struct Operation: Equatable, Sendable {
    let number: UInt64
    /// The payload of `subscribe`, an object.
    let request: JSONValue
  }

  /// The bounds of one connection.
  struct Limits: Sendable {
    /// Operations at a time, those included whose work goes on after their end; further ones are
    /// refused, each by a message of its own.
    var operationsMax = 100
    /// UTF-8 bytes of an operation's id.
    var idBytesMax = 256
  }

  private enum Phase {
    /// No `connection_init` yet.
    case opened
    /// The credentials are being checked.
    case checking
    case ready
    case closed
  }

  private let limits: Limits
  private var phase = Phase.opened
  private var lastNumber: UInt64 = 0
  private var numbers: [ExactText: UInt64] = [:]
  private var ids: [UInt64: String] = [:]
  /// The operations whose work has not ended; all that ``ids`` has, and more.
  private var working: Set<UInt64> = []

  init(limits: Limits = Limits()) {
    self.limits = limits
  }

  var operationCount: Int { ids.count }

  /// The number of operations that have a place.
  var placeCount: Int { working.count }

  func isRunning(_ number: UInt64) -> Bool { ids[number] != nil }

  var isClosed: Bool { phase == .closed }

  // MARK: The client's messages

  /// Reads a message; nil for one that is not text.
  mutating func receive(_ text: [UInt8]?) -> [Action] {
    guard phase != .closed else { return [] }
    guard let text else { return close(.invalid("messages must be text")) }
    do throws(GraphQLMessage.Fault) {
      return try react(to: GraphQLMessage(parsing: text, idBytesMax: limits.idBytesMax))
    } catch {
      return close(.invalid(error.reason))
    }
  }

  private mutating func react(to message: GraphQLMessage) -> [Action] {
    switch message {
    case .initialise(let payload):
      guard phase == .opened else { return close(.initialisedTwice) }
      phase = .checking
      return [.check(payload)]
    case .ping(let payload): return [.send(GraphQLMessage.pong(payload))]
    case .pong: return []
    case .subscribe(let id, let request): return subscribe(id, request)
    case .complete(let id):
      guard let number = numbers[ExactText(id)] else { return [] }
      end(number)
      return [.cancel(number)]
    }
  }

  private mutating func subscribe(_ id: String, _ request: JSONValue) -> [Action] {
    guard phase == .ready else { return close(.notInitialised) }
    guard numbers[ExactText(id)] == nil else { return close(.idInUse(id)) }
    guard working.count < limits.operationsMax else {
      let errors = GraphQLMessage.errors(
        "This connection has \(limits.operationsMax) operations, the maximum; complete one first. An "
          + "operation counts until its call to upstream has ended.",
        code: "rate_limited")
      return [.send(GraphQLMessage.error(id, errors))]
    }
    lastNumber += 1
    numbers[ExactText(id)] = lastNumber
    ids[lastNumber] = id
    working.insert(lastNumber)
    return [.begin(Operation(number: lastNumber, request: request))]
  }

  // MARK: The owner's news

  /// The time for `connection_init` is over.
  mutating func runOutOfTime() -> [Action] {
    phase == .opened ? close(.initialisedTooLate) : []
  }

  /// The credentials are valid.
  mutating func admit() -> [Action] {
    guard phase == .checking else { return [] }
    phase = .ready
    return [.send(GraphQLMessage.acknowledgement)]
  }

  /// The credentials are not valid, or are no longer.
  ///
  /// - Parameter reason: what the client can do.
  mutating func refuse(_ reason: String) -> [Action] { close(.forbidden(reason)) }

  /// The work of an operation has ended, whether or not the operation had ended before: its place is
  /// free.
  mutating func noteWorkEnded(of number: UInt64) {
    end(number)
    working.remove(number)
  }

  /// The service is shutting down, or a fault of its own ends the connection.
  mutating func end(_ close: Close) -> [Action] { self.close(close) }

  private mutating func close(_ close: Close) -> [Action] {
    guard phase != .closed else { return [] }
    phase = .closed
    numbers = [:]
    ids = [:]
    working = []
    return [.close(close)]
  }

  // MARK: Results

  /// Returns the message with a result; nil if the operation is over.
  mutating func next(_ result: [UInt8], of number: UInt64) -> [UInt8]? {
    ids[number].map { GraphQLMessage.next($0, result) }
  }

  /// Ends an operation and returns the message that says so; nil if it is over.
  mutating func complete(_ number: UInt64) -> [UInt8]? {
    end(number).map(GraphQLMessage.complete)
  }

  /// Ends an operation that failed and returns the message with its errors; nil if it is over.
  ///
  /// - Parameter errors: a JSON list of at least one error.
  mutating func fail(_ number: UInt64, _ errors: [UInt8]) -> [UInt8]? {
    end(number).map { GraphQLMessage.error($0, errors) }
  }

  @discardableResult
  private mutating func end(_ number: UInt64) -> String? {
    guard let id = ids.removeValue(forKey: number) else { return nil }
    numbers[ExactText(id)] = nil
    return id
  }
}

extension GraphQLSession {
  /// A code and a reason for closing a connection.
  struct Close: Error, Equatable, Sendable {
    let code: UInt16
    /// At most ``reasonBytesMax`` bytes.
    let reason: String

    /// The longest reason of a close frame (RFC 6455 section 5.5.1).
    static let reasonBytesMax = 123

    init(_ code: UInt16, _ reason: String) {
      self.code = code
      var reason = reason
      while reason.utf8.count > Self.reasonBytesMax { reason.removeLast() }
      self.reason = reason
    }

    static func invalid(_ reason: String) -> Self { Self(4400, "Invalid message: \(reason)") }
    static let notInitialised = Self(4401, "Unauthorized")
    static func forbidden(_ reason: String) -> Self { Self(4403, "Forbidden: \(reason)") }
    /// The client offers none of the subprotocols.
    static let wrongSubprotocol = Self(4406, "Subprotocol not acceptable: use graphql-transport-ws")
    static let initialisedTooLate = Self(4408, "Connection initialisation timeout")
    static func idInUse(_ id: String) -> Self { Self(4409, "Subscriber for \(id) already exists") }
    static let initialisedTwice = Self(4429, "Too many initialisation requests")
    /// RFC 6455 section 7.4.1.
    static let goingAway = Self(1001, "The service is shutting down")
    static let unavailable = Self(1013, "Try again later")
  }
}
