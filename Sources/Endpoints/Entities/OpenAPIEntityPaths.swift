import LosslessJSON

/// Reads below `/v1/entities` and the search in `/openapi.json`.
enum OpenAPIEntityPaths {
  static let members: [JSONMember] = [
    path("/v1/entities", "listEntityTypes", "The entity types with their counts and columns.", []),
    path(
      "/v1/entities/{type}", "listEntities", "A page of a type's entities.",
      [inPath("type")] + collection),
    path(
      "/v1/entities/{type}/{id}", "readEntity", "One entity.",
      [inPath("type"), inPath("id"), view]),
    path(
      "/v1/entities/{type}/{id}/{relationship}", "readRelationship",
      "The entity that a relationship references, or a page of those it references.",
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
        of: "a page of the entities that a relationship references")),
    path(
      "/v1/search", "search", "Full-text search over the fields configured in the settings.", search
    ),
  ]

  private static let search: [JSONValue] = [
    query("q", "string", "Words, prefixes such as `ship*`, and quoted phrases; all must match."),
    query("types", "string", "Names of types, separated by commas; default all."),
    query("limit", "integer", "Default 20, at most 100."),
    query("after", "string", "The `next` of the previous page."),
  ]

  private static let view = query("view", "string", "Name of a fragment that selects the fields.")

  /// The arguments of a filter.
  static let arguments: [JSONValue] = [
    [
      "name": "arg", "in": "query", "description": "The value of each `?` in the filter, in order.",
      "schema": ["type": "array", "items": ["type": "string"]],
    ],
    [
      "name": "arguments", "in": "query",
      "description": "`arg.name`: the value of the placeholder `:name`.",
      "style": "form", "explode": true,
      "schema": ["type": "object", "additionalProperties": ["type": "string"]],
    ],
  ]

  private static let collection: [JSONValue] =
    [query("filter", "string", "For example `age >= :min AND name LIKE ?`.")] + arguments + [
      query("order", "string", "For example `-year,title`; the key breaks ties."),
      query("limit", "integer", "Default 50, at most 1000."),
      query("offset", "integer", "Number of entities to skip."),
      query("after", "string", "The `next` of the previous page."),
      view,
      query(
        "section", "string", "The first column of `order`; adds sections with offsets and counts."),
      query("total", "boolean", "Whether to return the count of the whole list."),
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
          "304": ["description": "Unchanged; the entity tag matches."],
          "default": ["$ref": "#/components/responses/Problem"],
        ],
      ])
    return JSONMember(path, .object([read] + OpenAPIEntityWritePaths.methods(of: path)))
  }
}
