import LosslessJSON

/// The paths below `/v1/entities`, and the search.
enum OpenAPIEntityPaths {
  static let members: [JSONMember] = [
    path("/v1/entities", "listEntityTypes", "The entity types, with counts and columns.", []),
    path(
      "/v1/entities/{type}", "listEntities", "A page of a type's entities.",
      [inPath("type")] + collection),
    path(
      "/v1/entities/{type}/{id}", "readEntity", "One entity.",
      [inPath("type"), inPath("id"), view]),
    path(
      "/v1/entities/{type}/{id}/{relationship}", "readRelationship",
      "The entity a relationship leads to, or a page of those it leads to.",
      [inPath("type"), inPath("id"), inPath("relationship")] + collection),
    JSONMember(
      "/v1/entities/{type}/diff",
      OpenAPIDiffPaths.diff(
        id: "listEntities", parameters: [inPath("type")] + collection,
        of: "a page of a type's entities")),
    JSONMember(
      "/v1/entities/{type}/{id}/{relationship}/diff",
      OpenAPIDiffPaths.diff(
        id: "readRelationship",
        parameters: [inPath("type"), inPath("id"), inPath("relationship")] + collection,
        of: "a page of what a relationship leads to")),
    path("/v1/search", "search", "Full text over the fields that settings name.", search),
  ]

  private static let search: [JSONValue] = [
    query("q", "string", "Words, beginnings `ship*` and phrases; all must be found."),
    query("types", "string", "Names of types, separated by commas; all unless told."),
    query("limit", "integer", "20 unless told, at most 100."),
    query("after", "string", "The `next` of the answer before."),
  ]

  private static let view = query("view", "string", "Name of a fragment whose fields are shown.")

  /// Of a filter.
  static let arguments: [JSONValue] = [
    [
      "name": "arg", "in": "query", "description": "The value of each `?` of the filter in turn.",
      "schema": ["type": "array", "items": ["type": "string"]],
    ],
    [
      "name": "arguments", "in": "query", "description": "`arg.name`: the value of `:name`.",
      "style": "form", "explode": true,
      "schema": ["type": "object", "additionalProperties": ["type": "string"]],
    ],
  ]

  private static let collection: [JSONValue] =
    [query("filter", "string", "`age >= :min AND name LIKE ?`")] + arguments + [
      query("order", "string", "`-year,title`: the key breaks ties."),
      query("limit", "integer", "50 unless told, at most 1000."),
      query("offset", "integer", "Entities passed over."),
      query("after", "string", "The `next` of the page before."),
      view,
      query("section", "string", "A column the order begins with: names, offsets, counts."),
      query("total", "boolean", "Whether to count the whole list."),
    ]

  private static func query(_ name: String, _ type: String, _ text: String) -> JSONValue {
    [
      "name": .string(name), "in": "query", "description": .string(text),
      "schema": ["type": .string(type)],
    ]
  }

  private static func inPath(_ name: String) -> JSONValue {
    ["name": .string(name), "in": "path", "required": true, "schema": ["type": "string"]]
  }

  private static func path(
    _ path: String, _ id: String, _ text: String, _ parameters: [JSONValue]
  ) -> JSONMember {
    let read = JSONMember(
      "get",
      [
        "operationId": .string(id), "parameters": .array(parameters),
        "responses": [
          "200": [
            "description": .string(text),
            "content": ["application/json": ["schema": ["type": "object"]]],
          ],
          "304": ["description": "Not changed since the entity tag given."],
          "default": ["$ref": "#/components/responses/Problem"],
        ],
      ])
    return JSONMember(path, .object([read] + OpenAPIEntityWritePaths.methods(of: path)))
  }
}
