import Gateway
import HTTPServer
import HTTPTypes
import Logging
import LosslessJSON
import Model

/// `/v1/admin/sql`, `/v1/admin/log-level` and `/v1/admin/backup`.
struct MaintenanceEndpoint: Sendable {
  let context: EndpointContext
  let console: SQLConsole
  let backups: BackupFolder
  let threshold: LogThreshold

  func sql(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      try await context.requireAdmin(request)
      let question = try AdminSQLDocument.question(try await context.json(of: request))
      let answer = try await console.answer(
        question.sql, question.arguments, rowsMax: question.rowsMax)
      return .json(AdminSQLDocument.bytes(answer))
    }
  }

  func showLogLevel(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      try await context.requireAdmin(request)
      return logLevel()
    }
  }

  /// Counts from the next line on, and until the service ends.
  func setLogLevel(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      try await context.requireAdmin(request)
      let body = try AdminDocument.object(try await context.json(of: request))
      var faults = AdminDocument.unknownMembers(of: body, known: ["level"])
      let level = body["level"]?.string.flatMap { Logger.Level(rawValue: $0) }
      if level == nil {
        let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        faults.append(AdminDocument.fault("/level", "is one of \(names)"))
      }
      guard let level, faults.isEmpty else {
        throw Failure(.malformedRequest, "The level cannot be set.", details: faults)
      }
      threshold.level = level
      context.logger.log(
        level: max(level, .notice), "the log level was set", metadata: ["level": "\(level)"])
      return logLevel()
    }
  }

  func backUp(_ request: ServerRequest) async -> ServerResponse {
    await context.answer(request) { () async throws(Failure) in
      try await context.requireAdmin(request)
      let body = try AdminDocument.object(try await context.json(of: request))
      var faults = AdminDocument.unknownMembers(of: body, known: ["name"])
      if let name = body["name"], name.string == nil {
        faults.append(AdminDocument.fault("/name", "is a text"))
      }
      guard faults.isEmpty else {
        throw Failure(.malformedRequest, "The backup cannot be named so.", details: faults)
      }
      let written = try await backups.write(name: body["name"]?.string)
      let answer: JSONValue = [
        "name": .string(written.name), "file": .string(written.place),
      ]
      return .json(answer.bytes, status: .created)
    }
  }

  private func logLevel() -> ServerResponse {
    let body: JSONValue = ["level": .string(threshold.level.rawValue)]
    return .json(body.bytes)
  }
}
