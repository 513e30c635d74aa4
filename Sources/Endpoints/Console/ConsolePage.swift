import HTTPServer
import LosslessJSON
import Model

/// A page of a list for operators: `{"items", "next"?}`.
enum ConsolePage {
  /// - Parameters:
  ///   - items: one more than `limit` if there are more.
  ///   - id: the id of an item, after which the next page begins.
  static func response<Item>(
    _ items: [Item], limit: Int, id: (Item) -> String, value: (Item) -> JSONValue
  ) -> ServerResponse {
    let shown = items.prefix(limit)
    var members = [JSONMember("items", .array(shown.map(value)))]
    if items.count > limit, let last = shown.last {
      members.append(JSONMember("next", .string(id(last))))
    }
    return .json(JSONValue.object(members).bytes)
  }

  static func time(_ time: Timestamp) -> JSONValue { .number(JSONNumber(time.milliseconds)) }
}
