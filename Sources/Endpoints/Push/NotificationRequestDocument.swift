import Gateway
import LosslessJSON
import Model

/// Reads `POST /v1/push/notifications`: `{"chatId", "userIds", "text", "heading"?, "data"?}`.
enum NotificationRequestDocument {
  private static let memberNames: Set<String> = ["chatId", "userIds", "text", "heading", "data"]

  static func request(_ bytes: [UInt8]) throws(Failure) -> NotificationRequest {
    let body: JSONValue
    do throws(JSONParseError) {
      body = try JSONValue(parsing: bytes)
    } catch {
      throw Failure(.malformedRequest, "The body is not JSON: \(error)")
    }
    guard let members = body.members else {
      throw Failure(.malformedRequest, "The body must be a JSON object.")
    }
    var reader = Members(body: body)
    let repeated = members.repeatedPositions
    for (position, member) in members.enumerated() {
      if !memberNames.contains(member.name) { reader.note(member.name, "is unknown") }
      if repeated.contains(position) { reader.note(member.name, "is given twice") }
    }
    let chatID = reader.chatID()
    let userIDs = reader.userIDs()
    let text = reader.text("text", bytesMax: NotificationLimits.textBytesMax)
    let heading =
      body["heading"] == nil
      ? nil : reader.text("heading", bytesMax: NotificationLimits.headingBytesMax)
    let data = reader.data(chatID: chatID ?? "")
    guard reader.faults.isEmpty, let chatID, let text else {
      throw Failure(
        .invalidNotification, "The notification is invalid.", details: reader.faults)
    }
    return NotificationRequest(
      chatID: chatID, userIDs: userIDs, text: text, heading: heading, data: data,
      canonicalText: body.canonicalText)
  }
}

/// A reader of the body's members that collects their faults.
private struct Members {
  let body: JSONValue
  private(set) var faults: [Failure.Detail] = []

  init(body: JSONValue) {
    self.body = body
  }

  mutating func note(_ name: String, _ detail: String) {
    faults.append(
      Failure.Detail(place: .pointer("".appending(pointerMember: name)), detail: detail))
  }

  mutating func chatID() -> String? {
    let bytesMax = NotificationLimits.chatIDBytesMax
    if let id = body["chatId"]?.string, NotificationLimits.isName(id, bytesMax: bytesMax) {
      return id
    }
    note("chatId", "must be a string of 1 to \(bytesMax) bytes")
    return nil
  }

  /// The distinct user ids: a user named twice is notified once.
  mutating func userIDs() -> [String] {
    let countMax = NotificationLimits.userIDsMax
    guard let values = body["userIds"]?.array, (1...countMax).contains(values.count) else {
      note("userIds", "must be an array of 1 to \(countMax) user ids")
      return []
    }
    var ids: [String] = []
    var seen: Set<ExactText> = []
    for (index, value) in values.enumerated() {
      guard let id = value.string, NotificationLimits.isUserID(id) else {
        faults.append(
          Failure.Detail(
            place: .pointer("/userIds/\(index)"),
            detail: "must be a string of 1 to \(NotificationLimits.userIDBytesMax) bytes"))
        continue
      }
      if seen.insert(ExactText(id)).inserted { ids.append(id) }
    }
    return ids
  }

  mutating func text(_ name: String, bytesMax: Int) -> String? {
    if let text = body[name]?.string, 1...bytesMax ~= text.utf8.count,
      text.contains(where: { !$0.isWhitespace })
    {
      return text
    }
    note(name, "must be a string of 1 to \(bytesMax) bytes that is not blank")
    return nil
  }

  mutating func data(chatID: String) -> [JSONMember] {
    guard let value = body["data"] else { return [] }
    guard let members = value.members else {
      note("data", "must be an object")
      return []
    }
    if value["chatId"] != nil {
      faults.append(
        Failure.Detail(
          place: .pointer("/data/chatId"),
          detail: "is reserved; set the member chatId outside of data"))
    }
    let whole = value.bytes.count + chatID.utf8.count + #""chatId":"","#.utf8.count
    if whole > NotificationLimits.dataBytesMax {
      note("data", "must have at most \(NotificationLimits.dataBytesMax) bytes, chatId included")
    }
    return members
  }
}
