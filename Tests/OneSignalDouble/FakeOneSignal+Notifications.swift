import HTTPClient
import HTTPTypes
import LosslessJSON
import Model
import Synchronization

extension FakeOneSignal {
  private static let userIDsMax = 2_000
  private static let dataBytesMax = 2_048
  private static let listMax = 50

  /// The members that either API accepts.
  private var knownMembers: Set<String> {
    let common: Set<String> = [
      "app_id", "contents", "headings", "subtitle", "data", "url", "name", "ttl", "priority",
      "collapse_id", "include_subscription_ids", "included_segments", "filters",
    ]
    switch form {
    case .current: return common.union(["include_aliases", "target_channel", "idempotency_key"])
    case .legacy:
      return common.union([
        "include_external_user_ids", "channel_for_external_user_ids", "include_player_ids",
        "external_id",
      ])
    }
  }

  func create(_ body: JSONValue) -> HTTPClientResponse {
    let unknown = Self.unknown(in: body, but: knownMembers)
    guard unknown.isEmpty else {
      return Self.refusal(400, "Unknown fields: \(unknown.joined(separator: ", "))")
    }
    guard body["app_id"]?.string == Self.appID else {
      return Self.refusal(400, "app_id not found. You may be missing a Content-Type header.")
    }
    if let fault = contentFault(body) { return Self.refusal(400, fault) }
    let userIDs: [String]
    switch receivers(body) {
    case .success(let ids): userIDs = ids
    case .failure(let fault): return Self.refusal(400, fault.text)
    }
    let key = body[form == .current ? "idempotency_key" : "external_id"]
    if let key, !Self.isUUID(key.string ?? "") {
      return Self.refusal(400, "the idempotency key must be a UUID")
    }
    return state.withLock { state in
      if let key = key?.string, let answer = state.answers[key] {
        var fields = HTTPFields()
        if let name = HTTPField.Name("Idempotent-Replayed") { fields[name] = "true" }
        return Self.answer(answer, fields: fields)
      }
      let answer = deliver(body, to: userIDs, &state)
      if let key = key?.string { state.answers[key] = answer }
      return Self.answer(answer)
    }
  }

  /// - Parameter query: `app_id=…&limit=…&offset=…`, in this order.
  func list(_ query: String) -> HTTPClientResponse {
    let pairs = query.split(separator: "&").map { $0.split(separator: "=").map(String.init) }
    guard pairs.map(\.first) == ["app_id", "limit", "offset"], pairs.allSatisfy({ $0.count == 2 }),
      let limit = Int(pairs[1][1]), let offset = Int(pairs[2][1]), offset >= 0
    else { return Self.refusal(400, "Unknown query: \(query)") }
    guard pairs[0][1] == Self.appID else { return Self.refusal(400, "app_id not found") }
    guard (1...Self.listMax).contains(limit) else { return Self.refusal(400, "limit is too high") }
    let all = notifications.sorted { $0.key > $1.key }.dropFirst(offset).prefix(limit)
    return Self.answer([
      "total_count": .number(.init(Int64(notifications.count))),
      "offset": .number(.init(Int64(offset))), "limit": .number(.init(Int64(limit))),
      "notifications": .array(
        all.map { ["id": .string($0.key), "contents": $0.value["contents"] ?? .null] }),
    ])
  }

  private struct Fault: Error {
    let text: String
  }

  private func contentFault(_ body: JSONValue) -> String? {
    for name in ["contents", "headings"] {
      guard let value = body[name] else {
        if name == "headings" { continue }
        return "Message Notifications must have English language content"
      }
      guard let texts = value.members, texts.allSatisfy({ $0.value.string?.isEmpty == false })
      else { return "\(name) must be a map of texts" }
      if value["en"] == nil { return "Message Notifications must have English language content" }
    }
    guard let data = body["data"] else { return nil }
    if data.members == nil { return "Data must be a JSON object" }
    return data.bytes.count > Self.dataBytesMax ? "Data must be no more than 2048 bytes long" : nil
  }

  private func receivers(_ body: JSONValue) -> Result<[String], Fault> {
    let methods = [
      "include_aliases", "include_external_user_ids", "include_subscription_ids",
      "include_player_ids", "included_segments", "filters",
    ].filter { body[$0] != nil }
    guard let method = methods.first else {
      return .failure(
        Fault(
          text: "You must include which players, segments, or tags you wish to send this "
            + "notification to."))
    }
    guard methods.count == 1 else {
      return .failure(Fault(text: "Only one targeting method: \(methods)"))
    }
    var ids: [JSONValue]?
    switch method {
    case "include_aliases":
      guard body["target_channel"]?.string == "push" else {
        return .failure(Fault(text: "target_channel must be one of: push, email, sms"))
      }
      ids = body[method]?["external_id"]?.array
    case "include_external_user_ids":
      guard body["channel_for_external_user_ids"]?.string == "push" else {
        return .failure(Fault(text: "channel_for_external_user_ids must be one of: push, email"))
      }
      ids = body[method]?.array
    default: return .failure(Fault(text: "this double sends to users alone"))
    }
    let texts = ids?.compactMap(\.string) ?? []
    guard !texts.isEmpty, texts.count == ids?.count, !texts.contains("") else {
      return .failure(Fault(text: "\(method) must hold texts"))
    }
    guard texts.count <= Self.userIDsMax else {
      return .failure(Fault(text: "\(method) must not hold more than \(Self.userIDsMax)"))
    }
    return .success(texts)
  }

  private func deliver(
    _ body: JSONValue, to userIDs: [String], _ state: inout State
  ) -> JSONValue {
    let reached = Set(state.subscriptions.filter(\.isEnabled).map(\.user)).union(state.users)
    let invalid = userIDs.filter { !reached.contains($0) }
    guard invalid.count < userIDs.count else {
      return ["id": "", "errors": ["All included players are not subscribed"]]
    }
    let id = fresh(&state)
    state.notifications[id] = body
    let payload: JSONValue = [
      "aps": ["alert": ["body": body["contents"]?["en"] ?? .null]],
      "custom": ["i": .string(id), "a": body["data"] ?? [:]],
    ]
    let asked = Set(userIDs)
    for subscription in state.subscriptions
    where subscription.isEnabled && asked.contains(subscription.user) {
      state.deliveries.append(
        Delivery(token: subscription.token, user: subscription.user, payload: payload))
    }
    var answer: JSONValue = ["id": .string(id), "external_id": .null]
    if !invalid.isEmpty {
      let ids = JSONValue.array(invalid.map { .string($0) })
      answer["errors"] =
        form == .current
        ? ["invalid_aliases": ["external_id": ids]] : ["invalid_external_user_ids": ids]
    }
    return answer
  }
}
