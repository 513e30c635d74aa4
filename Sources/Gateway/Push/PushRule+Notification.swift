import LosslessJSON
import Model
import Storage

extension PushRule {
  /// The notification that a rule produces for an entity.
  struct Notification: Hashable {
    let message: PushMessage
    /// Without duplicates.
    let userIDs: [String]

    /// The canonical text of message and receivers.
    var content: String {
      let whole: JSONValue = [
        "message": message.json, "to": .array(userIDs.map { .string($0) }),
      ]
      return whole.canonicalText
    }
  }

  /// - Parameter fields: as stored.
  /// - Returns: nil without receivers or text.
  func notification(for entity: EntityKey, _ fields: [UInt8]) -> Notification? {
    guard let document = try? JSONDocument(checked: fields) else { return nil }
    let value: (String) -> String? = { document.root[$0].flatMap(Self.text) }
    var userIDs: [String] = []
    if let node = document.root[recipients] { Self.collect(node, into: &userIDs) }
    var seen: Set<ExactText> = []
    userIDs = userIDs.filter { seen.insert(ExactText($0)).inserted }
    let text = text.text(bytesMax: NotificationLimits.textBytesMax, value)
    guard !userIDs.isEmpty, text.contains(where: { !$0.isWhitespace }) else { return nil }
    return Notification(
      message: PushMessage(
        text: text,
        heading: heading?.text(bytesMax: NotificationLimits.headingBytesMax, value),
        chatID: chat.flatMap(value),
        data: [
          JSONMember("type", .string(entity.type)), JSONMember("id", .string(entity.key)),
        ]), userIDs: userIDs)
  }

  /// Ids are strings, integers or the keys of entities.
  private static func collect(_ node: JSONNode, into userIDs: inout [String]) {
    guard userIDs.count < NotificationLimits.userIDsMax else { return }
    switch node.kind {
    case .array: for element in node.elements { collect(element, into: &userIDs) }
    case .object:
      if let key = EntityKey(reference: node) { userIDs.append(key.key) }
    default:
      if let id = text(node), NotificationLimits.isUserID(id) { userIDs.append(id) }
    }
  }

  private static func text(_ node: JSONNode) -> String? {
    switch node.kind {
    case .string: node.string
    case .number, .true, .false: node.rawText
    case .object: EntityKey(reference: node)?.key
    case .null, .array: nil
    }
  }
}
