import LosslessJSON

/// Files in `/openapi.json`.
enum OpenAPIFilePaths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/files", ["get": operation("listBuckets", "200", "The buckets, for the operator.")]),
    JSONMember(
      "/v1/files/{bucket}",
      [
        "parameters": [bucket],
        "get": operation(
          "listFiles", "200", "A page of keys, with the members of S3's ListObjectsV2.",
          parameters: [
            query("prefix"), query("delimiter"), query("start-after"),
            query("continuation-token"), query("max-keys", type: "integer"), query("uploads"),
          ]),
        "put": operation("createBucket", "201", "The bucket is there."),
        "delete": operation("deleteBucket", "204", "The bucket is gone; 409 unless it was empty."),
      ]),
    JSONMember(
      "/v1/files/{bucket}/{key}",
      [
        "parameters": [bucket, key],
        "get": operation(
          "readFile", "200", "The object, or a list of an upload's parts.",
          parameters: [
            query("uploadId"), query("part-number-marker", type: "integer"),
            query("max-parts", type: "integer"), query("expires"), query("signature"),
          ],
          others: [
            ("206", "The range asked for."), ("304", "Not changed since the tag or time given."),
          ], content: anyContent),
        "put": operation(
          "writeFile", "201", "The object is new; 200 where it replaced one, and for a part.",
          parameters: [
            query("uploadId"), query("partNumber", type: "integer"), query("expires"),
            query("signature"),
          ],
          others: [("200", "The object replaced one, or the part is stored.")], body: anyContent),
        "delete": operation(
          "deleteFile", "204", "There is no such object, or upload, any more.",
          parameters: [query("uploadId"), query("expires"), query("signature")]),
        "post": operation(
          "completeUpload", "201", "The object made of the upload's parts.",
          parameters: [query("uploadId", isRequired: true)],
          others: [("200", "The object made of the upload's parts replaced one.")],
          body: json(["parts": ["type": "array"]])),
      ]),
    JSONMember(
      "/v1/files/{bucket}/{key}/uploads",
      [
        "parameters": [bucket, key],
        "post": operation("beginUpload", "201", "The id of an upload in parts."),
      ]),
    JSONMember(
      "/v1/files/{bucket}/{key}/presign",
      [
        "parameters": [bucket, key],
        "post": operation(
          "presignFile", "200", "A link that anybody may use until it expires.",
          body: json([
            "method": ["type": "string", "enum": ["GET", "PUT", "DELETE"]],
            "expiresIn": ["type": "integer", "minimum": 1, "maximum": 604_800],
          ])),
      ]),
    JSONMember(
      "/v1/files/{bucket}/{key}/copy",
      [
        "parameters": [bucket, key],
        "post": operation(
          "copyFile", "201", "The copy.", others: [("200", "The copy replaced an object.")],
          body: json(["to": ["type": ["string", "object"]]])),
      ]),
  ]

  private static let bucket = inPath("bucket", "3 to 63 lower-case letters, digits, - and .")
  private static let key = inPath("key", "Any text of up to 1,024 bytes; its slashes stay slashes.")
  private static let anyContent: JSONValue = ["application/octet-stream": JSONValue.object([])]

  private static func inPath(_ name: String, _ text: String) -> JSONValue {
    [
      "name": .string(name), "in": "path", "required": true, "description": .string(text),
      "schema": ["type": "string"],
    ]
  }

  private static func query(
    _ name: String, type: String = "string", isRequired: Bool = false
  ) -> JSONValue {
    [
      "name": .string(name), "in": "query", "required": .bool(isRequired),
      "schema": ["type": .string(type)],
    ]
  }

  private static func json(_ properties: JSONValue) -> JSONValue {
    ["application/json": ["schema": ["type": "object", "properties": properties]]]
  }

  private static func operation(
    _ id: String, _ status: String, _ text: String, parameters: [JSONValue] = [],
    others: [(String, String)] = [], content: JSONValue? = nil, body: JSONValue? = nil
  ) -> JSONValue {
    var success: JSONValue = ["description": .string(text)]
    if let content { success["content"] = content }
    var responses = [JSONMember(status, success)]
    for (status, text) in others {
      responses.append(JSONMember(status, ["description": .string(text)]))
    }
    responses.append(JSONMember("default", ["$ref": "#/components/responses/Problem"]))
    var operation: JSONValue = [
      "operationId": .string(id), "parameters": .array(parameters),
      "responses": .object(responses),
    ]
    if let body { operation["requestBody"] = ["content": body] }
    return operation
  }
}
