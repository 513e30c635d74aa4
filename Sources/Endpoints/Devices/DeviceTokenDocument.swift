import LosslessJSON
import Model

/// Tokens of a device that only read, as JSON: `{"access": "read", "expiresIn"}` in requests; in responses
/// `id`, `access` and times in milliseconds since 1970.
enum DeviceTokenDocument {
  private static let memberNames = ["access", "expiresIn"]
  /// A year, and a day for those that have one more.
  static let secondsMax: Int64 = 366 * 86_400

  /// Reads the lifetime of a requested token.
  static func lifetime(_ bytes: [UInt8]) throws(Failure) -> Duration {
    let body = try ObjectBody.object(bytes)
    var faults = ObjectBody.unknownMembers(of: body, known: memberNames)
    if body["access"]?.string != DeviceAccess.read.rawValue {
      faults.append(
        ObjectBody.fault(
          "/access", "must be read; POST /v1/devices/me/rotate replaces the token of full access"))
    }
    let seconds = body["expiresIn"]?.int64 ?? 0
    if !(1...secondsMax).contains(seconds) {
      faults.append(
        ObjectBody.fault("/expiresIn", "must be a number of seconds from 1 to \(secondsMax)"))
    }
    guard faults.isEmpty else {
      throw Failure(.malformedRequest, "The token is invalid.", details: faults)
    }
    return .seconds(seconds)
  }

  static func bytes(_ token: DeviceReadToken, text: String) -> [UInt8] {
    var members = members(token)
    members.insert(JSONMember("deviceToken", .string(text)), at: 1)
    return JSONValue.object(members).bytes
  }

  static func bytes(_ tokens: [DeviceReadToken]) -> [UInt8] {
    let body: JSONValue = ["tokens": .array(tokens.map { .object(members($0)) })]
    return body.bytes
  }

  private static func members(_ token: DeviceReadToken) -> [JSONMember] {
    [
      JSONMember("id", .string(token.id)),
      JSONMember("access", .string(DeviceAccess.read.rawValue)),
      JSONMember("madeAt", .number(JSONNumber(token.made.milliseconds))),
      JSONMember("expiresAt", .number(JSONNumber(token.expires.milliseconds))),
    ]
  }
}
