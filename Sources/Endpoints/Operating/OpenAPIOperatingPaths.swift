import LosslessJSON

/// The paths of every Larder, whatever its operations.
enum OpenAPIOperatingPaths {
  static let members: [JSONMember] = [
    path("/v1/operations", "get", "listOperations", "The operations served here.", failure: "401"),
    path("/healthz", "get", "health", "The process is alive."),
    path("/readyz", "get", "readiness", "The service takes requests.", failure: "503"),
    path("/metrics", "get", "metrics", "Counters in Prometheus' text format."),
    path("/openapi.json", "get", "openapi", "This document.", failure: "401"),
    path(
      "/v1/admin/purge", "post", "purge", "Deletes stored data by operation, type, id or tag.",
      failure: "401"),
    path(
      "/v1/admin/explain", "post", "explain", "Why a result would be served or fetched.",
      failure: "401"),
    path(
      "/v1/admin/sql", "post", "sql", "Columns and rows of one statement that reads.",
      failure: "401"),
    JSONMember(
      "/v1/admin/log-level",
      [
        "get": operation("showLogLevel", "The level below which nothing is logged."),
        "put": operation("setLogLevel", "The level as it is now, until the service ends."),
      ]),
    path(
      "/v1/admin/signing-keys/replace", "post", "replaceSigningKeys",
      "All keys that sign access tokens are replaced by a new one. Every access token is refused from"
        + " now on; refresh tokens are good as before.", failure: "401"),
    path("/v1/admin/tables", "get", "tables", "What is kept of each type.", failure: "401"),
    path(
      "/v1/admin/tables/clean-up", "post", "cleanUpTables",
      "The types and columns that went: no operation names them any more.", failure: "401"),
    JSONMember(
      "/v1/admin/tables/{type}",
      [
        "parameters": [
          ["name": "type", "in": "path", "required": true, "schema": ["type": "string"]]
        ],
        "delete": operation(
          "dropTable", "The table is gone; 409 where operations name the type.", success: "204"),
      ]),
    path(
      "/v1/admin/backup", "post", "backUp", "A copy of the database, in the data folder's backups.",
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
