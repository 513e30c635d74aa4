import LosslessJSON

/// Files in `/openapi.json`.
enum OpenAPIFilePaths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/files",
      ["get": operation("listBuckets", "200", "The buckets. Requires the admin token.")]),
    JSONMember(
      "/v1/files/{bucket}",
      [
        "parameters": [bucket],
        "get": operation(
          "listFiles", "200", "A page of objects, with the members of S3's ListObjectsV2.",
          parameters: [
            query("prefix"), query("delimiter"), query("start-after"),
            query("continuation-token"), query("max-keys", type: "integer"), query("uploads"),
          ]),
        "put": operation("createBucket", "201", "The bucket exists."),
        "delete": operation(
          "deleteBucket", "204", "The bucket is deleted; 409 if it was not empty."),
      ]),
    JSONMember(
      "/v1/files/{bucket}/{key}",
      [
        "parameters": [bucket, key],
        "get": operation(
          "readFile", "200", "The object, or the list of an upload's parts.",
          parameters: [
            query("uploadId"), query("part-number-marker", type: "integer"),
            query("max-parts", type: "integer"), query("expires"), query("signature"),
          ],
          others: [
            ("206", "The requested range."), ("304", "Unchanged since the given tag or time."),
          ], content: anyContent),
        "put": operation(
          "writeFile", "201", "The object is new; 200 if it replaced one, and for a part.",
          parameters: [
            query("uploadId"), query("partNumber", type: "integer"), query("expires"),
            query("signature"),
          ],
          others: [("200", "The object replaced one, or the part is stored.")], body: anyContent),
        "delete": operation(
          "deleteFile", "204", "The object, or the upload, does not exist any more.",
          parameters: [query("uploadId"), query("expires"), query("signature")]),
        "post": operation(
          "completeUpload", "201", "The object assembled from the upload's parts.",
          parameters: [query("uploadId", isRequired: true)],
          others: [("200", "The object assembled from the upload's parts replaced one.")],
          body: json(["parts": ["type": "array"]])),
      ]),
    JSONMember(
      "/v1/files/{bucket}/{key}/uploads",
      [
        "parameters": [bucket, key],
        "post": operation("beginUpload", "201", "The id of a multipart upload."),
      ]),
    JSONMember(
      "/v1/files/{bucket}/{key}/presign",
      [
        "parameters": [bucket, key],
        "post": operation(
          "presignFile", "200", "A link that works without credentials until it expires.",
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
  private static let key = inPath("key", "Up to 1,024 bytes; slashes are not encoded.")
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
