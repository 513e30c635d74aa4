import FoundationEssentials
import HTTPWire
import LosslessJSON
import Model

/// The `users` commands: accounts of the running service.
package struct UsersCommand {
  private let client: AdminClient

  package init(_ client: AdminClient) { self.client = client }

  /// - Parameter email: a part of the address; nil for all accounts.
  package func list(email: String?, isJSON: Bool) async throws(StartFailure) -> String {
    let query = email.map { ["email=\(PercentCoding.encode($0))"] } ?? []
    let users = try await client.items(
      "/v1/admin/users", query: query,
      hint:
        "That service keeps no accounts (`accounts.provider`, `accounts: off`), or is of another "
        + "version; `larder routes` lists its paths.")
    if isJSON { return JSONValue.object([JSONMember("items", .array(users))]).text }
    var table = TextTable("ID", "EMAIL", "CREATED", "SESSIONS", "LAST USED", "DISABLED")
    for user in users {
      table.add(
        CommandJSON.cell(user["id"]), CommandJSON.cell(user["email"]),
        CommandJSON.date(user["createdAt"]), CommandJSON.cell(user["sessions"]),
        CommandJSON.date(user["lastUsedAt"]), user["disabled"]?.bool == true ? "yes" : "-")
    }
    guard users.isEmpty else { return table.text }
    return email.map { "No account has \"\($0.onOneLine)\" in its address." }
      ?? "There are no accounts."
  }

  package func signOut(_ id: String) async throws(StartFailure) -> String {
    let ended = try await client.call(
      "POST", "/v1/admin/users/\(PercentCoding.encode(id))/sign-out")["ended"]?.int64
    return "Ended \(Int(ended ?? 0).counted("session")) of \(id). Access tokens that were issued "
      + "before stay valid until they expire (`accounts.accessLifetime`)."
  }

  package func disable(_ id: String) async throws(StartFailure) -> String {
    _ = try await client.call("POST", "/v1/admin/users/\(PercentCoding.encode(id))/disable")
    return
      "Disabled the account \(id): its tokens and devices are refused. Nothing is deleted; `larder "
      + "users enable \(id)` enables it again."
  }

  package func enable(_ id: String) async throws(StartFailure) -> String {
    _ = try await client.call("POST", "/v1/admin/users/\(PercentCoding.encode(id))/enable")
    return "Enabled the account \(id): its sessions, devices and queued mutations go on."
  }

  package func delete(_ id: String) async throws(StartFailure) -> String {
    _ = try await client.call("DELETE", "/v1/admin/users/\(PercentCoding.encode(id))")
    return
      "Deleted the account \(id) and its sessions. Access tokens that were issued before stay valid "
      + "until they expire (`accounts.accessLifetime`); its devices stay: `larder devices list --user "
      + "\(id)`."
  }
}

/// The `devices` commands: devices registered with the running service.
package struct DevicesCommand {
  private let client: AdminClient

  package init(_ client: AdminClient) { self.client = client }

  /// - Parameter user: the id of a user; nil for the devices of all.
  package func list(user: String?, isJSON: Bool) async throws(StartFailure) -> String {
    let query = user.map { ["user=\(PercentCoding.encode($0))"] } ?? []
    let devices = try await client.items(
      "/v1/admin/devices", query: query,
      hint:
        "That service has no devices (`devices: off`), or is of another version; `larder routes` "
        + "lists its paths.")
    if isJSON { return JSONValue.object([JSONMember("items", .array(devices))]).text }
    var table = TextTable("ID", "PLATFORM", "NAME", "USER", "ACCESS", "REGISTERED", "LAST USED")
    for device in devices {
      table.add(
        CommandJSON.cell(device["id"]), CommandJSON.cell(device["platform"]),
        CommandJSON.cell(device["name"]), CommandJSON.cell(device["userId"]),
        CommandJSON.cell(device["access"]), CommandJSON.date(device["registeredAt"]),
        CommandJSON.date(device["lastUsedAt"]))
    }
    guard devices.isEmpty else { return table.text }
    return user.map {
      "The user \"\($0.onOneLine)\" has no devices. A user is named by the id: `larder users list`."
    } ?? "There are no devices."
  }

  package func revoke(_ id: String) async throws(StartFailure) -> String {
    _ = try await client.call("DELETE", "/v1/admin/devices/\(PercentCoding.encode(id))")
    return "Removed the device \(id) with its tokens, its queue and its own data."
  }
}

/// The `purge` command: deletes stored data of the running service.
package struct PurgeCommand {
  private let client: AdminClient

  package init(_ client: AdminClient) { self.client = client }

  /// The result of a purge.
  package struct Report: Sendable {
    /// The output; nil for none.
    package let text: String?
    /// Set if names are unknown. Everything else was purged.
    package let failure: StartFailure?
  }

  /// - Throws: a usage failure if nothing is named, a type is unknown, or there are ids without exactly one type.
  package func run(
    operations: [String], types: [String], ids: [String], tags: [String], isJSON: Bool
  ) async throws(StartFailure) -> Report {
    guard !(operations + types + ids + tags).isEmpty else {
      throw StartFailure(
        .usage, "Name what to purge: --operation, --type, --type with --id, or --tag.")
    }
    guard ids.isEmpty || types.count == 1 else {
      throw StartFailure(.usage, "--id needs one --type, the type of the entities.")
    }
    let named = [("operation", operations), ("type", types), ("id", ids), ("tag", tags)]
    let body = JSONValue.object(
      named.filter { !$0.1.isEmpty }.map { name, values in
        JSONMember(name, .array(values.map { .string($0) }))
      })
    let report = try await client.call("POST", "/v1/admin/purge", body: body)
    let unknown = (report["unknown"]?.array ?? []).compactMap { $0["detail"]?.string }
    if !unknown.isEmpty {
      let isAll = unknown.count == named.flatMap(\.1).count
      return Report(
        text: isJSON ? report.text : nil,
        failure: StartFailure(
          .usage,
          (unknown.map(CommandJSON.line)
            + [isAll ? "Nothing was purged." : "Everything else that was named is purged."])
            .joined(separator: "\n")))
    }
    if isJSON { return Report(text: report.text, failure: nil) }
    // The service counts only entities that it deleted one by one, so the number would mislead here.
    let names = named.filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.joined(separator: ", "))" }
    return Report(
      text: "Purged: \(names.joined(separator: "; ")). It is fetched again at the next request.",
      failure: nil)
  }
}

/// Values of JSON in tables.
enum CommandJSON {
  /// A value in a table: `-` for none. Control characters, which a client can have put into a name, would
  /// change the terminal.
  static func cell(_ value: JSONValue?) -> String {
    guard let value, value != .null else { return "-" }
    return line(value.string ?? value.text)
  }

  /// A text of the service without control characters.
  static func line(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : $0 }))
  }

  /// Milliseconds since 1970 as a date in UTC, with minutes.
  static func date(_ value: JSONValue?) -> String {
    guard let milliseconds = value?.int64 else { return "-" }
    let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    return String(date.formatted(.iso8601).prefix(16)) + "Z"
  }
}
