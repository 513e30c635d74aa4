import Gateway
import LosslessJSON
import Model

/// Devices as JSON: `{"platform", "name"?, "pushToken"?}` in requests, with `"access"?` in a registration;
/// in responses also `id` and times in milliseconds since 1970.
enum DeviceDocument {
  private static let platformBytesMax = 32
  private static let nameBytesMax = 128
  /// Web push subscriptions, the longest, are about a kilobyte.
  private static let pushTokenBytesMax = 4096
  private static let memberNames = ["platform", "name", "pushToken"]

  static func registration(_ bytes: [UInt8]) throws(Failure) -> DeviceRegistration {
    let (change, access) = try read(bytes, isRegistration: true)
    return DeviceRegistration(
      platform: change.platform ?? "", name: change.name.text, pushToken: change.pushToken.text,
      access: access)
  }

  static func change(_ bytes: [UInt8]) throws(Failure) -> DeviceChange {
    try read(bytes, isRegistration: false).change
  }

  private static func read(
    _ bytes: [UInt8], isRegistration: Bool
  ) throws(Failure) -> (change: DeviceChange, access: DeviceAccess) {
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard let members = body.members else {
      throw Failure(.malformedRequest, "The body must be a JSON object.")
    }
    let known = memberNames + (isRegistration ? ["access"] : [])
    var faults = members.filter { !known.contains($0.name) }.map {
      fault($0.name, "is unknown; the members are \(known.joined(separator: ", "))")
    }
    var change = DeviceChange()
    change.platform = platform(body["platform"], isNeeded: isRegistration, &faults)
    change.name = edit(body["name"], "name", bytesMax: nameBytesMax, &faults)
    change.pushToken = edit(body["pushToken"], "pushToken", bytesMax: pushTokenBytesMax, &faults)
    var access = DeviceAccess.full
    if isRegistration, let value = body["access"] {
      if let known = value.string.flatMap(DeviceAccess.init(rawValue:)) {
        access = known
      } else {
        faults.append(fault("access", "must be full or read"))
      }
    }
    guard faults.isEmpty else {
      throw Failure(.malformedRequest, "The device is invalid.", details: faults)
    }
    return (change, access)
  }

  private static func platform(
    _ value: JSONValue?, isNeeded: Bool, _ faults: inout [Failure.Detail]
  ) -> String? {
    if value == nil, !isNeeded { return nil }
    guard let text = value?.string, isText(text, bytesMax: platformBytesMax) else {
      faults.append(
        fault("platform", "must be a string of 1 to \(platformBytesMax) bytes, such as ios"))
      return nil
    }
    return text
  }

  private static func edit(
    _ value: JSONValue?, _ name: String, bytesMax: Int, _ faults: inout [Failure.Detail]
  ) -> DeviceChange.Edit {
    guard let value else { return .keep }
    if value.isNull { return .set(nil) }
    guard let text = value.string, isText(text, bytesMax: bytesMax) else {
      faults.append(fault(name, "must be a string of 1 to \(bytesMax) bytes, or null"))
      return .keep
    }
    return .set(text)
  }

  /// Whether a text has a valid length and no control characters, which are unsafe in logs and headers.
  private static func isText(_ text: String, bytesMax: Int) -> Bool {
    1...bytesMax ~= text.utf8.count && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
  }

  private static func fault(_ name: String, _ detail: String) -> Failure.Detail {
    Failure.Detail(place: .pointer("".appending(pointerMember: name)), detail: detail)
  }

  // MARK: Responses

  static func bytes(id: String, token: String) -> [UInt8] {
    let body: JSONValue = ["id": .string(id), "deviceToken": .string(token)]
    return body.bytes
  }

  static func bytes(_ device: Device) -> [UInt8] {
    var members: [JSONMember] = [
      JSONMember("id", .string(device.id)),
      JSONMember("platform", .string(device.platform)),
      JSONMember("name", device.name.map(JSONValue.string) ?? .null),
      JSONMember("pushToken", device.pushToken.map(JSONValue.string) ?? .null),
      JSONMember("userId", device.user.map(JSONValue.string) ?? .null),
      JSONMember("registeredAt", .number(JSONNumber(device.registered.milliseconds))),
      JSONMember("lastUsedAt", .number(JSONNumber(device.lastUsed.milliseconds))),
      JSONMember("access", .string(device.access.rawValue)),
    ]
    if let end = device.tokenExpires {
      members.append(JSONMember("expiresAt", .number(JSONNumber(end.milliseconds))))
    }
    return JSONValue.object(members).bytes
  }
}

extension DeviceChange.Edit {
  fileprivate var text: String? {
    if case .set(let text) = self { text } else { nil }
  }
}
