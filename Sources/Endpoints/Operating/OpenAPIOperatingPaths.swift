import LosslessJSON

/// The paths of every Larder, whatever its operations.
enum OpenAPIOperatingPaths {
  static let members: [JSONMember] = [
    path("/v1/operations", "get", "listOperations", "The operations served here."),
    path("/healthz", "get", "health", "The process is alive."),
    path("/readyz", "get", "readiness", "The service takes requests.", failure: "503"),
    path("/metrics", "get", "metrics", "Counters in Prometheus' text format."),
    path("/openapi.json", "get", "openapi", "This document."),
    path(
      "/v1/admin/purge", "post", "purge", "Deletes stored data by operation, type, id or tag.",
      failure: "401"),
    path(
      "/v1/admin/explain", "post", "explain", "Why a result would be served or fetched.",
      failure: "401"),
  ]

  private static func path(
    _ path: String, _ method: String, _ id: String, _ text: String, failure: String? = nil
  ) -> JSONMember {
    var responses = [JSONMember("200", ["description": .string(text)])]
    if let failure {
      responses.append(JSONMember(failure, ["$ref": "#/components/responses/Problem"]))
    }
    return JSONMember(
      path,
      .object([JSONMember(method, ["operationId": .string(id), "responses": .object(responses)])])
    )
  }
}
