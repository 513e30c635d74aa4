import Gateway
import HTTPServer
import HTTPTypes
import LosslessJSON
import Model

/// `/v1/admin/tables`: the tables of stored types, and removal of those that no operation names.
struct TablesEndpoint: Sendable {
  let context: EndpointContext
  let tables: TableMaintenance

  func list(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      let body: JSONValue = ["tables": .array(try await tables.tables().map(Self.value))]
      return .json(body.bytes)
    }
  }

  func cleanUp(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      _ = try ObjectBody.object(try await context.json(of: request))
      let cleanup = try await tables.cleanUp()
      let body: JSONValue = [
        "types": .array(cleanup.types.map(JSONValue.string)),
        "columns": .array(
          cleanup.columns.map { ["type": .string($0.type), "field": .string($0.field)] }),
      ]
      return .json(body.bytes)
    }
  }

  func drop(_ request: ServerRequest) async -> ServerResponse {
    await context.respond(to: request) { () async throws(Failure) in
      try await tables.drop(request.parameters["type"] ?? "")
      return ServerResponse(status: .noContent, fields: [.cacheControl: "no-store"])
    }
  }

  private static func value(_ table: TableDescription) -> JSONValue {
    let columns = table.columns.map { column -> JSONValue in
      [
        "field": .string(column.field), "name": .string(column.name),
        "kind": .string(column.kind), "indexed": .bool(column.isIndexed),
        "named": .bool(column.isNamed),
      ]
    }
    return [
      "type": .string(table.type), "name": .string(table.name),
      "entities": .number(JSONNumber(table.entities)),
      "tombstones": .number(JSONNumber(table.tombstones)),
      "named": .bool(table.isNamed), "columns": .array(columns),
    ]
  }
}
