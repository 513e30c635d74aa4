import Foundation
import Larder

/// One method call of the library for each verb.
actor Commands {
  private let larder: Larder
  private let clock: ShiftedClock
  private var subjects: [String: Subject] = [:]

  init(larder: Larder, clock: ShiftedClock) {
    self.larder = larder
    self.clock = clock
  }

  func carryOut(_ command: JSONValue) async throws -> JSONValue {
    let verb = command["do"]?.string ?? ""
    switch verb {
    case "register": return ["device": .string(try await larder.register())]
    case "signUp":
      let (email, password) = (text(command, "email"), text(command, "password"))
      return ["userId": .string(try await larder.signUp(email: email, password: password))]
    case "signIn":
      let (email, password) = (text(command, "email"), text(command, "password"))
      return ["userId": .string(try await larder.signIn(email: email, password: password))]
    case "clock":
      clock.shift(by: command["shiftSeconds"]?.double ?? 0)
      return [:]
    case "storage":
      larder.setStoreFull(command["full"]?.bool ?? false)
      return [:]
    default:
      guard await larder.profile != nil else { throw LarderError.signedOut }
      if let reply = try await data(verb, command) { return reply }
      if let reply = try await outbox(verb, command) { return reply }
      if let reply = try await streams(verb, command) { return reply }
      throw CommandError.unsupported(verb)
    }
  }

  private func text(_ command: JSONValue, _ name: String) -> String {
    command[name]?.string ?? ""
  }

  private func texts(_ value: JSONValue?) -> [String] {
    (value?.array ?? []).compactMap(\.string)
  }

  // MARK: Data

  private func data(_ verb: String, _ command: JSONValue) async throws -> JSONValue? {
    switch verb {
    case "signOut": return ["sent": .bool(try await larder.signOut())]
    case "follow":
      try await larder.follow(
        text(command, "name"), types: texts(command["types"]), filter: command["filter"]?.string,
        arguments: command["args"]?.array ?? [])
      return [:]
    case "unfollow":
      try await larder.unfollow(text(command, "name"))
      return [:]
    case "sync":
      let result = try await larder.sync()
      return ["applied": .number(JSONNumber(result.applied)), "reset": .bool(result.wasReset)]
    case "get":
      let (type, key) = (text(command, "type"), text(command, "key"))
      return ["data": try await larder.read { db in try db.entity(type, key: key) } ?? .null]
    case "list":
      let query = try query(command)
      return ["items": .array(try await larder.read { db in try db.entities(query) })]
    case "state":
      return .object(try await larder.read { db in try db.all().mapValues { .object($0) } })
    case "newId": return ["id": .string(larder.newID())]
    case "read":
      let response = try await larder.query(
        text(command, "operation"), variables: command["variables"] ?? [:])
      return ["data": response.data, "from": .string(response.source.rawValue)]
    default: return nil
    }
  }

  private func query(_ command: JSONValue) throws -> EntityQuery {
    var query = EntityQuery(type: text(command, "type"), limit: command["limit"]?.int)
    for entry in command["where"]?.array ?? [] {
      guard let parts = entry.array, parts.count == 3, let field = parts[0].string,
        let operation = parts[1].string
      else { throw CommandError.unsupported("where") }
      switch operation {
      case "contains": query.conditions.append(.contains(field, parts[2]))
      case "in": query.conditions.append(.isIn(field, parts[2].array ?? []))
      default:
        guard let comparison = Condition.Comparison(rawValue: operation) else {
          throw CommandError.unsupported(operation)
        }
        query.conditions.append(.compare(field, comparison, parts[2]))
      }
    }
    query.order = texts(command["order"]).map { term in
      term.hasPrefix("-") ? .init(String(term.dropFirst()), isDescending: true) : .init(term)
    }
    return query
  }

  // MARK: The outbox and files

  private func outbox(_ verb: String, _ command: JSONValue) async throws -> JSONValue? {
    let mode = SyncMode(rawValue: text(command, "mode")) ?? .lazy
    let optimistic = try command["optimistic"]?.array?.map(OptimisticChange.init(json:))
    let refs = command["refs"].map { texts($0) }
    switch verb {
    case "submit":
      let key = try await larder.submit(
        text(command, "operation"), variables: command["variables"] ?? [:], mode: mode,
        object: command["object"]?.string, refs: refs, optimistic: optimistic)
      return ["key": .string(key)]
    case "write":
      let key = try await larder.write(command["operations"]?.array ?? [], mode: mode)
      return ["key": .string(key)]
    case "force":
      let reply = try await larder.force(
        text(command, "operation"), variables: command["variables"] ?? [:],
        object: command["object"]?.string, refs: refs, optimistic: optimistic)
      return ["key": .string(reply.key), "response": reply.response]
    case "send":
      let result = try await larder.send()
      return [
        "sent": .number(JSONNumber(result.sent)), "left": .number(JSONNumber(result.left)),
      ]
    case "outbox":
      return [
        "items": .array(
          try await larder.outbox().map {
            [
              "key": .string($0.key), "operation": .string($0.operation),
              "state": .string($0.state.rawValue),
            ]
          })
      ]
    case "outcomes": return ["outcomes": .array(try await larder.outcomes().map(json))]
    case "retry":
      try await larder.retry(text(command, "key"))
      return [:]
    case "discard":
      try await larder.discard(text(command, "key"))
      return [:]
    case "upload":
      return json(
        try await larder.upload(
          URL(fileURLWithPath: text(command, "path")), bucket: text(command, "bucket"),
          key: text(command, "key"), partBytes: command["partBytes"]?.int ?? 5 << 20))
    case "resume": return json(try await larder.resumeUploads())
    default: return nil
    }
  }

  private func json(_ outcome: Outcome) -> JSONValue {
    var members: [String: JSONValue] = [
      "key": .string(outcome.key), "state": .string(outcome.state),
    ]
    members["reason"] = outcome.reason.map { .string($0) }
    members["problem"] = outcome.problem
    members["response"] = outcome.response
    return .object(members)
  }

  private func json(_ result: UploadResult) -> JSONValue {
    ["done": .bool(result.isDone), "sent": .number(JSONNumber(result.sent))]
  }

  // MARK: Live

  private func streams(_ verb: String, _ command: JSONValue) async throws -> JSONValue? {
    let name = text(command, "name")
    switch verb {
    case "live":
      let subject: LiveSubject
      if let operation = command["operation"]?.string {
        subject = .operation(operation, variables: command["variables"] ?? [:])
      } else if let path = command["collection"]?.string {
        subject = .collection(path)
      } else {
        subject = .changes(types: texts(command["changes"]?["types"]))
      }
      await subjects[name]?.close()
      let opened = Subject()
      await opened.follow(larder.live(subject))
      subjects[name] = opened
      return [:]
    case "events":
      return try await subject(name).take(
        command["atLeast"]?.int ?? 0, within: .seconds(command["within"]?.double ?? 0))
    case "rows": return ["items": .array(await (try subject(name)).rows.items)]
    case "unlive":
      await (try subject(name)).close()
      subjects[name] = nil
      return [:]
    default: return nil
    }
  }

  private func subject(_ name: String) throws -> Subject {
    guard let subject = subjects[name] else { throw CommandError.unknownSubject(name) }
    return subject
  }
}
