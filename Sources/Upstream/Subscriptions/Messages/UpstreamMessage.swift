import LosslessJSON

/// A server's message.
enum UpstreamMessage: Sendable {
  /// - Parameter keepAlive: AppSync's maximum silence.
  case acknowledged(keepAlive: Duration?)
  case keepAlive
  case ping
  case pong
  /// AppSync has registered a subscription.
  case started(id: String)
  case next(id: String, SubscriptionPayload)
  /// The end of a subscription with errors; AppSync can omit the id.
  case error(id: String?, SubscriptionFault)
  case complete(id: String)
  /// The server cannot use the connection, or a message of it.
  case connectionError(SubscriptionFault)
  /// A message of a type that the protocol does not know, which is ignored.
  case unknown
  /// Not a message of any protocol.
  case invalid(reason: String)
}

/// An event's payload, a part of a message.
struct SubscriptionPayload: Sendable {
  let message: [UInt8]
  let range: Range<Int>
}

/// What the errors of a message say, in any of the forms that servers use: a list of errors, an object
/// with `errors` (a list or one error), one error, or a text.
struct SubscriptionFault: Sendable, Equatable {
  /// The first error's message, fit for clients.
  var message: String
  var permission: PermissionProblem?
  /// Whether the same can succeed after a delay.
  var isThrottled = false
  /// Whether the connection has as many subscriptions as AppSync allows.
  var isConnectionFull = false
  /// Whether the subscription's id is in use.
  var isDuplicate = false
  /// AppSync's numeric code.
  var code: Int64?

  static let messageCharactersMax = 500
}

extension SubscriptionFault {
  init(_ payload: JSONNode?) {
    let errors = Self.errors(in: payload)
    message = "upstream gave no reason"
    if let said = errors.lazy.compactMap(Self.message).first(where: { !$0.isEmpty }) {
      message = String(said.prefix(Self.messageCharactersMax))
    }
    for error in errors {
      let codes = [error["extensions"]?["code"], error["errorType"], error["code"]]
      for code in codes.compactMap({ $0?.string }) { note(code) }
      if let number = error["errorCode"]?.int64, code == nil { code = number }
    }
    if permission == nil, code == 401 { permission = .unauthenticated }
    if permission == nil, code == 403 { permission = .forbidden }
  }

  private mutating func note(_ code: String) {
    if permission == nil { permission = PermissionProblem(code: code) }
    switch code.split(separator: "#").last {
    case "MaxSubscriptionsReachedError", "MaxSubscriptionsReachedException":
      isConnectionFull = true
    case "DuplicatedOperationError": isDuplicate = true
    default: if ThrottlingCode.contains(code) { isThrottled = true }
    }
  }

  private static func errors(in payload: JSONNode?) -> [JSONNode] {
    guard let payload else { return [] }
    if payload.kind == .array { return Array(payload.elements.prefix(errorsMax)) }
    guard let inner = payload["errors"], !inner.isNull else { return [payload] }
    return inner.kind == .array ? Array(inner.elements.prefix(errorsMax)) : [inner]
  }

  /// Errors beyond these are not read.
  private static let errorsMax = 16

  private static func message(_ error: JSONNode) -> String? {
    error.string ?? error["message"]?.string ?? error["errorType"]?.string
  }
}
