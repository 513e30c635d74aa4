import LosslessJSON

/// The operating and admin paths, which do not depend on the operations.
enum OpenAPIOperatingPaths {
  static let members: [JSONMember] = [
    path("/v1/operations", "get", "listOperations", "The available operations.", failure: "401"),
    path("/healthz", "get", "health", "The process is alive."),
    path("/readyz", "get", "readiness", "The service is ready for requests.", failure: "503"),
    path("/metrics", "get", "metrics", "Metrics in the Prometheus text format."),
    path("/openapi.json", "get", "openapi", "This document.", failure: "401"),
    path(
      "/v1/admin/purge", "post", "purge", "Deletes stored data by operation, type, id or tag.",
      failure: "401"),
    path(
      "/v1/admin/explain", "post", "explain",
      "Explains why a result would be served from the store or fetched.",
      failure: "401"),
    path(
      "/v1/admin/sql", "post", "sql", "Columns and rows of one read-only statement.",
      failure: "401"),
    JSONMember(
      "/v1/admin/log-level",
      [
        "get": operation("showLogLevel", "The current log level."),
        "put": operation("setLogLevel", "The new log level, in effect until the service ends."),
      ]),
    path(
      "/v1/admin/signing-keys/replace", "post", "replaceSigningKeys",
      "Replaces all keys that sign access tokens by a new one. Existing access tokens become "
        + "invalid at once; refresh tokens stay valid.", failure: "401"),
    path("/v1/admin/tables", "get", "tables", "The table of each stored type.", failure: "401"),
    path(
      "/v1/admin/tables/clean-up", "post", "cleanUpTables",
      "The types and columns removed because no operation names them.", failure: "401"),
    JSONMember(
      "/v1/admin/tables/{type}",
      [
        "parameters": [
          ["name": "type", "in": "path", "required": true, "schema": ["type": "string"]]
        ],
        "delete": operation(
          "dropTable", "The table is deleted; 409 if operations name the type.", success: "204"),
      ]),
    path(
      "/v1/admin/backup", "post", "backUp",
      "A copy of the database was written to the data folder's backups.",
      success: "201", failure: "401"),
  ]

  private static func path(
    _ path: String, _ method: String, _ id: String, _ text: String,
    success: String = "200", failure: String? = nil
  ) -> JSONMember {
    JSONMember(
      path,
      .object([JSONMember(method, operation(id, text, success: success, failure: failure))]))
  }

  private static func operation(
    _ id: String, _ text: String, success: String = "200", failure: String? = "401"
  ) -> JSONValue {
    var responses = [JSONMember(success, ["description": .string(text)])]
    if let failure {
      responses.append(JSONMember(failure, ["$ref": "#/components/responses/Problem"]))
    }
    return ["operationId": .string(id), "responses": .object(responses)]
  }
}
