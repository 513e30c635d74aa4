import LosslessJSON

/// The S3 dialect in `/openapi.json`. Its requests and documents are S3's and described only by the
/// names of the operations; the routes of its access keys are JSON.
enum OpenAPIS3Paths {
  static let members: [JSONMember] = [
    JSONMember(
      "/v1/admin/s3/keys",
      [
        "get": operation(
          "listS3Keys", "200", "The access keys, including revoked ones, without secrets."),
        "post": operation(
          "issueS3Key", "201", "A new access key, with its secret, which is returned only here.",
          body: [
            "application/json": [
              "schema": [
                "type": "object",
                "properties": [
                  "userId": ["type": "string"],
                  "buckets": ["type": "array", "items": ["type": "string"]],
                  "readOnly": ["type": "boolean"],
                ],
              ]
            ]
          ]),
      ]),
    JSONMember(
      "/v1/admin/s3/keys/{id}",
      [
        "parameters": [inPath("id")],
        "delete": operation("revokeS3Key", "204", "The key is revoked."),
      ]),
    JSONMember("/s3", ["get": dialect("s3ListBucketsAtRoot", "ListBuckets.")]),
    JSONMember("/s3/", ["get": dialect("s3ListBuckets", "ListBuckets.")]),
    JSONMember(
      "/s3/{bucket}",
      [
        "parameters": [inPath("bucket")],
        "get": dialect(
          "s3ReadBucket",
          "ListObjectsV2, ListObjects, ListObjectVersions, ListMultipartUploads, and the bucket's "
            + "configuration."),
        "put": dialect(
          "s3CreateBucket",
          "CreateBucket, PutBucketAcl, PutBucketEncryption, PutBucketTagging."),
        "post": dialect(
          "s3DeleteObjects",
          "DeleteObjects, and POST Object: an upload by a form with a signed policy.",
          others: [
            ("201", "Uploaded, if the form requests this status."),
            ("204", "Uploaded."), ("303", "Uploaded; a redirect to the address in the form."),
          ]),
        "delete": dialect(
          "s3DeleteBucket", "DeleteBucket, DeleteBucketEncryption, DeleteBucketTagging.",
          status: "204"),
      ]),
    JSONMember(
      "/s3/{bucket}/{key}",
      [
        "parameters": [inPath("bucket"), inPath("key")],
        "get": dialect(
          "s3GetObject",
          "GetObject, GetObjectAttributes, GetObjectAcl, GetObjectTagging, ListParts.",
          others: [("206", "The requested range."), ("304", "Unchanged.")]),
        "put": dialect(
          "s3PutObject",
          "PutObject, CopyObject, UploadPart, UploadPartCopy, PutObjectAcl, "
            + "PutObjectTagging."),
        "post": dialect("s3PostObject", "CreateMultipartUpload, CompleteMultipartUpload."),
        "delete": dialect(
          "s3DeleteObject", "DeleteObject, DeleteObjectTagging, AbortMultipartUpload.",
          status: "204"),
      ]),
  ]

  private static func inPath(_ name: String) -> JSONValue {
    [
      "name": .string(name), "in": "path", "required": true, "schema": ["type": "string"],
    ]
  }

  private static func operation(
    _ id: String, _ status: String, _ text: String, body: JSONValue? = nil
  ) -> JSONValue {
    var operation: JSONValue = [
      "operationId": .string(id),
      "responses": .object([
        JSONMember(status, ["description": .string(text)]),
        JSONMember("default", ["$ref": "#/components/responses/Problem"]),
      ]),
    ]
    if let body { operation["requestBody"] = ["content": body] }
    return operation
  }

  private static func dialect(
    _ id: String, _ text: String, status: String = "200", others: [(String, String)] = []
  ) -> JSONValue {
    var responses = [JSONMember(status, ["description": .string(text)])]
    for (status, text) in others {
      responses.append(JSONMember(status, ["description": .string(text)]))
    }
    responses.append(
      JSONMember(
        "default",
        [
          "description": "An S3 error document.",
          "content": ["application/xml": JSONValue.object([])],
        ]))
    return ["operationId": .string(id), "responses": .object(responses)]
  }
}
