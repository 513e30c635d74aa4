import LosslessJSON
import Model
import Push
import Storage

extension PushRule {
  /// What the rule has to say of an entity.
  struct Saying: Hashable {
    let message: PushMessage
    /// Nobody twice.
    let userIDs: [String]

    /// One text for all that is said, and to whom.
    var content: String {
      let whole: JSONValue = [
        "message": message.json, "to": .array(userIDs.map { .string($0) }),
      ]
      return whole.canonicalText
    }
  }

  /// - Parameter fields: as the store has them.
  /// - Returns: nil where there is nobody to tell, or nothing to say.
  func saying(of entity: EntityKey, _ fields: [UInt8]) -> Saying? {
    guard let document = try? JSONDocument(checked: fields) else { return nil }
    let value: (String) -> String? = { document.root[$0].flatMap(Self.text) }
    var userIDs: [String] = []
    if let node = document.root[recipients] { Self.collect(node, into: &userIDs) }
    var seen: Set<ExactText> = []
    userIDs = userIDs.filter { seen.insert(ExactText($0)).inserted }
    let text = text.text(bytesMax: NotificationLimits.textBytesMax, value)
    guard !userIDs.isEmpty, text.contains(where: { !$0.isWhitespace }) else { return nil }
    return Saying(
      message: PushMessage(
        text: text,
        heading: heading?.text(bytesMax: NotificationLimits.headingBytesMax, value),
        chatID: chat.flatMap(value),
        data: [
          JSONMember("type", .string(entity.type)), JSONMember("id", .string(entity.key)),
        ]), userIDs: userIDs)
  }

  /// Ids are texts, whole numbers or the keys of entities.
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
